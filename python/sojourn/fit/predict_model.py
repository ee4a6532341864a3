"""A fitted model in configurations that nobody has run, with intervals for a new run.

An interval has three parts, drawn together: the unknowns (refits), one factor on all demands (the model's own error, which
so grows towards saturation as response times do), and what a new run differs by from its mean. Where part of the draws
saturates there is no upper end (`open_above`). A column `inside` says whether a configuration lies among those that were
measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError, MethodRefused
from sojourn.fit.factor_mapping import applied, factors_of
from sojourn.fit.fitted import check_level
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.model_evaluation import ModelEvaluator, slower_clock
from sojourn.fit.run_clusters import KNOWN
from sojourn.fit.watched_servers import watched_servers
from sojourn.model import Model
from sojourn.model.unknown_parameters import Unknown, replaced
from sojourn.solve import status
from sojourn.solve.markov.stability import SaturationThroughput, saturation
from sojourn.table import Metrics

Array = NDArray[np.float64]
Row = dict[str, Any]
DEAR_S, FEW_DRAWS = 0.01, 40  # where one answer takes long, fewer draws are asked
ABOUT = "intervals are for a new run: unknowns, the model's own error, and what runs differ by"
ABOUT_LESS = "intervals hold the unknowns and what runs differ by; the model's own error is not known, and not in them: vary more"


def predict_model(fitted: FittedModelData, vary: Mapping[str, Sequence[Any] | Any], level: float = 0.95) -> Metrics:
    """Response time, throughput, utilisation by station and the saturation rate at all combinations of `vary`.

    Keys are factors of the runs (rate_per_s, users, workers …) or paths of the model; they become columns. Raises InputError
    for a level outside (0, 1), FitError and ModelError for what the model does not have.
    """
    check_level(level)
    lists = {
        k: list(v) if isinstance(v, Sequence | np.ndarray) and not isinstance(v, str) else [v] for k, v in vary.items()
    }
    points = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
    rows: list[Row] = []
    names: set[str] = set()
    refused: list[str] = []
    for point in points:
        try:
            told = list(point_rows(fitted, point, level))
        except MethodRefused as error:
            refused.append(f"{', '.join(f'{k} = {v}' for k, v in point.items())}: {error.value}")
            told = [{"metric": "response_time", "value": None, "status": "not_answered", "inside": False}]
        rows += [row | point for row in told]
        names |= {row["status"] for row in told}
    text = "\n".join(
        filter(
            None, (status.message(names), *refused, ABOUT_LESS if fitted.model_error is None else ABOUT, _outside(rows))
        )
    )
    return Metrics.of(rows, f"{fitted.method}, fitted", status.worst(names), text)


def _outside(rows: Sequence[Row]) -> str:
    return (
        ""
        if all(row["inside"] for row in rows)
        else "inside = false: beyond what was measured, where a model can be further off"
    )


def point_rows(fitted: FittedModelData, point: Mapping[str, Any], level: float) -> Iterator[Row]:
    """The rows of one configuration, factors and paths → values."""
    factors = {k: v for k, v in point.items() if "." not in k}
    paths = {k: v for k, v in point.items() if "." in k}
    kept = [i for i, path in enumerate(fitted.paths) if path not in point]
    base = _with_defaults(fitted, factors)
    template = applied(fitted.template, factors_of(fitted.template, [base]), base, paths)
    one = ModelEvaluator(template, [base])
    for name in factors:
        if name not in {f.name for f in one.factors} and not any(name in run for run in fitted.configurations):
            remedy = "use a factor of the runs, or a path of the model (stations.cpu.servers)"
            raise FitError(f"no factor {name}", "predict", remedy)
    best = np.array([[fitted.estimates[fitted.paths[i]].value for i in kept]])
    exact = one.at(best, nearest=False)
    few = one.method.cost_s(one.networks[0]) > DEAR_S
    networks = one.networks_at(fitted.draws[: FEW_DRAWS if few else None, kept])
    rng = np.random.default_rng(fitted.seed)
    longer = fitted.longer[: len(networks)]
    drawn = one.solved([slower_clock(n, f) for n, f in zip(networks, longer, strict=True)], nearest=False)
    inside = _inside(fitted, base, point)
    sensitive = _sensitivity(one, best)
    servers_of = watched_servers(one.networks[0].model)
    for key, values in exact.values.items():
        station, cls, metric = key
        if cls and len(template.classes) == 1:
            continue
        here = {"station": station, "class": cls, "metric": metric, "inside": inside}
        if metric == "throughput" and np.isfinite(exact.saturation[0]):  # as many leave as come
            stable = exact.share[0] < 1
            yield here | {"value": float(values[0]) if stable else None, "status": "ok" if stable else "unstable"}
            continue
        times = longer if metric == "response_time" else 1 / longer if metric == "throughput" else 1.0
        spread = np.asarray(drawn.values[key] * times, float)
        by = max(abs(sensitive), 0.5) if metric == "response_time" else 1.0
        free = fitted.noise_degrees.get(metric, KNOWN)
        noise = by * fitted.noise.get(metric, 0.0) * rng.standard_t(free, len(spread))
        row = _row(float(values[0]), spread * np.exp(noise), float(exact.share[0]), drawn.share, level)
        if metric == "busy":
            if station not in servers_of:
                continue
            servers = servers_of[station]
            row = {k: v / servers if k in ("value", "low", "high") and v is not None else v for k, v in row.items()}
            here["metric"] = "utilisation"
        yield here | row
    if not one.networks[0].closed.any():
        held = saturation(one.networks_at(best)[0])
        told = _saturation(held, float(exact.saturation[0]), drawn.saturation / longer, level)
        if told is not None:
            yield {"station": "", "class": "", "metric": "saturation_rate", "inside": inside, "status": "ok", **told}


def _saturation(held: SaturationThroughput | None, rate_per_s: float, drawn: Array, level: float) -> Row | None:
    """`held`: what pools, regions and blocking let through; None where there are none."""
    if held is not None:  # no interval is better than a wrong one
        return {"value": held.rate_per_s} if held.exact else None
    if not np.isfinite(rate_per_s):
        return None
    ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return {"value": rate_per_s, "low": float(ends[0]), "high": float(ends[1]), "level": level}


def _sensitivity(one: ModelEvaluator, best: Array) -> float:
    """By how much the logarithm of the response time grows with that of all demands."""
    plain = one.networks_at(best)
    key = ("", "", "response_time")
    now, later = (one.solved(n).values[key][0] for n in (plain, [slower_clock(p, 1.001) for p in plain]))
    return float(np.nan_to_num(np.log(later / now) / 1e-3 + 1, nan=1.0)) if now > 0 else 1.0


def _with_defaults(fitted: FittedModelData, factors: Mapping[str, Any]) -> dict[str, Any]:
    """Factors that are not said are those that all runs had alike. Raises FitError for one that varied and is not said."""
    known: dict[str, set[str]] = {}
    for one in fitted.configurations:
        for name, value in one.items():
            known.setdefault(name, set()).add(repr(value))
    missing = [n for n, values in known.items() if len(values) > 1 and n not in factors]
    if missing:
        remedy = f"say it, as in --set {missing[0]}=…: it varied between the runs"
        raise FitError(f"no {' and no '.join(missing)}", "predict", remedy)
    usual = {
        n: fitted.configurations[0][n]
        for n, values in known.items()
        if len(values) == 1 and n in fitted.configurations[0]
    }
    return {**usual, **factors}


def _inside(fitted: FittedModelData, base: Mapping[str, Any], point: Mapping[str, Any]) -> bool:
    """Whether each factor lies between the least and the most of the runs, and no number of the model was changed."""
    if any("." in key for key in point):
        return False
    for name, value in base.items():
        seen = [one[name] for one in fitted.configurations if name in one]
        numbers = [v for v in seen if isinstance(v, int | float)]
        if numbers and isinstance(value, int | float):
            if not min(numbers) <= value <= max(numbers):
                return False
        elif value not in seen:
            return False
    return True


def _row(value: float, spread: Array, share: float, shares: Array, level: float) -> Row:
    if share >= 1 or not np.isfinite(value):
        return {"value": None, "low": None, "high": None, "level": None, "status": "unstable"}
    full = np.where(np.isfinite(spread) & (shares < 1), spread, np.inf)
    low, high = np.quantile(full, [(1 - level) / 2, (1 + level) / 2], method="nearest")
    found: Row = {"value": value, "low": float(min(low, value)), "level": level}
    if not np.isfinite(high):
        return found | {"high": None, "status": "open_above"}
    return found | {"high": float(max(high, value)), "status": "ok"}


def template_of(model: Model, paths: Sequence[str], values: Sequence[float]) -> Model:
    """The model with unknowns again, as a fitted file has lost them."""
    return replaced(model, {path: Unknown(value, 0.0) for path, value in zip(paths, values, strict=True)})
