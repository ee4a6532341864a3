"""Which of several models of the same runs is named, and the weight of each in predictions.

All are judged by the same numbers: of each configuration that was left out the mean response time (else the throughput), predicted
by a fit to the others. What a model observes beside it, such as a busy core, is not compared, because rivals observe different
things. The unit of an error is what runs of such a length are known by, the same for all models. Weights: Y. Yao et al.: Using
Stacking to Average Bayesian Predictive Distributions. Bayesian Analysis 13(3), 2018, pp. 917-1007, section 3.4 (pseudo-BMA). The
simplest is named whose squared errors are within one standard error of the least (L. Breiman et al., Classification and
Regression Trees (1984), 3.4.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.fit_problem import FLOOR
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.fitted_model_data import FittedModelData

Array = NDArray[np.float64]
METRICS = ("response_time", "throughput")  # in the order in which models are judged by them
LEAST_WEIGHT = 0.02  # of a model in the predictions


@dataclass(frozen=True)
class RankedModels:
    """`chosen`: the name of the simplest of those that predict as well as the best; `share`: name → weight of it and of those that
    are averaged with it, sum 1."""

    chosen: str
    share: Mapping[str, float]

    @property
    def beside(self) -> list[str]:
        """Those that are averaged with it."""
        return [name for name in self.share if name != self.chosen]

    def averaged(self, chosen: FittedModel, fits: Mapping[str, FittedModel]) -> FittedModel:
        """`chosen` with the others as its alternatives; what these are averages of themselves is taken apart."""
        parts: list[tuple[float, FittedModelData]] = []
        for name in self.beside:
            parts += [(self.share[name] * weight, model) for weight, model in fits[name].weighted]
        _, *own = chosen.weighted
        own_parts = [(self.share[self.chosen] * weight, model) for weight, model in own]
        return replace(chosen, alternatives=(*own_parts, *parts))


def ranked(fits: Mapping[str, FittedModel], squares: Mapping[str, Array]) -> RankedModels:
    """`squares`: name → squared errors on what was left out, in units of their standard errors, in one order for all."""
    alike = _alike(squares)
    chosen = min(alike, key=lambda name: (len(fits[name].paths), squares[name].sum()))
    share = dict(zip(fits, weights([s.sum() for s in squares.values()]), strict=True))
    kept = [name for name in fits if share[name] >= LEAST_WEIGHT or name == chosen]
    whole = sum(share[name] for name in kept)
    return RankedModels(chosen, {name: float(share[name] / whole) for name in kept})


def weights(squares: Sequence[float]) -> Array:
    """Weights, sum 1, of models whose errors on what was left out, squared and in units of their standard errors, have these
    sums: the likelihood of what was left out."""
    gap = np.asarray(squares) - min(squares)
    found = np.exp(-gap / 2)
    return np.asarray(found / found.sum())


def _alike(squares: Mapping[str, Array]) -> list[str]:
    """Those within one standard error of the least mean square. Noise alone has one of sqrt(2/n) (chi²), however equal the
    errors of the best happen to be."""
    if not len(next(iter(squares.values()))):
        return list(squares)  # nothing was left out that all tell
    least = min(squares.values(), key=lambda s: float(s.mean()))
    error = max(least.std(ddof=1), np.sqrt(2) * min(1.0, float(least.mean()))) if len(least) > 1 else least.mean()
    limit = least.mean() + error / np.sqrt(len(least))
    return [name for name, values in squares.items() if values.mean() <= limit]


def errors_left_out(fits: Mapping[str, FittedModel]) -> dict[str, Array]:
    """Logarithms of predicted by measured, a configuration left out each: of response times, else of throughputs, as all have them."""
    found = {}
    for name, fitted in fits.items():
        rows = [fitted.held_out[i][metric] for i, metric in _compared(fits)]
        errors = np.array([float(str(value)) for value in rows])
        found[name] = np.asarray(np.log1p(np.maximum(errors, -0.99)))
    return found


def squares_left_out(fits: Mapping[str, FittedModel], runs: FitRuns) -> dict[str, Array]:
    """The same, squared and in units of what runs of such a length are known by."""
    known = []
    configurations = next(iter(fits.values())).configurations
    for i, metric in _compared(fits):
        same = [run for run in runs.runs if run.factors == configurations[i] and ("", metric) in run.means]
        within = np.array([run.means["", metric][1] for run in same])
        known.append(FLOOR[metric] ** 2 + float((within**2).mean()) / len(within))
    return {name: np.asarray(errors**2 / np.array(known)) for name, errors in errors_left_out(fits).items()}


def _compared(fits: Mapping[str, FittedModel]) -> list[tuple[int, str]]:
    """Configurations by number, each with a metric that all models were judged by there."""
    rows = list(zip(*(fitted.held_out for fitted in fits.values()), strict=True))
    metrics = [next((m for m in METRICS if all(m in row for row in each)), None) for each in rows]
    return [(i, metric) for i, metric in enumerate(metrics) if metric is not None]
