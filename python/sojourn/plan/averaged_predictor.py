"""What a plan asks of a fitted model with alternatives: the same mixture as in predictions, each model with its weight.

Of D draws each model gives its share. Without draws a quantity is the weighted median of what the models say at the values found;
where that is none (an unstable queue) it is beyond all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import SojournError
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_averaging import shared
from sojourn.plan.checked_numbers import check_told
from sojourn.plan.model_predictor import ModelPredictor
from sojourn.plan.objective import Quantity
from sojourn.units import percent

Array = NDArray[np.float64]
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class _Part:
    """One of the models; `known`: the names of what is varied that change something in it."""

    name: str
    weight: float
    predictor: ModelPredictor
    known: frozenset[str]

    def settings(self, given: Settings) -> Settings:
        return {name: value for name, value in given.items() if name in self.known}


class AveragedPredictor(ModelPredictor):
    """`fitted` has alternatives. One that cannot be asked (it has no such path or metric) is left out, and `notes` say so; what was a
    factor of the runs and is none of a model changes nothing there."""

    averages = True

    def __init__(self, fitted: FittedModel, vary: Mapping[str, Sequence[Any]]) -> None:
        check_told(fitted, vary)
        told = {*fitted.model.where, *(name for name in vary if fitted.has(name))}
        super().__init__(fitted, {name: values for name, values in vary.items() if name in told})
        self.given = (fitted, dict(vary))
        self.left_out: dict[str, str] = {}
        self.parts: list[_Part] = []
        for number, (weight, model) in enumerate(fitted.weighted, 1):
            assert isinstance(model, FittedModel), "made by a fit or read from a file"
            known = {n: v for n, v in vary.items() if model.has(n)}
            name = model.model.name or f"model {number}"
            try:
                self.parts.append(_Part(name, weight, ModelPredictor(model, known), frozenset(known)))
            except SojournError as error:
                self.left_out[name] = str(error.value)

    @property
    def notes(self) -> list[str]:
        whole = sum(part.weight for part in self.parts)
        shares = ", ".join(f"{part.name} {part.weight / whole:.2f}" for part in self.parts)
        methods = {method for part in self.parts for method in part.predictor.methods}
        told = [f"solved by {', '.join(sorted(methods))}"]
        if any(part.predictor.fitted is not None and part.predictor.fitted.model_error is None for part in self.parts):
            told.append("the model's own error is not known and not in the draws: the probabilities are too optimistic")
        told.append(f"averaged over {len(self.parts)} models that predict about equally well: {shares}")
        for name in self.given[1]:
            if without := [part for part in self.parts if name not in part.known]:
                share = percent(sum(part.weight for part in without) / whole, 0)
                told.append(
                    f"{name} changes nothing in {len(without)} of the {len(self.parts)} models, with {share} of the weight"
                )
        return told + [f"not of {name}: {why}" for name, why in self.left_out.items()]

    def values(
        self, configurations: Sequence[Settings], levels: Array, wanted: Sequence[Quantity], draws: int = 0
    ) -> dict[Quantity, Array]:
        counts = shared([part.weight for part in self.parts], draws)
        found, answered = [], []
        for number, (part, count) in enumerate(zip(list(self.parts), counts, strict=True)):
            part.predictor.workers = self.workers
            own = [part.settings(one) for one in configurations]
            if draws and not count:
                continue
            try:
                found.append(part.predictor.values(own, levels, wanted, count))
            except SojournError as error:
                if number == 0:
                    raise
                self.left_out[part.name] = str(error.value)
                continue
            answered.append(part)
        if not draws:
            self.parts = answered  # the draws are then of these
            weight = np.array([part.weight for part in answered])
            return {q: _median(np.stack([one[q] for one in found]), weight) for q in wanted}
        return {q: np.concatenate([one[q] for one in found]) for q in wanted}

    def busiest(self, settings: Settings, level: float | None) -> list[tuple[str, float, int]]:
        each: dict[str, list[tuple[float, float, int]]] = {}
        for part in self.parts:
            for station, share, servers in part.predictor.busiest(part.settings(settings), level):
                each.setdefault(station, []).append((part.weight, share, servers))
        found = []
        for station, rows in each.items():
            shares = _median(np.array([share for _, share, _ in rows]), np.array([weight for weight, _, _ in rows]))
            found.append((station, float(shares), rows[0][2]))
        return sorted(found, key=lambda one: -one[1])


def _median(values: Array, weight: Array) -> Array:
    """The weighted median over the first axis, what is not a number beyond all."""
    order = np.argsort(np.where(np.isnan(values), np.inf, values), axis=0, kind="stable")
    below = np.cumsum(weight[order], axis=0) >= weight.sum() / 2
    place = np.argmax(below, axis=0)[None]
    return np.asarray(np.take_along_axis(np.take_along_axis(values, order, 0), place, 0)[0])
