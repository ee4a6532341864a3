"""A tree as text, written in one way: what `build.parse` reads gives the same tree again."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from sojourn.query import nodes as N  # noqa: N812
from sojourn.query.node import Node

OR, AND, NOT, RELATION, SUM, PRODUCT, UNARY, POWER, ATOM = range(9)
PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
RESERVED = {
    "let",
    "and",
    "or",
    "not",
    "in",
    "subset",
    "true",
    "false",
    "at",
    "from",
    "to",
    "avoiding",
    "over",
    "entering",
    "within",
}
LEVELS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "^": POWER}


def to_text(node: Node) -> str:
    """The text of a node, or of a whole query."""
    return _written(node)[0]


def _written(node: Node) -> tuple[str, int]:
    """Text, and how strongly it binds."""
    return WRITERS[type(node)](node)


def _bound(node: Node, least: int) -> str:
    """Text, in brackets where it binds less than `least`."""
    text, level = _written(node)
    return text if level >= least else f"({text})"


def number(value: float) -> str:
    """The shortest digits that give the same number."""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = repr(float(value))
    return text.removesuffix(".0")


def _num(node: N.Num) -> tuple[str, int]:
    return number(node.value) + node.unit, UNARY if math.copysign(1.0, node.value) < 0 else ATOM


def name(text: str) -> str:
    """A name of a station or class, in quotes where it needs them."""
    quote = '"' if "'" in text else "'"
    return text if PLAIN.fullmatch(text) and text not in RESERVED else f"{quote}{text}{quote}"


def filtered(word: str, station: str, cls: str) -> str:
    """word{station=…, class=…}"""
    given = [f"{key}={name(value)}" for key, value in (("station", station), ("class", cls)) if value]
    return word + (f"{{{', '.join(given)}}}" if given else "")


def _arithmetic(node: N.ArithOp) -> tuple[str, int]:
    level = LEVELS[node.operation]
    if level == POWER:
        return f"{_bound(node.left, ATOM)} ^ {_bound(node.right, UNARY)}", POWER
    return f"{_bound(node.left, level)} {node.operation} {_bound(node.right, level + 1)}", level


def _discon(node: N.Discon) -> tuple[str, int]:
    level = AND if node.operation == "and" else OR
    return f"{_bound(node.left, level)} {node.operation} {_bound(node.right, level + 1)}", level


def _related(word: str, left: str, right: str) -> Callable[[Node], tuple[str, int]]:
    def written(node: Node) -> tuple[str, int]:
        between = word or getattr(node, "relation", "")
        return f"{_bound(getattr(node, left), SUM)} {between} {_bound(getattr(node, right), SUM)}", RELATION

    return written


def _range(node: N.Range) -> tuple[str, int]:
    ends = "[" if node.closed[0] else "(", "]" if node.closed[1] else ")"
    return f"{ends[0]}{_bound(node.low, SUM)}, {_bound(node.high, SUM)}{ends[1]}", ATOM


def _passage(node: N.PassageTimeDensity) -> tuple[str, int]:
    mode = "within " if node.mode == "within" else ""
    avoiding = f" avoiding {_bound(node.excluded, SUM)}" if node.excluded else ""
    return f"passage(from {mode}{_bound(node.start, SUM)} to {_bound(node.target, SUM)}{avoiding})", ATOM


def _at(node: N.ProbInStates | N.StatesAtTime) -> str:
    if node.time is None or node.start is None:
        return ""
    return f" at {_bound(node.time, SUM)} from {_bound(node.start, SUM)}"


def _moment(node: N.Moment) -> tuple[str, int]:
    first = isinstance(node.order, N.Num) and node.order == N.Num(1.0)
    return (
        f"mean({to_text(node.density)})" if first else f"moment({to_text(node.order)}, {to_text(node.density)})"
    ), ATOM


def _percentile(node: N.Percentile) -> tuple[str, int]:
    if isinstance(node.level, N.Num) and not node.level.unit:
        word = f"p{number(round(node.level.value * 100, 10))}"
        if re.fullmatch(r"p[0-9]+(\.[0-9]+)?", word) and round(float(word[1:]) / 100, 12) == node.level.value:
            return f"{word}({to_text(node.density)})", ATOM
    return f"quantile({to_text(node.level)}, {to_text(node.density)})", ATOM


def _function(node: N.StateFunction) -> tuple[str, int]:
    given = [name(node.station), name(node.cls)] if node.cls else [name(node.station)] if node.station else []
    return f"{node.function}({', '.join(given)})", ATOM


def _result(node: N.Result) -> tuple[str, int]:
    return "".join(f"{to_text(one)}; " for one in node.macro) + to_text(node.query), OR


def _definition(node: N.Definition) -> tuple[str, int]:
    given = f"({', '.join(node.arguments)})" if node.arguments else ""
    return f"let {node.name}{given} = {to_text(node.body)}", OR


def _macro(node: N.Macro) -> tuple[str, int]:
    return node.name + (f"({', '.join(map(to_text, node.argument))})" if node.argument else ""), ATOM


def _slices(node: N.Slices) -> tuple[str, int]:
    return (
        f"{_bound(node.condition, RELATION)} in {to_text(node.least)} of {to_text(node.length)} windows",
        RELATION - 1,
    )


WRITERS: dict[type[Node], Callable[..., tuple[str, int]]] = {
    N.Num: _num,
    N.Bool: lambda x: ("true" if x.value else "false", ATOM),
    N.Argument: lambda x: (x.name, ATOM),
    N.Macro: _macro,
    N.Definition: _definition,
    N.StateFunction: _function,
    N.States: lambda x: (f"{{{to_text(x.predicate)}}}", ATOM),
    N.Actions: lambda x: (filtered(x.event, "", x.cls), ATOM),
    N.Range: _range,
    N.ArithOp: _arithmetic,
    N.ArithComp: _related("", "left", "right"),
    N.Discon: _discon,
    N.Negation: lambda x: (f"not {_bound(x.operand, NOT)}", NOT),
    N.InInterval: _related("in", "number", "range"),
    N.Subset: _related("subset", "part", "whole"),
    N.PassageTimeDensity: _passage,
    N.Distribution: lambda x: (f"cdf({to_text(x.density)})", ATOM),
    N.Convolution: lambda x: (f"convolve({to_text(x.first)}, {to_text(x.second)})", ATOM),
    N.Percentile: _percentile,
    N.Moment: _moment,
    N.ProbInInterval: lambda x: (f"probability({_bound(x.density, SUM)} in {_bound(x.range, SUM)})", ATOM),
    N.ProbInStates: lambda x: (f"probability({_bound(x.observed, SUM)}{_at(x)})", ATOM),
    N.SteadyStateProb: lambda x: (
        f"distribution({_bound(x.function, SUM)}" + (f" over {_bound(x.over, SUM)}" if x.over else "") + ")",
        ATOM,
    ),
    N.SteadyStateStates: lambda x: (f"states(probability in {_bound(x.range, SUM)})", ATOM),
    N.StatesAtTime: lambda x: (f"states(probability in {_bound(x.range, SUM)}{_at(x)})", ATOM),
    N.FiringRate: lambda x: (f"rate({to_text(x.actions)})", ATOM),
    N.Sequential: lambda x: ("; ".join(map(to_text, x.query)), OR),
    N.Result: _result,
    N.RequestTime: lambda x: (filtered(x.time, x.station, x.cls), ATOM),
    N.Measure: lambda x: (filtered(x.metric, x.station, x.cls), ATOM),
    N.Deviation: lambda x: (f"sd({to_text(x.density)})", ATOM),
    N.Share: lambda x: (f"share({to_text(x.part)} / {to_text(x.whole)})", ATOM),
    N.Slices: _slices,
}
