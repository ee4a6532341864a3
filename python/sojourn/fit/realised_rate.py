"""What a run was asked by chance more or less than its rate says: open arrivals are random, and their number is counted.

The mean response time of a run in which 1 % more came than its rate says is larger by d log R/d log rate of that, and what was busy by
the same 1 %. Both are put back to the rate of the run, which takes out of their errors what the count explains (a control
variate: S. S. Lavenberg, P. D. Welch: A Perspective on the Use of Control Variables to Increase the Efficiency of Monte Carlo
Simulations. Management Science 27(3), 1981, pp. 322-335). With R(rate; c S) = c R(c rate; S), S all times of service,

    d log R/d log rate = d log R/d log S - 1

A run that did far less than it was asked was saturated: it is left as it is.

Where a model is judged by a run, it is asked for the rate that came, `came_per_s`: what came is known, and no part of the prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.fit_runs import FitRun
from sojourn.model import Model, Open

Array = NDArray[np.float64]
SHORTFALL, ERRORS = 0.03, 3.0  # of the rate, and of the count's standard errors: more is not chance
OTHER = 2.0  # times the rate, or a part of it: what was counted is something else than the rate is of
LEAST = 0.5  # of the error of a mean, which is left whatever its count explains: the count's error is an estimate


def excess(run: FitRun, model: Model) -> tuple[float, float]:
    """Logarithm of what was done over what the run was asked (`rate_per_s`), and its standard error; 0 for other loads than one open
    class."""
    rate = run.factors.get("rate_per_s")
    one = len(model.classes) == 1 and isinstance(model.classes[0], Open)
    if not one or isinstance(rate, bool) or not isinstance(rate, int | float) or ("", "throughput") not in run.means:
        return 0.0, 0.0
    done, error = run.means["", "throughput"]
    found = float(np.log(done / rate)) if rate > 0 else 0.0
    return (found, error) if abs(found) <= SHORTFALL + ERRORS * error else (0.0, 0.0)


def came_per_s(rate_per_s: object, arrivals_per_s: float | None) -> float | None:
    """The rate at which requests came, 1/s, of a run that was asked for `rate_per_s`; None where nobody counted, or something else."""
    if (
        isinstance(rate_per_s, bool)
        or not isinstance(rate_per_s, int | float)
        or not rate_per_s > 0
        or not arrivals_per_s
    ):
        return None
    return float(arrivals_per_s) if 1 / OTHER <= arrivals_per_s / rate_per_s <= OTHER else None


def run_came_per_s(run: FitRun, model: Model) -> float | None:
    """Of one open class; by the answers where arrivals were not counted. None for other loads."""
    if len(model.classes) != 1 or not isinstance(model.classes[0], Open):
        return None
    rate = run.factors.get("rate_per_s")
    counted = came_per_s(rate, run.measured.get(("", "", "arrival_rate")))
    more, _ = excess(run, model)
    return counted if counted is not None or not more else came_per_s(rate, float(np.exp(more)) * float(rate or 0.0))


@dataclass(frozen=True)
class RealisedRates:
    """Of n measured numbers: `metric`, and the `excess` of its run with its standard `error`."""

    metric: tuple[str, ...]
    excess: Array
    error: Array

    @staticmethod
    def of(runs: Sequence[FitRun], metrics: Sequence[str], model: Model) -> RealisedRates:
        """`runs`: the run of each number."""
        each = np.array([excess(run, model) for run in runs]).reshape(-1, 2)
        return RealisedRates(tuple(metrics), each[:, 0], each[:, 1])

    def shift(self, growth: Array) -> Array:
        """What is added to each logarithm; `growth`: d log R/d log S, of response times."""
        return -self._slope(growth) * self.excess

    def left(self, error: Array, growth: Array) -> Array:
        """What of the relative standard errors of means remains."""
        explained = self._slope(growth) * self.error
        return np.asarray(np.sqrt(np.maximum(error**2 - explained**2, (LEAST * error) ** 2)))

    def _slope(self, growth: Array) -> Array:
        slopes = {"response_time": growth - 1, "busy": np.ones_like(growth)}
        found = np.zeros_like(growth)
        for metric, slope in slopes.items():
            own = np.array([name == metric for name in self.metric])
            found[own] = slope[own]
        return found
