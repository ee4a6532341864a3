"""Types and units of a tree: each child must give what its parent takes, and a time is only compared with a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sojourn.errors import QueryError
from sojourn.query import nodes as N  # noqa: N812
from sojourn.query.node import Node
from sojourn.query.query_error import query_error

MOST_NODES = 20_000  # of a tree with its macros written out
WORDS = {
    "num": "a number", "bool": "a yes or no", "states": "a set of states", "actions": "events", "range": "a range",
    "func": "a function of the state", "dens": "a distribution", "dist": "a distribution", "multi": "several queries",
}  # fmt: skip
REMEDIES = {
    ("num", "dens"): "write mean(…), p99(…) or probability(… <= 50ms) of it",
    ("num", "dist"): "write mean(…), p99(…) or probability(… in [a, b]) of it",
    ("num", "func"): "write mean(…) of it, or put the comparison into braces: probability({n() >= 4})",
    ("num", "bool"): "a condition has no value: join conditions with and, or, not",
    ("num", "actions"): "write rate(…) of it, or share(… / arrivals)",
    ("num", "states"): "write probability(…) of it",
    ("bool", "num"): "compare it with a limit: < 50ms",
    ("dens", "num"): "give response_time, waiting_time, a passage or a function of the state",
    ("range", "num"): "write [low, high], with ( or ) where an end does not belong to it",
    ("states", "bool"): "put it into braces: {n() >= 4}",
    ("states", "func"): "write a condition in braces: {n() >= 4}",
    ("actions", "num"): "give arrivals, answered or failed",
    ("actions", "dens"): "give arrivals, answered or failed",
}
ANY = math.nan  # dimension of 0 and of infinity: they fit every unit
UNITS = {1: "a time", -1: "a rate", 0: "a number without unit"}
EXAMPLES = {1: "50ms", -1: "190/s", 0: "0.99, or 1%"}
METRIC_DIMENSION = {"1": 0, "s": 1, "1/s": -1, "s^2": 2}
ERRORS = N.Share(N.Actions("failed"), N.Actions("arrivals"))


@dataclass(frozen=True)
class ValueType:
    """A type, and of a number or a distribution its power of the second (NaN: any)."""

    name: str
    dimension: float = 0.0

    def fits(self, other: ValueType) -> bool:
        """Whether both have one unit."""
        return self.dimension == other.dimension or math.isnan(self.dimension + other.dimension)


def check(tree: N.Result, text: str = "", name: str = "query") -> dict[int, ValueType]:
    """What each node gives, by its `id`. Raises QueryError at the node that does not fit."""
    checker = Checker({one.name: one for one in tree.macro}, text, name)
    checker.kinds[id(tree)] = checker.kind(tree.query, {})
    return checker.kinds


class Checker:
    """Goes through a tree; macros are checked where they are called, with the types of their arguments."""

    def __init__(self, macros: Mapping[str, N.Definition], text: str, name: str) -> None:
        self.macros, self.text, self.name, self.seen = macros, text, name, 0
        self.kinds: dict[int, ValueType] = {}

    def error(self, node: Node, value: str, remedy: str) -> QueryError:
        return query_error(self.text, node.at, value, remedy, self.name)

    def kind(self, node: Node, given: Mapping[str, ValueType]) -> ValueType:
        """What a node gives; `given`: of the arguments of the macro around it."""
        self.seen += 1
        if self.seen > MOST_NODES:
            raise self.error(
                node, f"more than {MOST_NODES} nodes with all macros written out", "call fewer macros within macros"
            )
        self.kinds[id(node)] = found = CHECKS[type(node)](self, node, given)
        return found

    def need(self, node: Node, given: Mapping[str, ValueType], *wanted: str) -> ValueType:
        """The type of a child, which must be one of `wanted`."""
        found = self.kind(node, given)
        if found.name not in wanted:
            remedy = REMEDIES.get((wanted[0], found.name), f"give {WORDS[wanted[0]]}")
            raise self.error(node, f"{WORDS[found.name]} where {WORDS[wanted[0]]} is needed", remedy)
        return found

    def same_unit(self, one: Node, a: ValueType, other: Node, b: ValueType) -> None:
        if a.fits(b):
            return
        at, want, have = (other, a, b) if isinstance(other, N.Num) or not isinstance(one, N.Num) else (one, b, a)
        shown = EXAMPLES.get(int(want.dimension), "")
        if isinstance(at, N.Num) and not at.unit and want.dimension in (1, -1):
            shown = f"{at.value:g}" + ("ms" if want.dimension == 1 else "/s")
        units = UNITS.get(int(have.dimension), "another unit"), UNITS.get(int(want.dimension), "another unit")
        remedy = f"give its unit: {shown}" if shown else "compare like with like"
        raise self.error(at, f"{units[0]} where {units[1]} is needed", remedy)


def _predicate(it: Checker, node: Node, given: Mapping[str, ValueType]) -> None:
    """Inside braces: comparisons of functions of the state with numbers, and, or, not."""
    if isinstance(node, N.Discon):
        _predicate(it, node.left, given)
        _predicate(it, node.right, given)
    elif isinstance(node, N.Negation):
        _predicate(it, node.operand, given)
    elif isinstance(node, N.InInterval):
        it.need(node.number, given, "func")
        it.need(node.range, given, "range")
    elif isinstance(node, N.ArithComp):
        for side in (node.left, node.right):
            found = it.need(side, given, "func", "num")
            it.same_unit(N.Measure("utilisation"), ValueType("num"), side, found)
    elif not isinstance(node, N.Bool):
        raise it.error(node, "no condition on the state", "write a condition: n() >= 4, n(cpu) == 0, busy(cpu) < 2")


def _arithmetic(it: Checker, node: N.ArithOp, given: Mapping[str, ValueType]) -> ValueType:
    a, b = it.need(node.left, given, "num", "func"), it.need(node.right, given, "num", "func")
    name = "func" if "func" in (a.name, b.name) else "num"
    if node.operation in "+-":
        it.same_unit(node.left, a, node.right, b)
        return ValueType(name, b.dimension if math.isnan(a.dimension) else a.dimension)
    if node.operation == "^":
        it.same_unit(N.Measure("utilisation"), ValueType("num"), node.right, b)
        if isinstance(node.right, N.Num):
            return ValueType(name, a.dimension * node.right.value if a.dimension else 0.0)
        if a.dimension:
            raise it.error(
                node.right, "a power that is not a plain number", "for a time or rate, write the power as a number"
            )
        return ValueType(name)
    left, right = (0.0 if math.isnan(x) else x for x in (a.dimension, b.dimension))
    return ValueType(name, left + right if node.operation == "*" else left - right)


def _compared(it: Checker, node: N.ArithComp, given: Mapping[str, ValueType]) -> ValueType:
    it.same_unit(node.left, it.need(node.left, given, "num"), node.right, it.need(node.right, given, "num"))
    for share, limit in ((node.left, node.right), (node.right, node.left)):
        if share == ERRORS and isinstance(limit, N.Num) and not limit.unit and limit.value >= 1:
            value = f"{limit.value:g}, which is {100 * limit.value:g} %, where a share of requests is needed"
            raise it.error(limit, value, f"write {limit.value:g}%, or a number below 1")
    return ValueType("bool")


def _member(it: Checker, node: N.InInterval, given: Mapping[str, ValueType]) -> ValueType:
    it.same_unit(node.number, it.need(node.number, given, "num"), node.range, it.need(node.range, given, "range"))
    return ValueType("bool")


def _range(it: Checker, node: N.Range, given: Mapping[str, ValueType]) -> ValueType:
    a, b = it.need(node.low, given, "num"), it.need(node.high, given, "num")
    it.same_unit(node.low, a, node.high, b)
    if isinstance(node.low, N.Num) and isinstance(node.high, N.Num) and node.low.si > node.high.si:
        raise it.error(node, "a range that ends before it begins", "write the lower end first")
    return ValueType("range", b.dimension if math.isnan(a.dimension) else a.dimension)


def _subset(it: Checker, node: N.Subset, given: Mapping[str, ValueType]) -> ValueType:
    it.need(node.whole, given, it.need(node.part, given, "states", "actions").name)
    return ValueType("bool")


def _density(field: str = "density") -> Callable[[Checker, Node, Mapping[str, ValueType]], ValueType]:
    def found(it: Checker, node: Node, given: Mapping[str, ValueType]) -> ValueType:
        return it.need(getattr(node, field), given, "dens", "dist")

    return found


def _percentile(it: Checker, node: N.Percentile, given: Mapping[str, ValueType]) -> ValueType:
    it.same_unit(N.Measure("utilisation"), ValueType("num"), node.level, it.need(node.level, given, "num"))
    if isinstance(node.level, N.Num) and not 0 < node.level.si < 1:
        raise it.error(
            node.level,
            f"no quantile at {node.level.value:g}{node.level.unit}",
            "give a level in (0, 1), such as 0.99, or write p99(…)",
        )
    return ValueType("num", _density()(it, node, given).dimension)


def _moment(it: Checker, node: N.Moment, given: Mapping[str, ValueType]) -> ValueType:
    order, found = it.need(node.order, given, "num"), _density()(it, node, given)
    it.same_unit(N.Measure("utilisation"), ValueType("num"), node.order, order)
    if not isinstance(node.order, N.Num | N.Argument):
        raise it.error(node.order, "an order that is not a plain number", "give 1, 2, 3 …")
    if isinstance(node.order, N.Num) and not (node.order.si.is_integer() and 1 <= node.order.si <= 10):
        raise it.error(node.order, f"no moment of order {node.order.value:g}", "give a whole number from 1 to 10")
    value = node.order.si if isinstance(node.order, N.Num) else 1.0
    return ValueType("num", found.dimension * value)


def _deviation(it: Checker, node: N.Deviation, given: Mapping[str, ValueType]) -> ValueType:
    return ValueType("num", _density()(it, node, given).dimension)


def _interval(it: Checker, node: N.ProbInInterval, given: Mapping[str, ValueType]) -> ValueType:
    found = it.need(node.density, given, "dens", "dist")
    it.same_unit(node.density, found, _low(node.range), it.need(node.range, given, "range"))
    return ValueType("num")


def _low(node: Node) -> Node:
    """The end of a range that an error points to."""
    if isinstance(node, N.Range):
        return node.high if isinstance(node.high, N.Num) and math.isfinite(node.high.value) else node.low
    return node


def _at_time(it: Checker, node: N.ProbInStates | N.StatesAtTime, given: Mapping[str, ValueType]) -> None:
    if node.time is not None and node.start is not None:
        it.same_unit(N.RequestTime("response_time"), ValueType("num", 1), node.time, it.need(node.time, given, "num"))
        it.need(node.start, given, "states")


def _in_states(it: Checker, node: N.ProbInStates, given: Mapping[str, ValueType]) -> ValueType:
    it.need(node.observed, given, "states")
    _at_time(it, node, given)
    return ValueType("num")


def _probable(it: Checker, node: N.SteadyStateStates | N.StatesAtTime, given: Mapping[str, ValueType]) -> ValueType:
    it.same_unit(N.Measure("utilisation"), ValueType("num"), _low(node.range), it.need(node.range, given, "range"))
    if isinstance(node, N.StatesAtTime):
        _at_time(it, node, given)
    return ValueType("states")


def _all(kind: ValueType, **wanted: str) -> Callable[[Checker, Node, Mapping[str, ValueType]], ValueType]:
    """`kind`, after each child was found to be of the type wanted."""

    def found(it: Checker, node: Node, given: Mapping[str, ValueType]) -> ValueType:
        for role, name in wanted.items():
            if (child := getattr(node, role)) is not None:
                it.need(child, given, name)
        return kind

    return found


def _states(it: Checker, node: N.States, given: Mapping[str, ValueType]) -> ValueType:
    _predicate(it, node.predicate, given)
    return ValueType("states")


def _macro(it: Checker, node: N.Macro, given: Mapping[str, ValueType]) -> ValueType:
    macro = it.macros[node.name]
    return it.kind(macro.body, dict(zip(macro.arguments, (it.kind(a, given) for a in node.argument), strict=True)))


def _convolved(it: Checker, node: N.Convolution, given: Mapping[str, ValueType]) -> ValueType:
    a, b = it.need(node.first, given, "dens"), it.need(node.second, given, "dens")
    it.same_unit(node.first, a, node.second, b)
    return a


def _several(it: Checker, node: N.Sequential, given: Mapping[str, ValueType]) -> ValueType:
    for one in node.query:
        it.kind(one, given)
    return ValueType("multi")


def _number(it: Checker, node: N.Num, given: Mapping[str, ValueType]) -> ValueType:
    free = not node.unit and (node.value == 0 or math.isinf(node.value))
    return ValueType("num", ANY if free else node.dimension)


def _metric(it: Checker, node: N.Measure, given: Mapping[str, ValueType]) -> ValueType:
    from sojourn.table import UNITS as METRIC_UNITS

    return ValueType("num", METRIC_DIMENSION[METRIC_UNITS[node.metric]])


CHECKS: dict[type[Node], Callable[..., ValueType]] = {
    N.Num: _number, N.Bool: _all(ValueType("bool")), N.Argument: lambda it, node, given: given[node.name], N.Macro: _macro,
    N.StateFunction: _all(ValueType("func")), N.States: _states, N.Actions: _all(ValueType("actions")), N.Range: _range,
    N.ArithOp: _arithmetic, N.ArithComp: _compared, N.Discon: _all(ValueType("bool"), left="bool", right="bool"),
    N.Negation: _all(ValueType("bool"), operand="bool"), N.InInterval: _member, N.Subset: _subset,
    N.PassageTimeDensity: _all(ValueType("dens", 1), start="states", target="states", excluded="states"),
    N.Distribution: lambda it, node, given: ValueType("dist", it.need(node.density, given, "dens").dimension),
    N.Convolution: _convolved, N.Percentile: _percentile, N.Moment: _moment, N.ProbInInterval: _interval,
    N.ProbInStates: _in_states, N.SteadyStateProb: _all(ValueType("dist"), function="func", over="states"),
    N.SteadyStateStates: _probable, N.StatesAtTime: _probable, N.FiringRate: _all(ValueType("num", -1), actions="actions"),
    N.Sequential: _several, N.RequestTime: _all(ValueType("dens", 1)), N.Measure: _metric, N.Deviation: _deviation,
    N.Share: _all(ValueType("num"), part="actions", whole="actions"), N.Slices: _all(ValueType("bool"), condition="bool"),
}  # fmt: skip
