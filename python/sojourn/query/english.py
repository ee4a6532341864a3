"""A tree as an English sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sojourn.query import nodes as N  # noqa: N812
from sojourn.query.node import Node
from sojourn.query.text import number

RELATIONS = {
    "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least", "==": "equals", "!=": "differs from",
}  # fmt: skip
OPERATIONS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by", "^": "to the power"}
TIMES = {"response_time": "response time", "waiting_time": "waiting time", "service_time": "service time"}
EVENTS = {"arrivals": "requests that arrive", "answered": "requests that are answered", "failed": "requests that fail"}
UNITS = {
    "ns": "ns", "us": "µs", "ms": "ms", "s": "s", "min": "min", "h": "h", "%": "%", "/s": "per second", "/min": "per minute",
    "/h": "per hour", "": "",
}  # fmt: skip
ORDINALS = {1: "mean", 2: "second raw moment", 3: "third raw moment"}
TRUTHS = (N.ArithComp, N.Discon, N.Negation, N.InInterval, N.Subset, N.Slices, N.Bool)


def english(node: Node) -> str:
    """The question in a sentence, or in one a query and a macro."""
    if isinstance(node, N.Result):
        queries = node.query.query if isinstance(node.query, N.Sequential) else (node.query,)
        return " ".join([*(_definition(one) for one in node.macro), *map(_question, queries)])
    return _question(node)


def _question(node: Node) -> str:
    if isinstance(node, TRUTHS):
        return f"Is it true that {said(node)}?"
    if isinstance(node, N.Macro):
        return f"What is {said(node)}?"
    plural = isinstance(node, N.States | N.SteadyStateStates | N.StatesAtTime | N.Actions)
    return f"{'Which' if plural else 'What'} {'are' if plural else 'is'} {said(node)}?"


def _definition(node: N.Definition) -> str:
    given = f" of {' and '.join(node.arguments)}" if node.arguments else ""
    return f"Let {node.name}{given} be {said(node.body)}."


def said(node: Node) -> str:
    """A node within a sentence."""
    return PHRASES[type(node)](node)


def _number(node: N.Num) -> str:
    return " ".join(filter(None, (number(node.value), UNITS[node.unit])))


def _of(node: Any) -> str:
    return "".join(
        f" of {word} {name}" for word, name in (("class", node.cls), ("station", getattr(node, "station", ""))) if name
    )


def _joined(node: N.Discon) -> str:
    both = f"{said(node.left)} {node.operation} {said(node.right)}"
    return (
        f"both {both}"
        if node.operation == "and" and isinstance(node.left, N.Discon) and node.left.operation == "or"
        else both
    )


def _percentile(node: N.Percentile) -> str:
    level = (
        f"{number(round(100 * node.level.si, 10))} % quantile"
        if isinstance(node.level, N.Num)
        else f"quantile at {said(node.level)}"
    )
    return f"the {level} of {said(node.density)}"


def _moment(node: N.Moment) -> str:
    order = int(node.order.value) if isinstance(node.order, N.Num) else 0
    name = ORDINALS.get(order, f"raw moment of order {said(node.order)}")
    return f"the {name} of {said(node.density)}"


def _range(node: N.Range) -> str:
    closed = {(True, True): "", (True, False): ", the upper end not included", (False, True): ", the lower end not included",
              (False, False): ", the ends not included"}[node.closed]  # fmt: skip
    return f"between {said(node.low)} and {said(node.high)}{closed}"


def _passage(node: N.PassageTimeDensity) -> str:
    begin = "entering" if node.mode == "entering" else "a random time within"
    avoiding = f", never in {said(node.excluded)}" if node.excluded else ""
    return f"the time from {begin} {said(node.start)} to the next entry into {said(node.target)}{avoiding}"


def _at(node: N.ProbInStates | N.StatesAtTime) -> str:
    return f" {said(node.time)} after entering {said(node.start)}" if node.time and node.start else ""


def _function(node: N.StateFunction) -> str:
    if node.function == "busy":
        return f"the number of busy servers of {node.station}"
    return (
        "the number"
        + (f" of class {node.cls}" if node.cls else "")
        + (f" at {node.station}" if node.station else " present")
    )


def _windows(node: N.Slices) -> str:
    return f"in at least {said(node.least)} of all windows of {said(node.length)}, {said(node.condition)}"


def _macro(node: N.Macro) -> str:
    return node.name + (f" of {' and '.join(map(said, node.argument))}" if node.argument else "")


PHRASES: dict[type[Node], Callable[..., str]] = {
    N.Num: _number,
    N.Bool: lambda x: "yes" if x.value else "no",
    N.Argument: lambda x: x.name,
    N.Macro: _macro,
    N.Definition: _definition,
    N.StateFunction: _function,
    N.States: lambda x: f"the states in which {said(x.predicate)}",
    N.Actions: lambda x: EVENTS[x.event] + _of(x),
    N.Range: _range,
    N.ArithOp: lambda x: f"{said(x.left)} {OPERATIONS[x.operation]} {said(x.right)}",
    N.ArithComp: lambda x: f"{said(x.left)} {RELATIONS[x.relation]} {said(x.right)}",
    N.Discon: _joined,
    N.Negation: lambda x: f"it is not so that {said(x.operand)}",
    N.InInterval: lambda x: f"{said(x.number)} lies {said(x.range)}",
    N.Subset: lambda x: f"{said(x.part)} are among {said(x.whole)}",
    N.PassageTimeDensity: _passage,
    N.Distribution: lambda x: f"the cumulative distribution of {said(x.density)}",
    N.Convolution: lambda x: f"the sum of {said(x.first)} and, independent of it, {said(x.second)}",
    N.Percentile: _percentile,
    N.Moment: _moment,
    N.ProbInInterval: lambda x: f"the probability that {said(x.density)} lies {said(x.range)}",
    N.ProbInStates: lambda x: f"the probability of {said(x.observed)}{_at(x)}",
    N.SteadyStateProb: lambda x: (
        f"the distribution of {said(x.function)} over time" + (f" in {said(x.over)}" if x.over else "")
    ),
    N.SteadyStateStates: lambda x: f"the states whose probability lies {said(x.range)}",
    N.StatesAtTime: lambda x: f"the states whose probability{_at(x)} lies {said(x.range)}",
    N.FiringRate: lambda x: f"the rate of {said(x.actions)}",
    N.Sequential: lambda x: "; ".join(map(said, x.query)),
    N.Result: lambda x: said(x.query),
    N.RequestTime: lambda x: f"the {TIMES[x.time]}{_of(x)}",
    N.Measure: lambda x: f"the {x.metric.replace('_', ' ')}{_of(x)}",
    N.Deviation: lambda x: f"the standard deviation of {said(x.density)}",
    N.Share: lambda x: f"the share of {said(x.part)} in {said(x.whole)}",
    N.Slices: _windows,
}
