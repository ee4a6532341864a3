"""A fitted model averaged with those that predict about as well: what they disagree about is in the interval.

Each has a weight, and a predicted value is drawn from one of them by these weights; the interval holds quantiles of the
mixture, its value is the median (J. A. Hoeting et al.: Bayesian Model Averaging. Statistical Science 14(4), 1999,
pp. 382-417). Weights from errors on what was left out: Y. Yao et al.: Using Stacking to Average Bayesian Predictive
Distributions. Bayesian Analysis 13(3), 2018, pp. 917-1007, section 3.4 (pseudo-BMA).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.errors import SojournError
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.predict_model import predict_model
from sojourn.table import Metrics

Array = NDArray[np.float64]
Row = dict[str, Any]
LEVELS = (0.2, 0.5, 0.8, 0.95, 0.98)  # of the intervals from which a distribution is read
GRID = (np.arange(200) + 0.5) / 200
METRICS = ("response_time", "throughput", "saturation_rate")
ABOUT = "averaged over {} models that predict about as well"


def weights(squares: Sequence[float]) -> Array:
    """Weights, sum 1, of models whose errors on what was left out, squared and in units of their standard errors, have these
    sums: the likelihood of what was left out."""
    gap = np.asarray(squares) - min(squares)
    found = np.exp(-gap / 2)
    return np.asarray(found / found.sum())


def predict(fitted: FittedModelData, vary: Mapping[str, Any], level: float) -> Metrics:
    """By the model, and by its alternatives where it has some; see `predict_model.predict_model`."""
    return (predict_averaged if fitted.alternatives else predict_model)(fitted, vary, level)


def predict_averaged(fitted: FittedModelData, vary: Mapping[str, Any], level: float) -> Metrics:
    """As `predict_model`; response times, throughputs and the saturation rate are those of the mixture, the rest of `fitted`."""
    told = predict_model(fitted.alone, vary, level)
    rows = list(told.frame.iter_rows(named=True))
    share = 1 - sum(weight for weight, _ in fitted.alternatives)
    mixture: dict[tuple[Any, ...], list[tuple[float, Array]]] = {}
    for weight, model in ((share, fitted.alone), *fitted.alternatives):
        try:
            found = _distributions(model, vary)
        except SojournError:  # it has no such path
            continue
        for key, values in found.items():
            mixture.setdefault(key, []).append((weight, values))
    made = [_averaged(row, mixture.get(_key(row, vary)), level) for row in rows]
    frame = pl.DataFrame(made, schema=told.frame.schema)
    text = "\n".join(filter(None, (told.message, ABOUT.format(len(fitted.alternatives) + 1))))
    return Metrics(frame, told.method, told.status, text)


def _key(row: Row, vary: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*(row[name] for name in vary), row["station"], row["class"], row["metric"])


def _distributions(model: FittedModelData, vary: Mapping[str, Any]) -> dict[tuple[Any, ...], Array]:
    """What each number of the system would be, at the probabilities of `GRID`; infinite where it is saturated."""
    points: dict[tuple[Any, ...], dict[float, float]] = {}
    for level in LEVELS:
        for row in predict_model(model, vary, level).frame.iter_rows(named=True):
            if row["station"] or row["metric"] not in METRICS:
                continue
            known = points.setdefault(_key(row, vary), {})
            value, low, high = row["value"], row["low"], row["high"]
            saturated = value is None
            known[0.5] = np.inf if saturated else value
            if saturated or low is not None:
                known[(1 - level) / 2] = np.inf if saturated else low
                known[(1 + level) / 2] = np.inf if high is None else high
    return {key: _quantiles(known) for key, known in points.items()}


def _quantiles(known: Mapping[float, float]) -> Array:
    at, values = np.array(sorted(known)), np.array([known[p] for p in sorted(known)])
    finite = np.isfinite(values)
    if not finite.any():
        return np.full(len(GRID), np.inf)
    found = np.exp(np.interp(GRID, at[finite], np.log(np.maximum(values[finite], 1e-300))))
    if not finite.all():  # the next that is known is infinite
        found[(at[finite][-1] + at[~finite][0]) / 2 < GRID] = np.inf
    return found


def _averaged(row: Row, parts: Sequence[tuple[float, Array]] | None, level: float) -> Row:
    if not parts:
        return row
    values = np.concatenate([values for _, values in parts])
    weight = np.concatenate([np.full(len(values), weight / len(values)) for weight, values in parts])
    order = np.argsort(values)
    below = np.cumsum(weight[order]) / weight.sum()
    tail = (1 - level) / 2
    low, middle, high = (float(values[order][np.searchsorted(below, p)]) for p in (tail, 0.5, 1 - tail))
    if row["metric"] == "throughput" and row["low"] is None:  # of an open system: what is offered, while it keeps up
        return row if np.isfinite(middle) else {**row, "value": None, "status": "unstable"}
    if not np.isfinite(low):
        return {**row, "value": None, "low": None, "high": None, "level": None, "status": "unstable"}
    kept = {**row, "low": low, "level": level, "status": "ok" if np.isfinite(high) else "open_above"}
    return {
        **kept,
        "value": middle if np.isfinite(middle) else row["value"],
        "high": high if np.isfinite(high) else None,
    }
