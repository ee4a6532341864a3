"""`ChosenModel`: what was taken of several models, averaged with those that predict about as well, and the words for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.left_out_errors import errors_left_out
from sojourn.fit.model_evaluation import ModelEvaluator
from sojourn.fit.model_weights import RankedModels
from sojourn.fit.neighbour_spread import differences_between_runs
from sojourn.stats.normal_law import MEDIAN_DEVIATION
from sojourn.units import percent

Array = NDArray[np.float64]
NO_EXTRAPOLATION = "do not extrapolate"  # in each sentence of a fit that is not good
FAR = 1.3  # rates of saturation whose ratio is more are far apart
POOR = 0.15  # median error of response times left out, beyond which no model is called good; what runs differ by comes on top
MOST_TOLD = 4  # models with their errors


@dataclass(frozen=True)
class ChosenModel:
    """The model that was taken, with its alternatives; its name, all that were fitted (name → model), why, and whether it is
    any good."""

    best: FittedModel
    name: str
    fits: Mapping[str, FittedModel]
    why: str
    good: bool

    @staticmethod
    def of(
        fits: Mapping[str, FittedModel], found: RankedModels, chosen: FittedModel, notes: Sequence[str] = ()
    ) -> ChosenModel:
        """`chosen`: the fit of `found.chosen`, of as many draws as predictions take."""
        errors = errors_left_out(fits)
        factor, differ = differences_between_runs(fits[found.chosen])
        good = float(np.median(np.abs(errors[found.chosen]))) <= float(np.hypot(POOR, MEDIAN_DEVIATION * differ))
        best = found.averaged(chosen, fits)
        head, *each = _words(errors, found, good, {name for name, one in fits.items() if not one.could_hold_out})
        apart = _apart([model for _, model in best.weighted])
        best = replace(best, warnings=(*(() if good else (head,)), *apart))
        rough = f"  runs differ by {percent(differ)} beside what is smooth in {factor}: repeat them, or measure longer"
        why = [head, *each, *([rough] if differ and not good else []), *(f"  {line}" for line in apart), *notes]
        return ChosenModel(best, found.chosen, fits, "\n".join(why), good)


def _words(errors: Mapping[str, Array], found: RankedModels, good: bool, unheld: Collection[str]) -> list[str]:
    """`unheld`: models of which no configuration could be held out, because the others are fewer than their unknowns."""
    size = {name: float(np.sqrt((e**2).mean())) for name, e in errors.items()}
    order = sorted(size, key=lambda name: size[name])
    held = {
        n: "no run could be held out" if n in unheld else f"{percent(size[n])} error on held-out runs" for n in order
    }
    lines = [f"  {n}: {held[n]}, {_weight(found.share.get(n))}" for n in order[:MOST_TOLD]]
    more = len(found.beside)
    tie = f"; {more} more {'predict' if more > 1 else 'predicts'} equally well, and these runs cannot separate them"
    alone = len(errors) == 1
    head = f"{found.chosen}: {'the only model' if alone else f'best of {len(errors)} models'}{tie if more else ''}"
    if not good:
        several = f"none of {len(errors)} models fits, do not extrapolate; the nearest is {found.chosen}"
        head = f"{found.chosen}: the only model, and it does not fit, {NO_EXTRAPOLATION}" if alone else several
    return [head, *lines]


def _weight(share: float | None) -> str:
    return "left out of predictions" if share is None else f"weight {share:.2f}"


def _apart(models: Sequence[FittedModelData]) -> list[str]:
    """Where models that predict as well saturate at rates that are far apart."""
    found = [float(ModelEvaluator(m.template, [m.configurations[0]]).at(_best(m)).saturation[0]) for m in models]
    ends = [rate for rate in found if np.isfinite(rate)]
    if not ends or max(ends) < FAR * min(ends):
        return []
    return [
        f"models that predict equally well saturate between {min(ends):.3g}/s and {max(ends):.3g}/s: do not extrapolate; measure at "
        "higher rates, or give a model of your own"
    ]


def _best(fitted: FittedModelData) -> Array:
    return np.array([[fitted.estimates[path].value for path in fitted.paths]])
