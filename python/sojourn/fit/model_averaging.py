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
from sojourn.units import quantile_name

Array = NDArray[np.float64]
Row = dict[str, Any]
Part = tuple[float, DrawnQuantity]  # with the weight of its model
MOST_NAMED = 3  # models of an average
LIMIT = ("", "", "saturation_rate")


class ModelMixture:
    """A fitted model and its alternatives; `notes`: what a reader must know of the points that were asked."""

    def __init__(self, fitted: FittedModelData) -> None:
        self.models = fitted.weighted
        self.names = [model.model.name or f"model {number}" for number, (_, model) in enumerate(self.models, 1)]
        self.without: dict[str, str] = {}  # model → why it answers no point
        self.partly: dict[str, str] = {}  # station or class → the models that have it

    @property
    def notes(self) -> list[str]:
        if len(self.models) == 1:
            return []
        shares = [f"{name} {weight:.2f}" for name, (weight, _) in zip(self.names, self.models, strict=True)]
        return [
            f"averaged over {len(self.models)} models that predict about equally well: {_named(shares)}",
            *(f"{what}: of {models}" for what, models in self.partly.items()),
            *(f"not of {name}: {why}" for name, why in self.without.items()),
        ]

    def rows(self, point: Mapping[str, Any], level: float, quantiles: Sequence[float] = ()) -> list[Row]:
        """Those of one configuration. Raises what `drawn_point` raises where no model answers, or the first cannot be asked."""
        drawn = self._drawn(point, quantiles)
        levels = {quantile_name(q): q for q in quantiles}
        keys = dict.fromkeys(key for _, _, one in drawn for key in one.quantities)
        found = []
        for key in sorted(keys, key=lambda key: key == LIMIT):
            station, cls, metric = key
            have = [(name, weight, one.quantities[key]) for name, weight, one in drawn if key in one.quantities]
            if len(have) < len(drawn):
                share = sum(weight for _, weight, _ in have) / sum(weight for _, weight, _ in drawn)
                names = _named([name for name, _, _ in have])
                self.partly[station or cls or metric.replace("_", " ")] = f"{names} alone, {share:.2f} of the weight"
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
