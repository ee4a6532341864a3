"""Calls of functions and macros: which arguments each takes, and the node that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from lark import Token, Tree

from sojourn.file_errors import meant
from sojourn.query import names
from sojourn.query.nodes import (
    Actions,
    ArithComp,
    ArithOp,
    Convolution,
    Deviation,
    Distribution,
    FiringRate,
    InInterval,
    Moment,
    Node,
    Num,
    PassageTimeDensity,
    Percentile,
    ProbInInterval,
    ProbInStates,
    Range,
    Share,
    Span,
    StateFunction,
    StatesAtTime,
    SteadyStateProb,
    SteadyStateStates,
)  # fmt: skip


class NodeBuilder(Protocol):
    """What a call asks of the builder that reads it (`build.Builder`)."""

    @property
    def macros(self) -> Mapping[str, Any]: ...

    def error(self, at: Span, value: str, remedy: str) -> Exception: ...
    def span(self, tree: Any) -> Span: ...
    def node(self, tree: Any) -> Node: ...
    def level(self, word: Token) -> Num: ...
    def macro(self, name: str, arguments: tuple[Node, ...], at: Span) -> Node: ...
    def unquoted(self, word: str, at: Span) -> str: ...


class Call:
    """One call: what stands between its brackets, and the builder that reads it."""

    def __init__(self, builder: NodeBuilder, tree: Any, at: Span) -> None:
        self.builder, self.at = builder, at
        word, *self.arguments = tree.children
        self.name = str(word)
        self.word: Token = word
        self.takes = names.FUNCTIONS.get(self.name, "")

    def wrong(self, value: str, span: Span | None = None) -> Exception:
        return self.builder.error(span or self.at, value, f"write {self.takes}")

    def plain(self, count: int | None, *clauses: str) -> list[Node]:
        """The arguments, `count` of them (None: any number); InputError where they have clauses other than those named."""
        if count is not None and len(self.arguments) != count:
            said = (
                "no argument"
                if not self.arguments
                else f"{len(self.arguments)} argument" + "s" * (len(self.arguments) > 1)
            )
            raise self.wrong(f"{self.name} with {said}, it takes {count}")
        found = []
        for argument in self.arguments:
            first, *rest = argument.children
            if first.data == "clause":
                raise self.wrong(f"{self.name} takes a value before {first.children[0]}", self.builder.span(argument))
            self.clauses(rest, clauses)
            found.append(self.builder.node(first))
        return found

    def clauses(self, branches: Sequence[Any], known: Sequence[str]) -> dict[str, Node]:
        """Word → node; `MODE` of a `from` under "mode" is read by `mode`."""
        found: dict[str, Node] = {}
        for branch in branches:
            word, value = str(branch.children[0]), branch.children[-1]
            if word not in known:
                raise self.wrong(f"{self.name} has no {word}", self.builder.span(branch))
            if word in found:
                raise self.wrong(f"{word} twice", self.builder.span(branch))
            if len(branch.children) == 3 and not (word == "from" and self.name == "passage"):
                raise self.wrong(f"{branch.children[1]} is for the start of a passage", self.builder.span(branch))
            found[word] = self.builder.node(value)
        return found

    def only(self) -> tuple[Any, list[Any]]:
        """Its one argument: (branch of the value, None without one; branches of the clauses)."""
        if len(self.arguments) != 1:
            raise self.wrong(f"{self.name} with {len(self.arguments)} arguments, it takes 1")
        first, *rest = self.arguments[0].children
        return (None, [first, *rest]) if first.data == "clause" else (first, rest)


def call(builder: NodeBuilder, tree: Any, at: Span) -> Node:
    """The node of a call. Raises QueryError."""
    it = Call(builder, tree, at)
    if it.word.type == "PERCENTILE":
        it.takes = f"{it.name}(DISTRIBUTION)"
        return Percentile(builder.level(it.word), _random(it.plain(1)[0]), at=at)
    if it.name in MAKERS:
        return MAKERS[it.name](it)
    if it.name in builder.macros:
        it.takes = f"{it.name}({', '.join(builder.macros[it.name].arguments)})"
        return builder.macro(it.name, tuple(it.plain(None)), at)
    known = [*names.FUNCTIONS, *builder.macros, "p99"]
    said = meant(it.name, known)
    if it.name in names.every_name():
        remedy = f"write {it.name}, or {it.name}{{station=cpu}} of a station, {it.name}{{class=user}} of a class"
        raise builder.error(builder.span(it.word), f"{it.name} is no function", remedy)
    remedy = f"{said}; a macro may use only those defined before it"
    raise builder.error(builder.span(it.word), f"no function {it.name[:60]}", remedy)


def is_function(node: Node) -> bool:
    """Whether a node is a function of the state, such as n(cpu) + n(disk)."""
    return isinstance(node, StateFunction) or (
        isinstance(node, ArithOp) and (is_function(node.left) or is_function(node.right))
    )


def _random(node: Node) -> Node:
    """A function of the state stands for its distribution in the steady state."""
    return SteadyStateProb(node, at=node.at) if is_function(node) else node


def _probability(it: Call) -> Node:
    branch, rest = it.only()
    if branch is None:
        raise it.wrong("probability of nothing")
    inner = it.builder.node(branch)
    if isinstance(inner, InInterval):
        it.clauses(rest, ())
        return ProbInInterval(_random(inner.number), inner.range, at=it.at)
    if isinstance(inner, ArithComp) and not (is_function(inner.left) or is_function(inner.right)):
        it.clauses(rest, ())
        return ProbInInterval(_random(inner.left), _beyond(it, inner), at=it.at)
    clauses = it.clauses(rest, ("at", "from"))
    if len(clauses) == 1:
        raise it.wrong(f"{next(iter(clauses))} without {'from' if 'at' in clauses else 'at'}")
    return ProbInStates(inner, clauses.get("at"), clauses.get("from"), at=it.at)


def _beyond(it: Call, inner: ArithComp) -> Range:
    """x <= t as the range [0, t]."""
    zero, end, at = Num(0.0, at=inner.at), Num(float("inf"), at=inner.at), inner.right.at
    if inner.relation in ("<", "<="):
        return Range(zero, inner.right, (True, inner.relation == "<="), at=at)
    if inner.relation in (">", ">="):
        return Range(inner.right, end, (inner.relation == ">=", False), at=at)
    raise it.wrong(f"a probability of {inner.relation}", inner.at)


def _states(it: Call) -> Node:
    branch, rest = it.only()
    if not (isinstance(branch, Tree) and branch.data == "membership" and _says(branch.children[0], "probability")):
        raise it.wrong("states of something else than a probability")
    within = it.builder.node(branch.children[1])
    clauses = it.clauses(rest, ("at", "from"))
    if not clauses:
        return SteadyStateStates(within, at=it.at)
    if len(clauses) == 1:
        raise it.wrong(f"{next(iter(clauses))} without {'from' if 'at' in clauses else 'at'}")
    return StatesAtTime(within, clauses["at"], clauses["from"], at=it.at)


def _says(branch: Any, word: str) -> bool:
    return branch.data == "name" and len(branch.children) == 1 and str(branch.children[0]) == word


def _passage(it: Call) -> Node:
    branch, rest = it.only()
    if branch is not None:
        raise it.wrong("passage begins with from")
    clauses = it.clauses(rest, ("from", "to", "avoiding"))
    missing = [word for word in ("from", "to") if word not in clauses]
    if missing:
        raise it.wrong(f"a passage without {missing[0]}")
    mode = next((str(b.children[1]) for b in rest if str(b.children[0]) == "from" and len(b.children) == 3), "entering")
    return PassageTimeDensity(clauses["from"], clauses["to"], clauses.get("avoiding"), mode, at=it.at)


def _distribution(it: Call) -> Node:
    branch, rest = it.only()
    if branch is None:
        raise it.wrong("distribution of nothing")
    return SteadyStateProb(it.builder.node(branch), it.clauses(rest, ("over",)).get("over"), at=it.at)


def _share(it: Call) -> Node:
    made = it.plain(1)[0]
    if not (isinstance(made, ArithOp) and made.operation == "/"):
        raise it.wrong("a share of one thing")
    for side in (made.left, made.right):
        if not isinstance(side, Actions):
            raise it.wrong("a share of other things than events", side.at)
    return Share(made.left, made.right, at=it.at)


def _state_function(it: Call) -> Node:
    words = []
    for argument in it.arguments:
        branch = argument.children[0]
        if len(argument.children) > 1 or branch.data not in ("name", "text") or len(branch.children) > 1:
            raise it.wrong("something else than the name of a station or class", it.builder.span(argument))
        words.append(it.builder.unquoted(str(branch.children[0]), it.builder.span(argument)))
    if len(words) > 2 or (it.name == "busy" and len(words) != 1):
        raise it.wrong(f"{it.name} with {len(words)} names")
    return StateFunction(it.name, *words, at=it.at)


def _of_two(it: Call, kind: type[Moment] | type[Percentile]) -> Node:
    number, law = it.plain(2)
    return kind(number, _random(law), at=it.at)


MAKERS = {
    "mean": lambda it: Moment(Num(1.0, at=it.at), _random(it.plain(1)[0]), at=it.at),
    "sd": lambda it: Deviation(_random(it.plain(1)[0]), at=it.at),
    "moment": lambda it: _of_two(it, Moment),
    "quantile": lambda it: _of_two(it, Percentile),
    "cdf": lambda it: Distribution(it.plain(1)[0], at=it.at),
    "convolve": lambda it: Convolution(*it.plain(2), at=it.at),
    "probability": _probability,
    "states": _states,
    "passage": _passage,
    "rate": lambda it: FiringRate(it.plain(1)[0], at=it.at),
    "share": _share,
    "distribution": _distribution,
    "n": _state_function,
    "busy": _state_function,
}
