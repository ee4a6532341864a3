"""Who calls whom, how often a request: from visits and their callers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.traces.linked_spans import LinkedSpans
from sojourn.traces.span_table import CLIENT, PRODUCER, SpanTable
from sojourn.traces.visits import Visits


@dataclass(frozen=True)
class Call:
    """`caller` is "" for requests from outside, or where the caller's span is missing. `a_request`: calls a request, over all classes;
    `counted`: in the traces; `asynchronous`: the share for which the caller does not wait; `parallel`: the share that ran beside other
    calls of the same span."""

    caller: str
    callee: str
    a_request: float
    counted: int
    asynchronous: float
    parallel: float


def call_graph(
    table: SpanTable,
    found: Visits,
    linked: LinkedSpans,
    weight: NDArray[np.float64],
    parallel: NDArray[np.bool_],
    names: Mapping[int, str],
) -> list[Call]:
    """Edges, in the order in which they are first seen."""
    whole = float(weight[linked.roots].sum())
    # a call has a span on either side, of which the caller's may lack
    above = np.maximum(linked.parent[found.span], 0)
    by_caller = (linked.parent[found.span] >= 0) & np.isin(table.kind[above], (CLIENT, PRODUCER))
    side_by_side = parallel[found.span] | (by_caller & parallel[above])
    calls: list[Call] = []
    pairs = np.column_stack([found.caller, found.station])
    kinds, first, where = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    where = where.ravel()
    for one in np.argsort(first).tolist():
        own = where == one
        w = weight[found.span[own]]
        caller, callee = kinds[one].tolist()
        calls.append(
            Call(
                names.get(caller, ""), names[callee], float(w.sum()) / whole, int(own.sum()),
                float(w[found.asynchronous[own]].sum() / w.sum()), float(w[side_by_side[own]].sum() / w.sum()),
            )
        )  # fmt: skip
    return calls
