"""Quantiles of the response time of a fitted model: at the values found, and for a new run.

Only what the method of the model tells of the whole system (one station, or stations in a row without overtaking). The model is fitted to
means: how long its tail is was not fitted.

What a new run differs by in a quantile is taken as what it differs by in its mean, times what an exponential law has between the
two. A quantile x of n times has the standard error sqrt(q (1 - q)/n)/f(x), f the density (A. M. Mood, F. A. Graybill, D. C. Boes,
Introduction to the Theory of Statistics (1974), p. 257): relative to x, sqrt(q/(1 - q))/ln(1/(1 - q)) times that of the mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.model_evaluation import ModelEvaluator
from sojourn.model.network_arrays import Network
from sojourn.solve.load_dependent_times import at_load
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.registry import BUDGET_S
from sojourn.solve.solution import Solution

Array = NDArray[np.float64]
METRIC = "response_time_quantile"


def response_quantiles(one: ModelEvaluator, networks: Sequence[Network], levels: Sequence[float]) -> dict[float, Array]:
    """Level → s, one for each network, for the whole system; infinite where it saturates. Nothing where the method tells none."""

    def means(asked: Sequence[Network]) -> Solution:
        return one.method.run(asked, RequestedOutputs((), None, BUDGET_S, further=False))

    if not levels:
        return {}
    solution = one.method.run(at_load(networks, means), RequestedOutputs(tuple(levels), None, BUDGET_S))
    rows = [row for row in solution.more if row["metric"] == METRIC]
    first = networks[0]
    once = len(first.stations) == 1 and np.all(np.isin(first.visits[0], (0.0, 1.0)))
    stations = ["", *(first.stations[:1] if once else ())]
    classes = ["", *(first.classes if len(first.classes) == 1 else ())]
    for station in stations:
        for cls in classes:
            own = [row for row in rows if (row.get("station", ""), row.get("class", "")) == (station, cls)]
            if own:
                return {q: _by_point([row for row in own if row["q"] == q], len(networks)) for q in levels}
    return {}


def _by_point(rows: Sequence[Mapping[str, float]], points: int) -> Array:
    found = np.full(points, np.inf)
    for row in rows:
        value = row["value"]
        if value is not None and math.isfinite(value):
            found[int(row.get("point", 0))] = value
    return found


def of_mean(q: float) -> float:
    """By how much the relative error of a quantile is larger than that of the mean, of an exponential law."""
    return math.sqrt(q / (1 - q)) / math.log(1 / (1 - q))
