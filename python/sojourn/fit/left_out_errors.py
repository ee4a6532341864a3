"""What several models of the same runs were wrong by on configurations that were left out: by the same numbers, in the same unit.

Compared is the mean response time (else the throughput) of each configuration, predicted by a fit to the others. What a model
observes beside it, such as a busy core, is not compared, because rivals observe different things.

    e   logarithm of predicted by measured              v   variance that runs of such a length are known by, the same for all models
    p   variance from the unknowns, by the draws        t   variance from the model's own error

Left out, a configuration takes 1/v of the precision 1/p with it, so that what is foretold of it there has the variance
v + 1/(1/p - 1/v) + t = v²/(v - p) + t: a model whose unknowns hardly tell such a configuration without it must not lose for that.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.drawn_point import DEAR_S, FEW_DRAWS
from sojourn.fit.fit_problem import FLOOR
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_evaluation import ModelEvaluator, slower_clock

Array = NDArray[np.float64]
METRICS = ("response_time", "throughput")  # in the order in which models are judged by them
MOST_TAKEN = 0.9  # of p by v: beyond it nearly nothing but the configuration itself tells of it
DRAWS, STEP = 60, 1e-3


def errors_left_out(fits: Mapping[str, FittedModel]) -> dict[str, Array]:
    """e of each configuration."""
    found = {}
    for name, fitted in fits.items():
        rows = [fitted.held_out[i][metric] for i, metric in _compared(fits)]
        errors = np.array([float(str(value)) for value in rows])
        found[name] = np.asarray(np.log1p(np.maximum(errors, -0.99)))
    return found


def squares_left_out(fits: Mapping[str, FittedModel], runs: FitRuns) -> dict[str, Array]:
    """e²/v of each."""
    known = _known(fits, runs)
    return {name: np.asarray(errors**2 / known) for name, errors in errors_left_out(fits).items()}


def deviances_left_out(fits: Mapping[str, FittedModel], runs: FitRuns) -> dict[str, float]:
    """-2 times the logarithm of the density that each model, fitted without a configuration, has there; sums over all, less a constant
    that is the same for all models."""
    known, errors = _known(fits, runs), errors_left_out(fits)
    found = {}
    for name, fitted in fits.items():
        unknown, own = _spread(fitted, _compared(fits))
        variance = known / (1 - np.minimum(unknown / known, MOST_TAKEN)) + own
        found[name] = float((np.log(variance / known) + errors[name] ** 2 / variance).sum())
    return found


def _compared(fits: Mapping[str, FittedModel]) -> list[tuple[int, str]]:
    """Configurations by number, each with a metric that all models were judged by there."""
    rows = list(zip(*(fitted.held_out for fitted in fits.values()), strict=True))
    metrics = [next((m for m in METRICS if all(m in row for row in each)), None) for each in rows]
    return [(i, metric) for i, metric in enumerate(metrics) if metric is not None]


def _known(fits: Mapping[str, FittedModel], runs: FitRuns) -> Array:
    """v of each."""
    found = []
    configurations = next(iter(fits.values())).configurations
    for i, metric in _compared(fits):
        same = [run for run in runs.runs if run.factors == configurations[i] and ("", metric) in run.means]
        within = np.array([run.means["", metric][1] for run in same])
        found.append(FLOOR[metric] ** 2 + float((within**2).mean()) / len(within))
    return np.array(found)


def _spread(fitted: FittedModel, compared: list[tuple[int, str]]) -> tuple[Array, Array]:
    """p and t of each. Half of the distance between the 16 % and 84 % quantiles stands for a standard deviation: draws have tails."""
    evaluator = ModelEvaluator(fitted.template, fitted.configurations)
    few = evaluator.method.cost_s(evaluator.networks[0]) > DEAR_S
    drawn = evaluator.at(fitted.draws[: FEW_DRAWS if few else DRAWS]).values
    plain = evaluator.networks_at(np.array([[fitted.estimates[path].value for path in fitted.paths]]))
    longer = [slower_clock(network, 1 + STEP) for network in plain]
    now, later = (evaluator.solved(networks).values for networks in (plain, longer))
    unknown, own = [], []
    for i, metric in compared:
        logs = np.log(drawn["", "", metric].reshape(-1, len(evaluator.networks))[:, i])
        low, high = np.nanquantile(logs, [0.16, 0.84])
        unknown.append(((high - low) / 2) ** 2)
        slope = np.log(later["", "", metric][i] / now["", "", metric][i]) / STEP
        slope += 1.0 if metric == "response_time" else -1.0  # seen from the slower clock
        own.append((float(np.nan_to_num(slope, nan=1.0)) * (fitted.model_error or 0.0)) ** 2)
    return np.array(unknown), np.array(own)
