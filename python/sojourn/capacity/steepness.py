"""How steeply a figure rises with the rate, by a model."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sojourn.plan.objective import Quantity
from sojourn.plan.predictor import Predictor

Array = NDArray[np.float64]
APART = 0.03  # of the rate, on both sides


def steepness(predictor: Predictor, rates_per_s: Array, quantity: Quantity, draws: int) -> tuple[Array, Array]:
    """The figure at each rate, s, and d ln figure/d ln rate there: medians over `draws` of the model; infinite or not a number where it is
    full. Raises what a predictor does."""
    asked = np.concatenate([rates_per_s * (1 - APART), rates_per_s, rates_per_s * (1 + APART)])
    order = np.argsort(asked, kind="stable")
    told = predictor.values([{}], asked[order], [quantity], min(draws, predictor.draws))[quantity][:, 0, :]
    told = np.where(np.isfinite(told) & (told > 0), told, np.inf)
    values = np.empty_like(told)
    values[:, order] = told
    below, at, above = np.split(values, 3, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        risen = np.log(above / below) / math.log((1 + APART) / (1 - APART))
    risen = np.where(np.isfinite(risen), risen, np.inf)
    return np.median(at, axis=0), np.median(risen, axis=0)
