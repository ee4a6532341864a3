"""A fitted model averaged with those that predict about as well: what they disagree about is in the interval.

Each has a weight (`model_weights`), and all numbers of one configuration are those of one mixture: the draws of each model, each
with an equal part of its weight; a value is the median (J. A. Hoeting et al.: Bayesian Model Averaging. Statistical Science
14(4), 1999, pp. 382-417). A draw that saturates is infinite in each of its numbers, so that response time, utilisation and
saturation rate agree. What only some of the models have, such as a station, is of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import MethodRefused, SojournError
from sojourn.fit.drawn_point import DrawnPoint, DrawnQuantity, drawn_point
from sojourn.fit.drawn_quantiles import METRIC as QUANTILE
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.units import percent, quantile_name

Array = NDArray[np.float64]
Row = dict[str, Any]
Part = tuple[float, DrawnQuantity]  # with the weight of its model
MOST_NAMED = 3  # models of an average
LIMIT = ("", "", "saturation_rate")
NEAR = 0.8  # of the saturation rate: beyond it lower rates are asked too, these shares of it
LOWER = (0.3, 0.5, 0.7, 0.8, 0.9)


class ModelMixture:
    """A fitted model and its alternatives; `notes`: what a reader must know of the points that were asked."""

    def __init__(self, fitted: FittedModelData) -> None:
        self.models = fitted.weighted
        self.names = [model.model.name or f"model {number}" for number, (_, model) in enumerate(self.models, 1)]
        self.without: dict[str, str] = {}  # model → why it answers no point
        self.partly: dict[str, tuple[int, float]] = {}  # what some models lack → how many have it, and their weight
        self.lower: dict[str, list[Row]] = {}  # a point at a lower rate → its rows

    @property
    def notes(self) -> list[str]:
        if len(self.models) == 1:
            return []
        shares = [f"{name} {weight:.2f}" for name, (weight, _) in zip(self.names, self.models, strict=True)]
        return [
            f"averaged over {len(self.models)} models that predict about equally well: {_named(shares)}",
            *self._partly,
            *(f"not of {name}: {why}" for name, why in self.without.items()),
        ]

    @property
    def _partly(self) -> list[str]:
        """What only some of the models have, one line for all that the same number of them has."""
        same: dict[tuple[int, float], list[str]] = {}
        for what, of in self.partly.items():
            same.setdefault(of, []).append(what)
        return [
            f"{', '.join(names)}: by {count} of the {len(self.models)} models, with {percent(share, 0)} of the weight"
            for (count, share), names in same.items()
        ]

    def rows(self, point: Mapping[str, Any], level: float, quantiles: Sequence[float] = ()) -> list[Row]:
        """Those of one configuration; near saturation and beyond it response times do not begin below those of lower rates
        (`_not_below`). Raises what `drawn_point` raises where no model answers, or the first cannot be asked."""
        found = self._rows(point, level, quantiles)
        name = rate_name(point)
        limit = next((row["value"] for row in found if row["metric"] == LIMIT[2]), None)
        if name is None or limit is None or point[name] <= NEAR * limit:
            return found
        for share in (one for one in LOWER if one * limit < point[name]):
            lower = self._at_lower_rate({**point, name: share * limit}, level, quantiles)
            found = [_not_below(row, lower) for row in found]
        return found

    def _at_lower_rate(self, point: Mapping[str, Any], level: float, quantiles: Sequence[float]) -> list[Row]:
        """Asked once; nothing where no model answers there."""
        key = repr((point, level, quantiles))
        if key not in self.lower:
            try:
                self.lower[key] = self._rows(point, level, quantiles, noted=False)
            except SojournError:
                self.lower[key] = []
        return self.lower[key]

    def _rows(
        self, point: Mapping[str, Any], level: float, quantiles: Sequence[float], noted: bool = True
    ) -> list[Row]:
        """`noted`: whether what only some of the models have is worth a note."""
        drawn = self._drawn(point, quantiles)
        levels = {quantile_name(q): q for q in quantiles}
        keys = dict.fromkeys(key for _, _, one in drawn for key in one.quantities)
        found = []
        for key in sorted(keys, key=lambda key: key == LIMIT):
            station, cls, metric = key
            have = [(name, weight, one.quantities[key]) for name, weight, one in drawn if key in one.quantities]
            if len(have) < len(drawn):
                share = sum(weight for _, weight, _ in have) / sum(weight for _, weight, _ in drawn)
                what = station or cls or metric.replace("_", " ")
                if noted:
                    self.partly[what] = min((len(have), share), self.partly.get(what, (len(have), share)))
            row = mixed([(weight, one) for _, weight, one in have], level)
            if metric == "utilisation" and row["value"] is not None:
                # a run may measure more, and no station does more
                row |= {"value": min(row["value"], 1.0), "low": min(row["low"], 1.0)}
            told = {"metric": metric} if metric not in levels else {"metric": QUANTILE, "q": levels[metric]}
            found.append({"station": station, "class": cls, "in_validated_range": drawn[0][2].inside} | told | row)
        return found

    def _drawn(self, point: Mapping[str, Any], levels: Sequence[float]) -> list[tuple[str, float, DrawnPoint]]:
        found: list[tuple[str, float, DrawnPoint]] = []
        first: SojournError | None = None
        for name, (weight, model) in zip(self.names, self.models, strict=True):
            try:
                found.append((name, weight, drawn_point(model, point, levels)))
            except SojournError as error:
                first = first or error
                if model is self.models[0][1] and not isinstance(error, MethodRefused):
                    raise
                self.without[name] = str(error.value)
        if not found and first is not None:
            raise first
        return found


def _named(names: Sequence[str]) -> str:
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return "; ".join([*names[:MOST_NAMED], *more])


def mixed(parts: Sequence[Part], level: float) -> Row:
    """Value, interval and status of one quantity by models with weights; of one model the value is that of its best values."""
    draws = np.concatenate([one.draws for _, one in parts])
    weight = np.concatenate([np.full(len(one.draws), weight / len(one.draws)) for weight, one in parts])
    low, middle, high = quantiles(draws, weight, [(1 - level) / 2, 0.5, (1 + level) / 2])
    value = parts[0][1].value if len(parts) == 1 else middle
    known = float(value) if np.isfinite(value) else None
    if not all(one.spread for _, one in parts):
        return {"value": known, "status": "unstable" if known is None else "ok"}
    if known is None and not np.isfinite(low):
        return {"value": None, "low": None, "high": None, "level": None, "status": "unstable"}
    found: Row = {"value": known, "low": float(min(low, value)), "level": level}
    if known is None or not np.isfinite(high):
        return found | {"high": None, "status": "open_above"}
    return found | {"high": float(max(high, value)), "status": "ok"}


def quantiles(draws: Array, weight: Array, at: Sequence[float]) -> Array:
    """The least of the draws, of such weights, that these probabilities do not exceed."""
    order = np.argsort(draws, kind="stable")
    below = np.cumsum(weight[order]) / weight.sum()
    places = np.searchsorted(below, np.asarray(at) - 1e-12)
    return np.asarray(draws[order][np.minimum(places, len(draws) - 1)])


def shared(weights: Sequence[float], count: int) -> list[int]:
    """`count` in these proportions, whole numbers, the largest remainders rounded up."""
    exact = np.asarray(weights) / sum(weights) * count
    whole = np.floor(exact).astype(int)
    whole[np.argsort(whole - exact)[: count - int(whole.sum())]] += 1
    return [int(n) for n in whole]


def rate_name(point: Mapping[str, Any]) -> str | None:
    """Of a point that gives one rate of arrivals, which of its names that is; None where it gives none, or several."""
    named = [name for name in point if name.rpartition(".")[2] == "rate_per_s"]
    return named[0] if len(named) == 1 and isinstance(point[named[0]], int | float) else None


def _not_below(row: Row, lower: Sequence[Row]) -> Row:
    """A response time whose interval begins no lower than at a lower rate: with more arrivals a new run of the same service waits at least
    as long. By themselves the errors of a prediction grow without bound towards saturation, and reach below the time of a lone request."""
    if row["metric"] not in ("response_time", QUANTILE) or row.get("low") is None:
        return row
    place = [row.get(name) for name in ("station", "class", "metric", "q")]
    same = next(
        (one for one in lower if [one.get(name) for name in ("station", "class", "metric", "q")] == place), None
    )
    if same is None or same.get("low") is None:
        return row
    if row["value"] is not None and (same["value"] is None or row["value"] < same["value"]):  # a response that falls
        return row
    return row | {"low": max(row["low"], same["low"])}
