"""What several models of the same runs were wrong by on configurations that were left out: by the same numbers, in the same unit.

Compared is the mean response time (else the throughput) of each configuration, predicted by a fit to the others. What a model
observes beside it, such as a busy core, is not compared, because rivals observe different things. The unit of an error is what runs
of such a length are known by, and no model's own: one that is sure of little there gains nothing by it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.run_measurements import FLOOR

Array = NDArray[np.float64]
METRICS = ("response_time", "throughput")  # in the order in which models are judged by them


def errors_left_out(fits: Mapping[str, FittedModel]) -> dict[str, Array]:
    """Logarithms of predicted by measured, a configuration left out each."""
    found = {}
    for name, fitted in fits.items():
        rows = [fitted.held_out[i][metric] for i, metric in _compared(fits)]
        errors = np.array([float(str(value)) for value in rows])
        found[name] = np.asarray(np.log1p(np.maximum(errors, -0.99)))
    return found


def squares_left_out(fits: Mapping[str, FittedModel], runs: FitRuns) -> dict[str, Array]:
    """The same, squared, in units of what runs of such a length are known by."""
    known = _known(fits, runs)
    return {name: np.asarray(errors**2 / known) for name, errors in errors_left_out(fits).items()}


def _compared(fits: Mapping[str, FittedModel]) -> list[tuple[int, str]]:
    """Configurations by number, each with a metric that all models were judged by there."""
    rows = list(zip(*(fitted.held_out for fitted in fits.values()), strict=True))
    metrics = [next((m for m in METRICS if all(m in row for row in each)), None) for each in rows]
    return [(i, metric) for i, metric in enumerate(metrics) if metric is not None]


def _known(fits: Mapping[str, FittedModel], runs: FitRuns) -> Array:
    """The variance of the logarithm that runs of each configuration are known by, and that no model resolves."""
    found = []
    configurations = next(iter(fits.values())).configurations
    for i, metric in _compared(fits):
        same = [run for run in runs.runs if run.factors == configurations[i] and ("", metric) in run.means]
        within = np.array([run.means["", metric][1] for run in same])
        found.append(FLOOR[metric] ** 2 + float((within**2).mean()) / len(within))
    return np.array(found)
