"""One configuration by one fitted model: each quantity at the values found, and its draws for a new run.

Three parts are drawn together: the unknowns (refits), one factor on all demands (the model's own error, which so grows
towards saturation as response times do, and with the distance from what was fitted), and what a new run differs by from its
mean. A draw that saturates is infinite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError
from sojourn.fit import common_start
from sojourn.fit.drawn_quantiles import of_mean, response_quantiles
from sojourn.fit.factor_mapping import applied, factors_of, path_example
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.measured_range import is_inside
from sojourn.fit.model_error import factor_of
from sojourn.fit.model_evaluation import Key, ModelEvaluator, slower_clocks
from sojourn.fit.run_clusters import KNOWN
from sojourn.fit.watched_servers import watched_servers
from sojourn.fit.window_errors import of_class
from sojourn.solve.markov.stability import SaturationThroughput, saturation
from sojourn.units import quantile_name

Array = NDArray[np.float64]
DEAR_S, FEW_DRAWS = 0.01, 40  # where one answer takes long, fewer draws are asked
LOGS, HALVINGS = 10.0, 45  # a search among shares up to e^10


@dataclass(frozen=True)
class DrawnQuantity:
    """`value` at the values found, infinite where it saturates there; `draws` of a new run; `spread`: whether these make an
    interval, and are not all that is known of a value."""

    value: float
    draws: Array
    spread: bool = True

    def times(self, by: float) -> DrawnQuantity:
        return DrawnQuantity(self.value * by, self.draws * by, self.spread)


@dataclass(frozen=True)
class DrawnPoint:
    """Station, class and metric (response_time, throughput, utilisation, saturation_rate, and `p99`, a quantile of the response time) →
    what is drawn of it. `inside`: whether the configuration lies among those that were measured."""

    quantities: Mapping[Key, DrawnQuantity]
    inside: bool


def drawn_point(fitted: FittedModelData, point: Mapping[str, Any], levels: Sequence[float] = ()) -> DrawnPoint:
    """`point`: factors of the runs and paths of the model → values; `levels`: of quantiles. Raises FitError and ModelError for what the
    model does not have, MethodRefused where no method answers it."""
    fitted = fitted.at(point)
    asked = _AskedPoint.of(fitted, point)
    found = dict(_quantities(fitted, asked.one, asked.kept, asked.settings, levels))
    return DrawnPoint(_as_begun(fitted, asked, found), is_inside(fitted, asked.settings))


def value_at(fitted: FittedModelData, point: Mapping[str, Any], metric: str) -> float:
    """Of the whole system at the values found, infinite where it saturates there; raises what `drawn_point` raises."""
    fitted = fitted.at(point)
    asked = _AskedPoint.of(fitted, point)
    best = np.array([[fitted.estimates[fitted.paths[i]].value for i in asked.kept]])
    found = asked.one.at(best, nearest=False)
    return float(found.values["", "", metric][0]) if found.share[0] < 1 else np.inf


@dataclass(frozen=True)
class _AskedPoint:
    """The model at a point, the unknowns that are not said there, and all that is: factors, those too that all runs had, and paths."""

    one: ModelEvaluator
    kept: list[int]
    settings: dict[str, Any]

    @staticmethod
    def of(fitted: FittedModelData, point: Mapping[str, Any]) -> _AskedPoint:
        point = {_name(fitted, key): value for key, value in point.items()}
        factors = {k: v for k, v in point.items() if "." not in k}
        paths = {k: v for k, v in point.items() if "." in k}
        base = _with_defaults(fitted, factors)
        mapped = factors_of(fitted.template, [base])
        for both in (f for f in mapped if f.name in factors and f.path in paths):
            raise FitError(
                f"{both.name} and {both.path}", "predict", f"give only one of them: {both.name} is set there"
            )
        replaced = {
            f.name for f in mapped if f.path in paths
        }  # factors as all runs had them, where the path is said now
        template = applied(fitted.template, [f for f in mapped if f.path not in paths], base, paths)
        one = ModelEvaluator(template, [{k: v for k, v in base.items() if k not in replaced}])
        for name in factors:
            if name not in {f.name for f in one.factors} and not any(name in run for run in fitted.configurations):
                remedy = f"use a factor of the runs, or a path of the model ({path_example(fitted.model, name)})"
                raise FitError(f"no factor {name}", "predict", remedy)
        said = {*point, *(f"parameters.{name}" for name in factors)}
        parts = tuple(f"{path}." for path in said)  # a time that is said has no fitted mean
        kept = [i for i, path in enumerate(fitted.paths) if path not in said and not path.startswith(parts)]
        return _AskedPoint(one, kept, {**base, **paths})


def _as_begun(fitted: FittedModelData, asked: _AskedPoint, found: dict[Key, DrawnQuantity]) -> dict[Key, DrawnQuantity]:
    """Of a run as long as those that were fitted, which begins with all customers at once (`common_start`)."""
    values = np.array([fitted.estimates[fitted.paths[i]].value for i in asked.kept])
    (ratio,), (less,) = common_start.ratios(asked.one, values, [fitted.run_length_s])
    by = {"throughput": float(less), "utilisation": float(less), "saturation_rate": 1.0}
    return found if ratio == 1 else {key: one.times(by.get(key[2], float(ratio))) for key, one in found.items()}


def _name(fitted: FittedModelData, key: str) -> str:
    """A path of a parameter is its name."""
    name = key.removeprefix("parameters.")
    return name if name in fitted.template.parameters else key


def _quantities(
    fitted: FittedModelData, one: ModelEvaluator, kept: list[int], point: Mapping[str, Any], levels: Sequence[float]
) -> Iterator[tuple[Key, DrawnQuantity]]:
    best = np.array([[fitted.estimates[fitted.paths[i]].value for i in kept]])
    exact = one.at(best, nearest=False)
    few = one.method.cost_s(one.networks[0]) > DEAR_S
    networks = one.networks_at(fitted.draws[: FEW_DRAWS if few else None, kept])
    rng = np.random.default_rng(fitted.seed)
    longer = fitted.longer_at(point, float(exact.share[0]))[: len(networks)]
    networks = slower_clocks(networks, longer)
    drawn = one.solved(networks, nearest=False)
    sensitive = _sensitivity(one, best)
    servers_of = watched_servers(one.networks[0].model)
    stable, all_stable = exact.share[0] < 1, drawn.share < 1
    for (station, cls, metric), values in exact.values.items():
        if (cls and len(one.model.classes) == 1) or metric == "parameter":
            continue
        value = float(values[0])
        if metric == "throughput" and np.isfinite(exact.saturation[0]):  # as many leave as come
            offered = np.where(all_stable, value, np.inf)
            yield (station, cls, metric), DrawnQuantity(value if stable else np.inf, offered, spread=False)
            continue
        times = longer if metric == "response_time" else 1 / longer if metric == "throughput" else 1.0
        spread = np.asarray(drawn.values[station, cls, metric] * times, float)
        by = float(fitted.noise_growth.by(np.array(max(abs(sensitive), 0.5)))) if metric == "response_time" else 1.0
        free = fitted.noise_degrees.get(metric, KNOWN)
        own_noise = fitted.noise.get(of_class(metric, cls), fitted.noise.get(metric, 0.0))
        spread = spread * factor_of(by * own_noise * rng.standard_t(free, len(spread)))
        if metric == "busy":
            if station not in servers_of:
                continue
            servers = float(servers_of[station])
            metric, value, spread = "utilisation", value / servers, spread / servers
        value = value if stable and np.isfinite(value) else np.inf
        full = np.where(np.isfinite(spread) & all_stable, spread, np.inf)
        yield (station, cls, metric), DrawnQuantity(value, full)
    exact_tail, tail = (response_quantiles(one, asked, levels) for asked in (one.networks_at(best), networks))
    for q in tail:
        free = fitted.noise_degrees.get("response_time", KNOWN)
        wide = float(fitted.noise_growth.by(np.array(max(abs(sensitive), 0.5)))) * of_mean(q)
        noise = factor_of(wide * fitted.noise.get("response_time", 0.0) * rng.standard_t(free, len(longer)))
        value = float(exact_tail[q][0]) if stable else np.inf
        yield ("", "", quantile_name(q)), DrawnQuantity(value, np.where(all_stable, tail[q] * longer * noise, np.inf))
    if not one.networks[0].closed.any():
        held = saturation(one.networks_at(best)[0])
        limit = _saturation(
            held, float(exact.saturation[0]), _limits(fitted, point, float(exact.saturation[0]), drawn.saturation)
        )
        if limit is not None:
            yield ("", "", "saturation_rate"), limit


def _saturation(held: SaturationThroughput | None, rate_per_s: float, drawn: Array) -> DrawnQuantity | None:
    """`held`: what pools, regions and blocking let through; None where there are none."""
    if held is not None:  # no interval is better than a wrong one
        return DrawnQuantity(held.rate_per_s, np.array([held.rate_per_s]), spread=False) if held.exact else None
    return DrawnQuantity(rate_per_s, drawn) if np.isfinite(rate_per_s) else None


def _limits(fitted: FittedModelData, point: Mapping[str, Any], rate_per_s: float, drawn: Array) -> Array:
    """The saturation rate of each draw by the model, `drawn`, less by its error, which grows with the load up to there: by bisection of
    the share of `rate_per_s`, the saturation rate at the values found."""
    if fitted.fitted_saturation_shares is None or not np.isfinite(rate_per_s):
        return np.asarray(drawn / fitted.longer_at(point)[: len(drawn)])
    low, high = np.full(len(fitted.draws), -LOGS), np.full(len(fitted.draws), LOGS)
    most = np.resize(drawn / rate_per_s, len(low))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        full = np.exp(middle) * fitted.longer_at(point, np.exp(middle)) > most
        low, high = np.where(full, low, middle), np.where(full, middle, high)
    return np.asarray(rate_per_s * np.exp(low)[: len(drawn)])


def _sensitivity(one: ModelEvaluator, best: Array) -> float:
    """By how much the logarithm of the response time grows with that of all demands."""
    plain = one.networks_at(best)
    key = ("", "", "response_time")
    now, later = (one.solved(n).values[key][0] for n in (plain, slower_clocks(plain, np.array([1.001]))))
    return float(np.nan_to_num(np.log(later / now) / 1e-3 + 1, nan=1.0)) if now > 0 else 1.0


def _with_defaults(fitted: FittedModelData, factors: Mapping[str, Any]) -> dict[str, Any]:
    """Factors that are not said are those that all runs had alike. Raises FitError for one that varied and is not said, unless the model
    says that it changes nothing."""
    known: dict[str, set[str]] = {}
    for one in fitted.configurations:
        for name, value in one.items():
            known.setdefault(name, set()).add(repr(value))
    idle = {name for name, paths in fitted.template.factors.items() if not paths}
    missing = [n for n, values in known.items() if len(values) > 1 and n not in {*factors, *idle}]
    if missing:
        remedy = f"give it, as in --set {missing[0]}=…: it varied between the runs"
        raise FitError(f"no {' and no '.join(missing)}", "predict", remedy)
    usual = {
        n: fitted.configurations[0][n]
        for n, values in known.items()
        if len(values) == 1 and n in fitted.configurations[0]
    }
    return {**usual, **factors}
