"""What several models of the same runs were wrong by on configurations that were left out: by the same numbers, in the same unit.

Compared is the mean response time (else the throughput) of each configuration, predicted by a fit to the others, and what resources were
busy with, of those that all models observe: one that bends its demands to get response times right is wrong there. What only some of
them observe is not compared. The unit of an error is what such a prediction is off by where its model is right (`left_out_variance`), the
median over the models, and no model's own: one that is sure of little there gains nothing by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.fit_problem import BUSY
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.run_measurements import FLOOR, floor_of_busy

Array = NDArray[np.float64]
METRICS = ("response_time", "throughput")  # in the order in which models are judged by them


@dataclass(frozen=True)
class SquaresLeftOut:
    """`squares`: name of a model → squared errors on what was left out, in units of their standard errors, in one order for all;
    `configurations`: the number of the configuration that each is of. Errors of one configuration go together."""

    squares: Mapping[str, Array]
    configurations: NDArray[np.int64]

    def with_more(self, more: Mapping[str, list[float]], configurations: list[int]) -> SquaresLeftOut:
        """With the same number of squared errors more of each model."""
        squares = {name: np.append(own, more[name]) for name, own in self.squares.items()}
        return SquaresLeftOut(squares, np.append(self.configurations, np.asarray(configurations, np.int64)))

    def by_configuration(self, name: str) -> Array:
        """Sums of the squared errors of a model, one a configuration."""
        _, number = np.unique(self.configurations, return_inverse=True)
        return np.asarray(np.bincount(number, self.squares[name]), np.float64)


def errors_left_out(fits: Mapping[str, FittedModel]) -> dict[str, Array]:
    """Logarithms of predicted by measured response times (else throughputs), a configuration left out each."""
    compared = [(i, name) for i, name in _compared(fits) if name in METRICS]
    return {name: _logarithms(fitted, compared) for name, fitted in fits.items()}


def squares_left_out(fits: Mapping[str, FittedModel], runs: FitRuns) -> SquaresLeftOut:
    """The same, and those of busy resources, squared, in units of what runs of such a length are known by."""
    compared = list(_compared(fits))
    first = next(iter(fits.values()))
    same = [[run for run in runs.runs if run.factors == one] for one in first.configurations]
    known = np.array([_known(same[i], name, first) + _foretold(fits, i, name) for i, name in compared])
    squares = {name: np.asarray(_logarithms(fitted, compared) ** 2 / known) for name, fitted in fits.items()}
    return SquaresLeftOut(squares, np.array([i for i, _ in compared], dtype=np.int64))


def _logarithms(fitted: FittedModel, compared: list[tuple[int, str]]) -> Array:
    errors = np.array([float(str(fitted.held_out[i][name])) for i, name in compared])
    return np.asarray(np.log1p(np.maximum(errors, -0.99)))


def _compared(fits: Mapping[str, FittedModel]) -> Iterator[tuple[int, str]]:
    """Configurations by number, each with what all models were judged by there."""
    for i, rows in enumerate(zip(*(fitted.held_out for fitted in fits.values()), strict=True)):
        common = [name for name in rows[0] if all(name in row for row in rows)]
        yield from [(i, name) for name in METRICS if name in common][:1]
        yield from [(i, name) for name in common if name.startswith(BUSY)]


def _foretold(fits: Mapping[str, FittedModel], i: int, name: str) -> float:
    """The variance that such predictions have where their models are right, the median over the models."""
    return float(np.median([fitted.held_out_variance[i][name] for fitted in fits.values()]))


def _known(runs: list[FitRun], name: str, fitted: FittedModel) -> float:
    """The variance of the logarithm that no model resolves, and of busy resources what runs of a configuration are known by."""
    if name in METRICS:
        return FLOOR[name] ** 2
    own = [run for run in runs if _busy(run, name, fitted)]
    station, busy = _busy(own[0], name, fitted)[0]
    # the work of so many exponential services has the relative variance of their number
    count = float(np.mean([run.means.get(("", "throughput"), (0.0, 0.0))[1] ** 2 for run in own]))
    return floor_of_busy(station, busy) ** 2 + count / len(own)


def _busy(run: FitRun, name: str, fitted: FittedModel) -> list[tuple[str, float]]:
    """Station, or part of one, that is watched by the resources in `name`, and how many of its servers were at work."""
    watched, busy = run.watched(fitted.template), run.busy_at(fitted.template)
    return [(s, busy[s]) for s, names in watched.items() if s in busy and name == BUSY + ", ".join(names)]
