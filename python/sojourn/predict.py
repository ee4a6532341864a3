"""A fitted model → configurations nobody has run, with intervals; `gain` between two of them.

An interval joins two parts, in the logarithm and by quadrature: the parameters (quantiles over the bootstrap draws) and
the model's own error (root mean square at held-out rates, times Student's t; what runs that were held out are uncertain
by is in it). Errors of response times grow with the load: each counts over the root of its `sensitivity`, d log R / d
log S, and is larger by that root at the rate that is predicted. (Over twelve systems, benches/blind of 2026-11-22,
errors grew from 6 % at 20 % of saturation to 14 % at 80 %, as the power 0.66 of it: one error for all loads was too
much at the first and too little at the last.) The saturation rate has the model's error in the utilisation of the cores
that saturate first, and at a rate within its interval no response time has an upper limit. Outside what was measured,
and close to saturation, the model error is a lower bound; column `inside` says which rates were measured around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from sojourn.errors import InputError
from sojourn.fit.fit_data import NEAREST
from sojourn.fit.fitted import ERRORS, Fitted, ParameterEstimate, check_level
from sojourn.fit.forward_model import KNOWN, TwoClassSpec
from sojourn.solve import status
from sojourn.solve.mmm_cores import ROWS as MMM_ROWS
from sojourn.solve.mmm_cores import mmm
from sojourn.solve.two_class import ROWS, two_class
from sojourn.table import Metrics

__all__ = ["gain", "predict"]

Array = NDArray[np.float64]
ABOUT = "intervals: parameters, and errors at rates held out"
OUTSIDE = "some rows (inside = false) are outside what was measured: the model error there can be larger"
# metric → the held-out quantity whose error it shares; a metric not here depends on the parameters alone
ERROR_OF = {
    "response_time": "response_time",
    "residence_time": "response_time",
    "queue_length": "response_time",
    "throughput": "throughput",
    "utilisation": "utilisation_leading",
    "softirq_utilisation": "utilisation_leading",
}
LEADING, TRAILING = "utilisation_leading", "utilisation_trailing"
UNBOUNDED = ("response_time", "residence_time", "queue_length", "waiting_time")  # at saturation
STEP = 1e-4  # of a rate, for its derivative
MOST_LOG = 100.0  # of an upper limit over its value; more is none
_SHARES = ("utilisation", "softirq_utilisation", "loss_probability", "queue_length_probability")


def predict(
    fitted: Fitted, rates: ArrayLike, *, cores: int, nics: int, level: float = 0.95, **overrides: float | str
) -> Metrics:
    """Metrics at `rates` (1/s, > 0) for 1 <= nics <= cores, with low and high at `level`; rows as the solver has them.

    `overrides` replace parameters or what was given (mu1_per_s, mu2_per_s, mu_per_s, handoff_s, crossing_s, client_s, p, p_rule,
    capacity, …), without uncertainty of their own. Factor `inside`: this configuration was measured around this rate.
    high is null, status `open_above`, where the rate may already saturate: part of the draws is saturated, or the interval of
    the saturation rate begins below it. Raises InputError.
    """
    spec, values, draws = _with(fitted, overrides, level)
    at = np.atleast_1d(np.asarray(rates, float))
    exact = _solve(spec, values, at, cores, nics)
    spread = spec.solve({name: draw[:, None] for name, draw in draws.items()}, at[None], cores, nics)
    keys = {(station, metric): key for key, station, metric in (MMM_ROWS if spec.model == "mmm" else ROWS)}
    index = {float(rate): k for k, rate in enumerate(at)}
    own = _own_errors(fitted, spec, values, at, cores, nics, level, _limiting(exact))
    rows = []
    for row in exact.frame.to_dicts():
        k = index[row["rate_per_s"]]
        draw = np.broadcast_to(spread[keys[row["station"], row["metric"]]], (len(_first(draws)), at.size))[:, k]
        found = _interval(row, draw, level, own(row, k))
        rows.append(row | found | {"inside": fitted.inside(row["rate_per_s"], cores, nics)})
    _open_near_saturation(rows)
    notes = [
        status.message({row["status"] for row in rows}),
        ABOUT,
        *([] if all(row["inside"] for row in rows) else [OUTSIDE]),
    ]
    return Metrics.of(rows, f"{exact.method}, fitted", exact.status, "\n".join(filter(None, notes)))


def gain(
    fitted: Fitted, from_: Sequence[int], to: Sequence[int], level: float = 0.95, **overrides: float | str
) -> ParameterEstimate:
    """Saturation rate of configuration `to` over that of `from_`, each (cores, nics), with an interval as
    `predict`'s."""
    spec, values, draws = _with(fitted, overrides, level)
    value = float(spec.saturation(values, 1.0, *to) / spec.saturation(values, 1.0, *from_))
    spread = np.asarray(spec.saturation(draws, 1.0, *to) / spec.saturation(draws, 1.0, *from_))
    row = {"value": value, "metric": "saturation_rate", "station": "", "status": "ok"}
    found = _interval(row, spread, level, _half(fitted.errors_of(LEADING), level))
    return ParameterEstimate(value, found["low"], found["high"])


def _with(
    fitted: Fitted, overrides: dict[str, float | str], level: float
) -> tuple[TwoClassSpec, dict[str, float], dict[str, Array]]:
    """The model as overridden, parameter values, and their draws."""
    check_level(level)
    unknown = set(overrides) - KNOWN
    if unknown:
        raise InputError(", ".join(sorted(unknown)), "override", f"use some of {', '.join(sorted(KNOWN))}")
    replaced = {"p"} if "p_rule" in overrides else set()
    given = {k: v for k, v in fitted.given.items() if k not in replaced} | overrides
    TwoClassSpec(fitted.model, fitted.variant, given)  # checks the ranges
    fixed = {name: float(overrides[name]) for name in fitted.parameters if name in overrides}
    gone = replaced | set(fixed)
    values = {name: e.value for name, e in fitted.parameters.items() if name not in gone} | fixed
    draws = {name: np.array(draw) for name, draw in fitted.samples.items() if name not in gone}
    size = len(_first({name: np.array(draw) for name, draw in fitted.samples.items()}))
    draws |= {name: np.full(size, value) for name, value in fixed.items()}
    return TwoClassSpec(fitted.model, fitted.variant, {k: v for k, v in given.items() if k not in fixed}), values, draws


def _solve(spec: TwoClassSpec, values: dict[str, float], rates: Array, cores: int, nics: int) -> Metrics:
    if spec.model == "mmm":
        return mmm(rates, mu_per_s=values["mu_per_s"], cores=cores, nics=nics)
    given: dict[str, Any] = {**spec.given, **values}
    if given.get("capacity") is not None:
        given["capacity"] = int(given["capacity"])
    return two_class(rates, cores=cores, nics=nics, variant=spec.variant, **given)


def _limiting(exact: Metrics) -> str:
    """The error of which cores the saturation rate shares: of those that are full first."""
    rows = exact.frame.filter(metric="utilisation").filter(pl.col("value").is_not_null())
    busiest = rows.sort("value", descending=True)["station"].head(1).to_list()
    return TRAILING if busiest == ["trailing"] else LEADING


def _open_near_saturation(rows: list[dict[str, Any]]) -> None:
    """No upper limit where the rate lies in the interval of the saturation rate, or beyond."""
    limits = [row["low"] for row in rows if row["metric"] == "saturation_rate" and row["station"] == ""]
    lowest = min((low for low in limits if low is not None), default=np.inf)
    for row in rows:
        if row["metric"] in UNBOUNDED and row["high"] is not None and row["rate_per_s"] >= lowest:
            row |= {"high": None, "status": "open_above"}


def sensitivity(
    spec: TwoClassSpec, values: Mapping[str, ArrayLike], rates: ArrayLike, cores: ArrayLike, nics: ArrayLike
) -> Array:
    """d log R / d log S at each rate (1/s), S all times of a request; 1 or more. R(rate; c S) = c R(c rate; S), so it is
    1 + d log R / d log rate. At and beyond saturation that of a rate next to it."""
    rates, cores, nics = (np.asarray(v, float) for v in np.broadcast_arrays(rates, cores, nics))
    at = np.minimum(rates, NEAREST * np.asarray(spec.saturation(values, rates, cores, nics), float))
    here, there = (np.asarray(spec.solve(values, at * f, cores, nics)["response"], float) for f in (1, 1 + STEP))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = 1 + np.log(there / here) / np.log1p(STEP)
    return np.maximum(np.nan_to_num(found, nan=1.0), 1.0)


def _own_errors(
    fitted: Fitted,
    spec: TwoClassSpec,
    values: dict[str, float],
    at: Array,
    cores: int,
    nics: int,
    level: float,
    limiting: str,
) -> Callable[[dict[str, Any], int], float]:
    """Half of the interval by the model's own error, of the logarithm, for a row at the k-th rate."""
    halves = {name: _half(fitted.errors_of(name), level) for name in (*ERRORS, "")}
    rows = [row for row in fitted.held_out if "response_time" in row]
    grows = np.ones(at.size)
    if rows:
        where = [np.array([float(row[name]) for row in rows]) for name in ("rate_per_s", "cores", "nics")]
        errors = np.array([row["response_time"] for row in rows]) / np.sqrt(sensitivity(spec, values, *where))
        halves["response_time"] = _half(errors, level)
        grows = np.sqrt(sensitivity(spec, values, at, cores, nics))

    def own(row: dict[str, Any], k: int) -> float:
        metric = row["metric"]
        quantity = limiting if metric == "saturation_rate" else ERROR_OF.get(metric, "")
        quantity = TRAILING if metric == "utilisation" and row["station"] == "trailing" else quantity
        return halves[quantity] * (float(grows[k]) if quantity == "response_time" else 1.0)

    return own


def _half(errors: ArrayLike, level: float) -> float:
    """Root mean square times Student's t; 0 where there is none."""
    found = np.asarray(errors, float)
    return float(np.sqrt(np.mean(found**2)) * stdtrit(found.size, (1 + level) / 2)) if found.size else 0.0


def _interval(row: dict[str, Any], draw: Array, level: float, own: float) -> dict[str, Any]:
    value, metric = row["value"], row["metric"]
    if value is None or value <= 0 or metric == "arrival_rate" or row["status"] == "as_printed":
        return {}
    low, high = np.quantile(
        np.where(np.isfinite(draw), draw, np.inf), [(1 - level) / 2, (1 + level) / 2], method="nearest"
    )
    down = np.hypot(np.log(value / max(min(low, value), 1e-300)), own)
    found: dict[str, Any] = {"low": float(value * np.exp(-down)), "high": None, "level": level}
    up = np.hypot(np.log(max(high, value) / value), own)
    if up < MOST_LOG:
        top = value * np.exp(up)
        found["high"] = float(min(top, max(1.0, value)) if metric in _SHARES else top)
    elif row["status"] == "ok":
        found["status"] = "open_above"
    return found


def _first(draws: dict[str, Array]) -> Array:
    return next(iter(draws.values()))
