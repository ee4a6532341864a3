"""A fitted model → configurations nobody has run, with intervals; `gain` between two of them.

An interval joins two parts, in the logarithm and by quadrature: the parameters (quantiles over the bootstrap draws) and
the model's own error (root mean square at held-out rates, times Student's t). The sampling noise of a measurement
yet to be made is not in it. The saturation rate has the model's error in the utilisation of the cores that saturate first,
and at a rate within its interval no response time has an upper limit. Outside what was measured, and close to saturation,
the model error is a lower bound; column `inside` says which rates were measured around.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from sojourn.errors import InputError
from sojourn.fit.fitted import Estimate, Fitted, check_level
from sojourn.fit.forward import KNOWN, Spec
from sojourn.solve import status
from sojourn.solve.mmm import ROWS as MMM_ROWS
from sojourn.solve.mmm import mmm
from sojourn.solve.two_class import ROWS, two_class
from sojourn.table import Metrics

Array = NDArray[np.float64]
ABOUT = "intervals: parameters and model error; the sampling noise of a new measurement is not in them"
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
    limiting = _limiting(exact)
    rows = []
    for row in exact.frame.to_dicts():
        k = index[row["rate_per_s"]]
        draw = np.broadcast_to(spread[keys[row["station"], row["metric"]]], (len(_first(draws)), at.size))[:, k]
        found = _interval(row, draw, fitted, level, limiting)
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
) -> Estimate:
    """Saturation rate of configuration `to` over that of `from_`, each (cores, nics), with an interval as
    `predict`'s."""
    spec, values, draws = _with(fitted, overrides, level)
    value = float(spec.saturation(values, 1.0, *to) / spec.saturation(values, 1.0, *from_))
    spread = np.asarray(spec.saturation(draws, 1.0, *to) / spec.saturation(draws, 1.0, *from_))
    row = {"value": value, "metric": "saturation_rate", "station": "", "status": "ok"}
    found = _interval(row, spread, fitted, level, LEADING)
    return Estimate(value, found["low"], found["high"])


def _with(
    fitted: Fitted, overrides: dict[str, float | str], level: float
) -> tuple[Spec, dict[str, float], dict[str, Array]]:
    """The model as overridden, parameter values, and their draws."""
    check_level(level)
    unknown = set(overrides) - KNOWN
    if unknown:
        raise InputError(", ".join(sorted(unknown)), "override", f"use some of {', '.join(sorted(KNOWN))}")
    replaced = {"p"} if "p_rule" in overrides else set()
    given = {k: v for k, v in fitted.given.items() if k not in replaced} | overrides
    Spec(fitted.model, fitted.variant, given)  # checks the ranges
    fixed = {name: float(overrides[name]) for name in fitted.parameters if name in overrides}
    gone = replaced | set(fixed)
    values = {name: e.value for name, e in fitted.parameters.items() if name not in gone} | fixed
    draws = {name: np.array(draw) for name, draw in fitted.samples.items() if name not in gone}
    size = len(_first({name: np.array(draw) for name, draw in fitted.samples.items()}))
    draws |= {name: np.full(size, value) for name, value in fixed.items()}
    return Spec(fitted.model, fitted.variant, {k: v for k, v in given.items() if k not in fixed}), values, draws


def _solve(spec: Spec, values: dict[str, float], rates: Array, cores: int, nics: int) -> Metrics:
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


def _interval(row: dict[str, Any], draw: Array, fitted: Fitted, level: float, limiting: str) -> dict[str, Any]:
    value, metric = row["value"], row["metric"]
    if value is None or value <= 0 or metric == "arrival_rate" or row["status"] == "as_printed":
        return {}
    low, high = np.quantile(
        np.where(np.isfinite(draw), draw, np.inf), [(1 - level) / 2, (1 + level) / 2], method="nearest"
    )
    quantity = limiting if metric == "saturation_rate" else ERROR_OF.get(metric, "")
    quantity = TRAILING if metric == "utilisation" and row["station"] == "trailing" else quantity
    errors = sum(quantity in held_out for held_out in fitted.held_out)
    own = fitted.model_error_of(quantity) * stdtrit(errors, (1 + level) / 2) if errors else 0.0
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
