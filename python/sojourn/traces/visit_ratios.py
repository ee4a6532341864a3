"""Visits of a request of each class at each station, with intervals.

A trace that was kept with probability p stands for 1/p requests. The mean is the ratio of weighted sums over requests, its
variance that of a ratio estimator (W. G. Cochran, Sampling Techniques, 3rd ed. (1977), section 2.11), with two requests added that
have a visit more and a visit less: where no difference was seen among N requests, one in 3/N may still be there.

Spans may be missing. Of the parents that spans name, other than their request's own span, a share q is not there; if spans are lost
independently of what they are, that is the share of all that are lost: visits are those counted over 1 - q. An interval reaches from the
visits that are sure, as if none was lost, to all that may be visits over 1 less the upper end of q, each with its sampling error. Lost
spans that had no children show in q alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.stats.student import student_quantile
from sojourn.traces.linked_spans import Index, LinkedSpans
from sojourn.traces.span_table import SpanTable
from sojourn.traces.visits import Visits
from sojourn.units import USUAL_LEVEL

Array = NDArray[np.float64]
MOST_LOST = 0.99  # share of spans that visits are corrected for


@dataclass(frozen=True)
class VisitRatio:
    """Visits a request, with the interval [low, high] at 90 %; `counted`: visits in the traces, unweighted."""

    mean: float
    low: float
    high: float
    counted: int


def weights(table: SpanTable, linked: LinkedSpans, sampled: float | None) -> Array:
    """(spans,): how many spans each stands for. `sampled`: the probability where spans do not say one; 1 where nobody does. A span
    that does not say its own has that of its request."""
    usual = 1.0 if sampled is None else sampled
    of_root = table.probability[np.maximum(linked.root, 0)]
    p = np.where(np.isnan(table.probability), np.where(np.isnan(of_root), usual, of_root), table.probability)
    return 1.0 / np.asarray(p, float)


def missing_share(linked: LinkedSpans) -> tuple[float, float]:
    """The share of spans that are lost, and its upper end at 95 %, by Agresti and Coull's interval; 0 where none is known to be."""
    if not linked.absent:
        return 0.0, 0.0
    z = 1.645
    share, size = min(linked.absent / linked.referenced, MOST_LOST), linked.referenced + z * z
    centre = (linked.absent + z * z / 2) / size
    return share, min(centre + z * (centre * (1 - centre) / size) ** 0.5, MOST_LOST)


def visit_ratios(
    of_class: Index, classes: int, linked: LinkedSpans, found: Visits, weight: Array, stations: int
) -> list[Mapping[int, VisitRatio]]:
    """For each class: station → visits. `of_class` (requests,): the class of each of `linked.roots`."""
    number = np.full(len(linked.root), -1)
    number[linked.roots] = np.arange(len(linked.roots))
    request = number[linked.root[found.span]]
    each = weight[found.span] / weight[linked.root[found.span]]
    key = request * stations + found.station
    keys, where = np.unique(key, return_inverse=True)
    entry = found.span == linked.root[found.span]  # a request's own span, which is there or the request is not known
    every = np.bincount(where, each * ~entry, len(keys))
    sure = np.bincount(where, each * (found.sure & ~entry), len(keys))
    own_visits = np.bincount(where, each * entry, len(keys))
    spans = np.bincount(where, minlength=len(keys))
    rows, station = np.divmod(keys, stations)
    lost, most_lost = missing_share(linked)
    w = weight[linked.roots]
    result: list[Mapping[int, VisitRatio]] = []
    for cls in range(classes):
        own = w[of_class == cls]
        told: dict[int, VisitRatio] = {}
        mine = of_class[rows] == cls
        for one in np.unique(station[mine]).tolist():
            at = mine & (station == one)
            counted = int(spans[at].sum())
            begun = float((w[rows[at]] * own_visits[at]).sum() / own.sum())
            if not every[at].any():
                told[one] = VisitRatio(begun, begun, begun, counted)
                continue
            v_low, h_low = _ratio(sure[at], w[rows[at]], own)
            v_all, h_all = _ratio(every[at], w[rows[at]], own)
            mean = min(v_low / (1 - lost), v_all / (1 - most_lost))
            low, high = max(v_low - h_low, 0.0), (v_all + h_all) / (1 - most_lost)
            told[one] = VisitRatio(begun + mean, begun + low, begun + high, counted)
        result.append(told)
    return result


def _ratio(counts: Array, w: Array, own: Array) -> tuple[float, float]:
    """Mean, and half of its interval: `counts` of requests that have any, with their weights `w`; `own`: weights of all requests."""
    whole, squares = float(own.sum()), float((own**2).sum())
    mean = float((w * counts).sum()) / whole
    size = whole**2 / squares  # as many requests of equal weights tell as much
    spread = float((w**2 * (counts - mean) ** 2).sum()) + mean**2 * max(squares - float((w**2).sum()), 0.0)
    variance = spread / squares  # of one request
    half = (
        student_quantile(0.5 + USUAL_LEVEL / 2, max(size - 1, 1.0))
        * (((size * variance + 2.0) / (size + 2.0)) / size) ** 0.5
    )
    return mean, half
