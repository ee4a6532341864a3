"""One evaluator for each kind of node: what it is worth on a source, by what its children are worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.errors import SourceRefused
from sojourn.query import nodes as N  # noqa: N812
from sojourn.query import values as V  # noqa: N812
from sojourn.query.node import Node
from sojourn.query.sources.share_interval import jeffreys, share_needs
from sojourn.query.sources.source import Source
from sojourn.query.text import to_text
from sojourn.query.told import described, shown
from sojourn.query.type_check import ValueType
from sojourn.query.values import Estimate, Flags, Truth, Value

DONE, REFUSED, SKIPPED = "done", "refused", "not evaluated"


@dataclass(frozen=True)
class NodeState:
    """What became of a node: `done` or `refused`; its value in words, or why there is none."""

    state: str
    told: str = ""


class Evaluator:
    """Evaluates the tree of one query on one source; keeps what became of each node. `points`: without intervals, as in a
    window of time, which either meets a limit or does not."""

    def __init__(
        self, macros: Mapping[str, N.Definition], kinds: Mapping[int, ValueType], source: Source, points: bool = False
    ) -> None:
        self.macros, self.kinds, self.source, self.points = macros, kinds, source, points
        self.states: dict[int, NodeState] = {}

    def value(self, node: Node, given: Mapping[str, Value]) -> Any:
        """What a node is worth. Raises SourceRefused."""
        try:
            found: Value = EVALUATORS[type(node)](self, node, given)
        except SourceRefused as refusal:
            self.states[id(node)] = NodeState(REFUSED, str(refusal))
            raise
        if self.points and isinstance(found, Estimate):
            found = found.point()
        kind = self.kinds.get(id(node))
        plain = isinstance(found, Estimate | Truth | V.StateSet) and not isinstance(node, N.Num | N.Bool | N.States)
        self.states[id(node)] = NodeState(DONE, described(found, kind.dimension if kind else 0.0) if plain else "")
        return found

    def truth(self, node: Node, given: Mapping[str, Value]) -> Truth:
        """The answer of a node; `cannot tell` where the source refuses what it needs."""
        try:
            found: Truth = self.value(node, given)
        except SourceRefused as refusal:
            return Truth(None, str(refusal))
        return found


def _arithmetic(it: Evaluator, node: N.ArithOp, given: Mapping[str, Value]) -> Value:
    return V.arithmetic(node.operation, it.value(node.left, given), it.value(node.right, given))


def _compared(it: Evaluator, node: N.ArithComp, given: Mapping[str, Value]) -> Truth:
    a, b = it.value(node.left, given), it.value(node.right, given)
    found = V.compare(node.relation, a, b)
    told, limit = _told(it, node.left, a), "" if b.is_exact else f", {_told(it, node.right, b)}"
    return Truth(found.value, told + limit + (f" ({found.why})" if found.why else ""), found.more)


def _told(it: Evaluator, node: Node, found: Estimate) -> str:
    return f"{to_text(node)} is {shown(found, it.kinds[id(node)].dimension)}"


def _member(it: Evaluator, node: N.InInterval, given: Mapping[str, Value]) -> Truth:
    x, span = it.value(node.number, given), it.value(node.range, given)
    above = V.compare(">=" if span.closed[0] else ">", x, span.low)
    below = V.compare("<=" if span.closed[1] else "<", x, span.high)
    found = V.both(above, below)
    return Truth(found.value, _told(it, node.number, x), found.more)


def _discon(it: Evaluator, node: N.Discon, given: Mapping[str, Value]) -> Truth:
    join = V.both if node.operation == "and" else V.either
    return join(it.truth(node.left, given), it.truth(node.right, given))


def _subset(it: Evaluator, node: N.Subset, given: Mapping[str, Value]) -> Truth:
    part, whole = it.value(node.part, given), it.value(node.whole, given)
    if isinstance(part, V.Events):
        return Truth(part.within(whole), f"{part} and {whole}")
    sure_in, sure_out = part.inside & ~part.undecided, ~whole.inside & ~whole.undecided
    may_in, may_out = part.inside | part.undecided, ~whole.inside | whole.undecided
    found = False if (sure_in & sure_out).any() else None if (may_in & may_out).any() else True
    return Truth(found, f"{part} in {whole}")


def _states(it: Evaluator, node: N.States, given: Mapping[str, Value]) -> V.StateSet:
    inside = np.atleast_1d(predicate(it, node.predicate, given))
    if inside.shape == (1,):
        inside = np.broadcast_to(inside, it.source.states(N.StateFunction("n")).shape)
    return V.StateSet(inside, np.zeros(len(inside), bool), it.source.named)


def predicate(it: Evaluator, node: Node, given: Mapping[str, Value]) -> Flags:
    """Of each state of the source, whether a condition holds."""
    it.states[id(node)] = NodeState(DONE)
    if isinstance(node, N.Bool):
        return np.array([node.value])
    if isinstance(node, N.Negation):
        return ~predicate(it, node.operand, given)
    if isinstance(node, N.Discon):
        join = np.logical_and if node.operation == "and" else np.logical_or
        return np.asarray(join(predicate(it, node.left, given), predicate(it, node.right, given)))
    if isinstance(node, N.InInterval):
        span: V.Span = it.value(node.range, given)
        return span.holds(function(it, node.number, given))
    assert isinstance(node, N.ArithComp)
    return V.RELATIONS[node.relation](function(it, node.left, given), function(it, node.right, given))


def function(it: Evaluator, node: Node, given: Mapping[str, Value]) -> V.Array:
    """A function of the state, in each state; a number stands for itself."""
    it.states[id(node)] = NodeState(DONE)
    if isinstance(node, N.StateFunction):
        return it.source.states(node)
    if isinstance(node, N.ArithOp):
        with np.errstate(all="ignore"):
            operate: Any = V.OPERATIONS[node.operation]
            return np.asarray(operate(function(it, node.left, given), function(it, node.right, given)))
    found = it.value(node, given)
    return np.atleast_1d(np.float64(found.value)) if isinstance(found, Estimate) else np.asarray(found)


def _range(it: Evaluator, node: N.Range, given: Mapping[str, Value]) -> V.Span:
    return V.Span(it.value(node.low, given), it.value(node.high, given), node.closed)


def _sum_of(it: Evaluator, node: N.Convolution, given: Mapping[str, Value]) -> V.Law:
    return it.source.convolution(it.value(node.first, given), it.value(node.second, given))


def _in_states(it: Evaluator, node: N.ProbInStates, given: Mapping[str, Value]) -> Estimate:
    observed = decided(it.value(node.observed, given))
    if node.time is None or node.start is None:
        return it.source.occupancy(observed)
    return it.source.at_time(observed, it.value(node.time, given).value, decided(it.value(node.start, given)))


def decided(found: V.StateSet) -> Flags:
    """The states of a set in which none is undecided."""
    if found.undecided.any():
        said = f"{found.names(found.undecided)} may belong to the set or not"
        raise SourceRefused(said, "query", "run longer, or write the set as a condition in braces")
    return found.inside


def _distribution(it: Evaluator, node: N.SteadyStateProb, given: Mapping[str, Value]) -> V.Law:
    over = None if node.over is None else decided(it.value(node.over, given))
    return it.source.distribution(function(it, node.function, given), over)


def _probable(it: Evaluator, node: N.SteadyStateStates | N.StatesAtTime, given: Mapping[str, Value]) -> V.StateSet:
    span: V.Span = it.value(node.range, given)
    if isinstance(node, N.StatesAtTime):
        time_s, start = it.value(node.time, given).value, decided(it.value(node.start, given))
        value, low, high = it.source.state_probabilities(time_s, start)
    else:
        value, low, high = it.source.state_probabilities(None, None)
    inside = span.holds(value)
    crossed = [(low < end.value) & (end.value < high) for end in (span.low, span.high)]
    return V.StateSet(inside, np.asarray(crossed[0] | crossed[1]), it.source.named)


def _passage(it: Evaluator, node: N.PassageTimeDensity, given: Mapping[str, Value]) -> V.Law:
    start, target = (decided(it.value(x, given)) for x in (node.start, node.target))
    excluded = None if node.excluded is None else decided(it.value(node.excluded, given))
    return it.source.passage(start, target, excluded, node.mode)


def _macro(it: Evaluator, node: N.Macro, given: Mapping[str, Value]) -> Value:
    macro = it.macros[node.name]
    values = {name: it.value(one, given) for name, one in zip(macro.arguments, node.argument, strict=True)}
    found: Value = it.value(macro.body, values)
    return found


def _slices(it: Evaluator, node: N.Slices, given: Mapping[str, Value]) -> Truth:
    """Each window by its own figures; then the share of windows, as of independent ones, against the least."""
    met = []
    for window in it.source.windows(node.length.si):
        inner = Evaluator(it.macros, it.kinds, window, points=True)
        met.append(inner.truth(node.condition, given).value is True)
    share = float(np.mean(met))
    found = Estimate(share, *jeffreys(share, 1 / len(met)), node.length.si * len(met))
    truth = V.compare(">=", found.point() if it.points else found, Estimate.exact(node.least.si))
    told = f"met in {sum(met)} of {len(met)} windows of {node.length.value:g}{node.length.unit}"
    return Truth(truth.value, told, None if truth.more is None else share_needs(share, len(met), node.least.si))


def _moment(it: Evaluator, node: N.Moment, given: Mapping[str, Value]) -> Estimate:
    law, order = it.value(node.density, given), it.value(node.order, given)
    found: Estimate = law.moment(round(order.value))
    return found


EVALUATORS: dict[type[Node], Callable[..., Any]] = {
    N.Num: lambda it, node, given: Estimate.exact(node.si),
    N.Bool: lambda it, node, given: Truth(node.value),
    N.Argument: lambda it, node, given: given[node.name],
    N.Macro: _macro,
    N.StateFunction: lambda it, node, given: it.source.states(node),
    N.States: _states,
    N.Actions: lambda it, node, given: V.Events(node.event, node.cls),
    N.Range: _range,
    N.ArithOp: _arithmetic,
    N.ArithComp: _compared,
    N.Discon: _discon,
    N.Negation: lambda it, node, given: V.negated(it.truth(node.operand, given)),
    N.InInterval: _member,
    N.Subset: _subset,
    N.PassageTimeDensity: _passage,
    N.Distribution: lambda it, node, given: it.value(node.density, given),
    N.Convolution: _sum_of,
    N.Percentile: lambda it, node, given: it.value(node.density, given).quantile(it.value(node.level, given).value),
    N.Moment: _moment,
    N.ProbInInterval: lambda it, node, given: it.value(node.density, given).probability(it.value(node.range, given)),
    N.ProbInStates: _in_states,
    N.SteadyStateProb: _distribution,
    N.SteadyStateStates: _probable,
    N.StatesAtTime: _probable,
    N.FiringRate: lambda it, node, given: it.source.rate(it.value(node.actions, given)),
    N.RequestTime: lambda it, node, given: it.source.time(node.time, node.station, node.cls),
    N.Measure: lambda it, node, given: it.source.measure(node.metric, node.station, node.cls),
    N.Deviation: lambda it, node, given: it.value(node.density, given).deviation(),
    N.Share: lambda it, node, given: it.source.share(it.value(node.part, given), it.value(node.whole, given)),
    N.Slices: _slices,
}
