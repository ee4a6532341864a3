"""The grammar's tree → nodes: names, units, functions and their arguments."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from lark import Token, Tree

from sojourn.errors import QueryError
from sojourn.file_errors import meant
from sojourn.query import names
from sojourn.query.calls import call
from sojourn.query.node import SCALES, SECONDS, Node, Num, Span
from sojourn.query.nodes import (
    Actions,
    Argument,
    ArithComp,
    ArithOp,
    Bool,
    Definition,
    Discon,
    InInterval,
    Macro,
    Measure,
    Negation,
    Percentile,
    Range,
    RequestTime,
    Result,
    Sequential,
    Slices,
    States,
    Subset,
)  # fmt: skip
from sojourn.query.parse import parse_text
from sojourn.query.query_error import query_error

ALL_NAMES = (
    "such are p99, mean, errors, rate, response_time, utilisation, throughput; all are in docs/reference/query.md"
)
DEEPEST = 100  # nested nodes
NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
PART = r"([0-9][0-9.]*(?:e[+-]?[0-9]+)?)"
WINDOWS = re.compile(rf"in\s+{PART}\s*%\s+of\s+{PART}\s*([a-z]+)\s+windows")
Branch = Tree[Token]


def parse(text: str, name: str = "query") -> Result:
    """The tree of a query. `name` stands for its file in errors. Raises QueryError; types are the business of `check`."""
    builder = Builder(text, name)
    return builder.result(parse_text(text, name))


@dataclass(frozen=True)
class ParsedArgument:
    """An argument of a function: its branch of the grammar's tree (None: only clauses), and its clauses: word → (mode, branch)."""

    branch: Branch | None
    clauses: Mapping[str, tuple[str, Branch]]
    span: Span


class Builder:
    """Makes the nodes of one query; knows the macros defined so far, and the arguments of the one at hand."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.macros: dict[str, Definition] = {}
        self.arguments: tuple[str, ...] = ()
        self.depth = 0

    def error(self, span: Span | None, value: str, remedy: str) -> QueryError:
        return query_error(self.text, span, value, remedy, self.name)

    def span(self, tree: Branch | Token) -> Span:
        it: Any = tree if isinstance(tree, Token) else tree.meta
        return Span(it.start_pos, it.end_pos, it.line, it.column)

    def result(self, tree: Branch) -> Result:
        items = []
        for branch in tree.children:
            assert isinstance(branch, Tree)
            if branch.data == "definition":
                self._define(branch)
            else:
                items.append(self.node(branch.children[0]))
        at = items[0].at
        query = items[0] if len(items) == 1 else Sequential(tuple(items), at=at)
        return Result(query, tuple(self.macros.values()), at=at)

    def _define(self, tree: Branch) -> None:
        name, *middle, body = tree.children
        assert isinstance(name, Token)
        if str(name) in (*names.every_name(), *self.macros):
            taken = "defined twice" if str(name) in self.macros else "already means something"
            raise self.error(self.span(name), f"{name} is {taken}" if str(name) in self.macros else f"{name} {taken}",
                             "choose another name")  # fmt: skip
        given = tuple(str(one) for one in middle[0].children) if middle else ()  # type: ignore[union-attr]
        if len(set(given)) < len(given):
            raise self.error(self.span(tree), "an argument twice", "give each argument a different name")
        self.arguments = given
        made = self.node(body)
        self.macros[str(name)] = Definition(str(name), given, made, at=self.span(tree))
        self.arguments = ()

    def node(self, tree: Any) -> Node:
        """The node of a branch."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(self.span(tree), f"more than {DEEPEST} nested operations", "use let for the parts")
        made: Node = getattr(self, f"_{tree.data}")(tree, self.span(tree))
        self.depth -= 1
        return made

    def _chain(self, tree: Branch, make: Callable[[str, Node, Node, Span], Node], word: str = "") -> Node:
        """a op b op c, from the left; each step is one level deeper."""
        parts = list(tree.children)
        if len(parts) > DEEPEST:
            raise self.error(self.span(tree), f"more than {DEEPEST} nested operations", "use let for the parts")
        made = self.node(parts.pop(0))
        while parts:
            operation = word or str(parts.pop(0))
            made = make(operation, made, self.node(parts.pop(0)), self.span(tree))
        return made

    def _either(self, tree: Branch, at: Span) -> Node:
        return self._chain(tree, lambda op, a, b, at: Discon(op, a, b, at=at), "or")

    def _both(self, tree: Branch, at: Span) -> Node:
        return self._chain(tree, lambda op, a, b, at: Discon(op, a, b, at=at), "and")

    def _sum(self, tree: Branch, at: Span) -> Node:
        return self._chain(tree, lambda op, a, b, at: ArithOp(op, a, b, at=at))

    _product = _sum

    def _negation(self, tree: Branch, at: Span) -> Node:
        return Negation(self.node(tree.children[0]), at=at)

    def _slices(self, tree: Branch, at: Span) -> Node:
        token = tree.children[1]
        assert isinstance(token, Token)
        parts = WINDOWS.fullmatch(str(token))
        assert parts is not None, "the terminal SLICES has the same form"
        share, length = (self._value(parts[k], self.span(token)) for k in (1, 2))
        if not 0 < share <= 100:
            raise self.error(
                self.span(token), f"{parts[1]}% of the windows", "give a share above 0 % and at most 100 %"
            )
        if parts[3] not in SECONDS or length == 0:
            raise self.error(self.span(token), f"windows of {parts[2]}{parts[3]}", "give a length in ms, s, min or h")
        return Slices(self.node(tree.children[0]), Num(share, "%"), Num(length, parts[3]), at=at)

    def _value(self, text: str, span: Span) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.error(
                span, f"{text[:30]} is not a representable number", "give a smaller number, such as 0.5 or 1e6"
            )
        return value

    def _comparison(self, tree: Branch, at: Span) -> Node:
        left, relation, right = tree.children
        return ArithComp(str(relation), self.node(left), self.node(right), at=at)

    def _membership(self, tree: Branch, at: Span) -> Node:
        return InInterval(self.node(tree.children[0]), self.node(tree.children[1]), at=at)

    def _inclusion(self, tree: Branch, at: Span) -> Node:
        return Subset(self.node(tree.children[0]), self.node(tree.children[1]), at=at)

    def _minus(self, tree: Branch, at: Span) -> Node:
        inner = self.node(tree.children[1])
        literal = isinstance(tree.children[1], Tree) and tree.children[1].data in ("quantity", "name")
        if isinstance(inner, Num) and literal:
            return replace(inner, value=-inner.value, at=at)
        return ArithOp("*", Num(-1.0, at=at), inner, at=at)

    def _power(self, tree: Branch, at: Span) -> Node:
        return ArithOp("^", self.node(tree.children[0]), self.node(tree.children[1]), at=at)

    def _quantity(self, tree: Branch, at: Span) -> Node:
        text = str(tree.children[0])
        found = NUMBER.match(text)
        assert found is not None, "the terminal QUANTITY begins with a number"
        unit = text[found.end() :].strip().replace("µ", "u").replace("μ", "u")
        if unit not in SCALES:
            remedy = (
                "write ms for milliseconds, min for minutes" if unit == "m" else meant(unit, [u for u in SCALES if u])
            )
            raise self.error(at, f"{unit[:40]} is no unit", remedy)
        return Num(self._value(found[0], at), unit, at=at)

    def _truth(self, tree: Branch, at: Span) -> Node:
        return Bool(str(tree.children[0]) == "true", at=at)

    def _text(self, tree: Branch, at: Span) -> Node:
        raise self.error(at, "a text in quotes", "quotes are for names of stations and classes: n('core 0')")

    def _range(self, tree: Branch, at: Span) -> Node:
        open_, low, high, close = tree.children
        return Range(self.node(low), self.node(high), (str(open_) == "[", str(close) == "]"), at=at)

    def _states(self, tree: Branch, at: Span) -> Node:
        return States(self.node(tree.children[0]), at=at)

    def _name(self, tree: Branch, at: Span) -> Node:
        word, *matches = tree.children
        name, filters = str(word), self._filters(matches)
        station, cls = filters.get("station", ""), filters.get("class", "")
        if isinstance(word, Token) and word.type == "PERCENTILE":
            return Percentile(self.level(word), RequestTime("response_time", station, cls, at=at), at=at)
        if name in names.SHORTHANDS and not (name != "mean" and station):
            return names.shorthand(name, station, cls, at)
        if name in names.TIMES:
            return RequestTime(names.TIMES[name], station, cls, at=at)
        if name in names.METRICS:
            return Measure(name, station, cls, at=at)
        if name in (*names.EVENTS, *names.SHORTHANDS) and not station:
            return Actions(names.EVENTS[name], cls, at=at)
        if filters:
            raise self.error(
                at, f"{name} has no {', '.join(filters)}", "station and class go with metrics, times and quantiles"
            )
        return self._word(name, at)

    def _word(self, name: str, at: Span) -> Node:
        if name in self.arguments:
            return Argument(name, at=at)
        if name in self.macros:
            return self.macro(name, (), at)
        if name == "inf":
            return Num(math.inf, at=at)
        if name in names.FUNCTIONS:
            raise self.error(at, f"{name} is a function", f"write {names.FUNCTIONS[name]}")
        known = [*self.arguments, *self.macros, *names.every_name(), "p99"]
        near = get_close_matches(name, known, 1)
        remedy = f"did you mean {near[0]}? (all names: docs/reference/query.md)" if near else ALL_NAMES
        raise self.error(at, f"no {name[:60]} is known here", remedy)

    def macro(self, name: str, given: tuple[Node, ...], at: Span) -> Node:
        """A call of a macro that is defined."""
        wanted = self.macros[name].arguments
        if len(given) != len(wanted):
            raise self.error(
                at, f"{name} with {len(given)} arguments", f"write {name}({', '.join(wanted)})".replace("()", "")
            )
        return Macro(name, given, at=at)

    def level(self, word: Token) -> Num:
        """q of p99: 0.99."""
        q = self._value(word[1:], self.span(word)) / 100
        if not 0 < q < 1:
            raise self.error(self.span(word), f"no quantile {word}", "write p50, p99, p99.9 …: above p0 and below p100")
        return Num(round(q, 12), at=self.span(word))

    def _filters(self, matches: list[Any]) -> dict[str, str]:
        found: dict[str, str] = {}
        for one in matches:
            key, value = (str(part) for part in one.children)
            if key not in ("station", "class"):
                raise self.error(self.span(one), f"no filter {key}", meant(key, ("station", "class")))
            if key in found:
                raise self.error(self.span(one), f"{key} twice", "give it once")
            found[key] = self.unquoted(value, self.span(one))
        return found

    def unquoted(self, word: str, at: Span) -> str:
        """The name of a station or class, with its quotes or without."""
        name = word[1:-1] if word[:1] in ("'", '"') else word
        if not name:
            raise self.error(at, "a name is empty", "leave it out, or give the name of a station or class")
        return name

    def _call(self, tree: Branch, at: Span) -> Node:
        return call(self, tree, at)
