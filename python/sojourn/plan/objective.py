"""An objective, in the query language, judged for many configurations at once: whether each meets it, and by how much not.

Violation: how far the number lies beyond its limit, relative to the limit (0.2: 20 % too much); negative where there is room. Of
`and` the larger, of `or` the smaller, of `not` the opposite. A number that does not exist (an unstable queue) meets nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sojourn.query import nodes as N  # noqa: N812
from sojourn.query.build import parse
from sojourn.query.node import Node
from sojourn.query.query_error import query_error
from sojourn.query.text import to_text
from sojourn.query.type_check import ValueType, check
from sojourn.query.values import OPERATIONS, RELATIONS

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
HELP = (
    "an objective of a plan compares mean, p99, waiting_time, throughput, utilisation{station=cpu} or errors with "
    "limits, joined with and, or, not"
)


@dataclass(frozen=True)
class Quantity:
    """What is asked of a configuration: a metric of a station ("": the system) and a class ("": all); `q`: its quantile, None:
    the mean."""

    metric: str
    station: str = ""
    cls: str = ""
    q: float | None = None


@dataclass(frozen=True)
class Term:
    """One comparison of the objective: what was compared, and by how much it is missed."""

    text: str
    shown: str  # of its left side
    dimension: float  # power of the second of that
    value: Array
    violation: Array


@dataclass(frozen=True)
class ObjectiveCheck:
    """Arrays of one shape: `met`, `violation`; and the terms. A value that does not exist: not met, infinite violation."""

    met: Flags
    violation: Array
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Objective:
    """A condition on metrics."""

    text: str
    tree: Node
    kinds: Mapping[int, ValueType]
    quantities: tuple[Quantity, ...]

    @staticmethod
    def read(text: str, place: str = "--objective") -> Objective:
        """Raises QueryError for a text that is no condition, or asks what no model answers for many configurations."""
        whole = parse(text, place)
        kinds = check(whole, text, place)
        tree = _written_out(whole.query, {one.name: one for one in whole.macro}, {})
        if kinds[id(whole)].name != "bool":
            raise query_error(text, whole.query.at, "no condition", "compare it with a limit: p99 < 50ms", place)
        checked = check(N.Result(tree), text, place)
        reader = _Reader(text, place)
        reader.condition(tree)
        return Objective(text.strip(), tree, checked, tuple(dict.fromkeys(reader.found)))

    def judge(self, values: Mapping[Quantity, Array]) -> ObjectiveCheck:
        """`values`: what each quantity is, arrays of one shape."""
        terms: list[Term] = []
        known, met, violation = self._judged(self.tree, values, terms)
        met = met & known
        return ObjectiveCheck(np.asarray(met), np.where(known, violation, np.inf), tuple(terms))

    def _judged(self, node: Node, values: Mapping[Quantity, Array], terms: list[Term]) -> tuple[Flags, Flags, Array]:
        """(whether it is known, whether it holds, violation)"""
        if isinstance(node, N.Discon):
            (ka, a, va), (kb, b, vb) = (self._judged(side, values, terms) for side in (node.left, node.right))
            if node.operation == "and":
                return ka & kb, a & b, np.maximum(va, vb)
            return (ka & kb) | (ka & a) | (kb & b), (a & ka) | (b & kb), np.fmin(va, vb)
        if isinstance(node, N.Negation):
            k, a, v = self._judged(node.operand, values, terms)
            return k, ~a, -v
        assert isinstance(node, N.ArithComp), "checked where it was read"
        left, right = (_number(side, values) for side in (node.left, node.right))
        left, right = (np.asarray(x, float) for x in np.broadcast_arrays(left, right))
        known = ~(np.isnan(left) | np.isnan(right))
        with np.errstate(invalid="ignore", divide="ignore"):
            beyond = left - right if node.relation in ("<", "<=") else right - left
            beyond = (
                abs(left - right) if node.relation == "==" else -abs(left - right) if node.relation == "!=" else beyond
            )
            scale = np.where((right != 0) & np.isfinite(right), abs(right), 1.0)
            violation = np.where(known, beyond / scale, np.inf)
        terms.append(Term(to_text(node), to_text(node.left), self.kinds[id(node.left)].dimension, left, violation))
        return known, np.asarray(RELATIONS[node.relation](left, right)), violation


class _Reader:
    """Goes through the tree of an objective; notes what it asks, and refuses what a plan cannot answer."""

    def __init__(self, text: str, place: str) -> None:
        self.text, self.place = text, place
        self.found: list[Quantity] = []

    def refuse(self, node: Node) -> NoReturn:
        raise query_error(self.text, node.at, f"{to_text(node)}: not available in a plan", HELP, self.place)

    def condition(self, node: Node) -> None:
        if isinstance(node, N.Discon):
            self.condition(node.left)
            self.condition(node.right)
        elif isinstance(node, N.Negation):
            self.condition(node.operand)
        elif isinstance(node, N.ArithComp):
            self.number(node.left)
            self.number(node.right)
        else:
            self.refuse(node)

    def number(self, node: Node) -> None:
        if isinstance(node, N.ArithOp):
            self.number(node.left)
            self.number(node.right)
        elif not isinstance(node, N.Num):
            quantity = quantity_of(node)
            if quantity is None:
                self.refuse(node)
            self.found.append(quantity)


def quantity_of(node: Node) -> Quantity | None:
    """What a node asks of a configuration; None where no model tells it for many at once."""
    if isinstance(node, N.Measure):
        return Quantity(node.metric, node.station, node.cls)
    if isinstance(node, N.Percentile) and isinstance(node.density, N.RequestTime) and isinstance(node.level, N.Num):
        return Quantity(node.density.time, node.density.station, node.density.cls, node.level.si)
    if isinstance(node, N.Moment) and isinstance(node.density, N.RequestTime) and node.order == N.Num(1.0):
        return Quantity(node.density.time, node.density.station, node.density.cls)
    if isinstance(node, N.FiringRate) and isinstance(node.actions, N.Actions):
        metric = {"arrivals": "arrival_rate", "answered": "throughput"}.get(node.actions.event)
        return None if metric is None else Quantity(metric, "", node.actions.cls)
    if isinstance(node, N.Share) and isinstance(node.part, N.Actions) and node.part.event == "failed":
        return Quantity("loss_probability", "", node.part.cls)
    return None


def _number(node: Node, values: Mapping[Quantity, Array]) -> Any:
    if isinstance(node, N.Num):
        return np.float64(node.si)
    if isinstance(node, N.ArithOp):
        with np.errstate(all="ignore"):
            return OPERATIONS[node.operation](_number(node.left, values), _number(node.right, values))
    quantity = quantity_of(node)
    assert quantity is not None, "checked where it was read"
    return values[quantity]


def _written_out(node: Node, macros: Mapping[str, N.Definition], given: Mapping[str, Node]) -> Node:
    """The tree without macros: each replaced by its body."""
    if isinstance(node, N.Argument):
        return given[node.name]
    if isinstance(node, N.Macro):
        body = macros[node.name]
        arguments = [_written_out(one, macros, given) for one in node.argument]
        return _written_out(body.body, macros, dict(zip(body.arguments, arguments, strict=True)))
    changes: dict[str, Any] = {}
    for name, value in _parts(node):
        if isinstance(value, Node):
            changes[name] = _written_out(value, macros, given)
        elif isinstance(value, tuple) and any(isinstance(x, Node) for x in value):
            changes[name] = tuple(_written_out(x, macros, given) for x in value)
    return replace(node, **changes) if changes else node


def _parts(node: Node) -> Iterator[tuple[str, Any]]:
    for one in fields(node):
        if one.name != "at":
            yield one.name, getattr(node, one.name)
