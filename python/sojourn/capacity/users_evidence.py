"""What a few users say of a model: how much each of its draws counts.

Low rates tell badly where a service is full, and models that fit them equally well are full at rates far apart. Users who wait for each
other tell it within some per cent (`light_load`). Each draw of the model, and so each of the models that are averaged, counts by how well
the rate at which it is full agrees with that (importance weights: Gelman et al., Bayesian Data Analysis (2013), 10.4). One look at users
in some is disturbed, so that no draw counts for nothing, and where none agrees all count alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sojourn.capacity.rate_interval import RateInterval
from sojourn.errors import SojournError
from sojourn.fit import FittedModel
from sojourn.fit.model_averaging import quantiles
from sojourn.plan.objective import Quantity
from sojourn.plan.predictor import Predictor, predictor_of

Array = NDArray[np.float64]
DRAWS = 200
POINTS, AROUND = 40, 1.8  # rates at which a draw is looked at, from the users' rate over AROUND to AROUND times it
DIFFERS = 0.05  # standard deviation of the logarithm of what users get over what a service bears of an open load
DISTURBED = 0.02  # of looks at users


@dataclass(frozen=True)
class UsersEvidence:
    """`weights` of the draws of a model, the largest about 1; `saturation`: where these draws are full, with its interval."""

    weights: Array
    saturation: RateInterval

    @staticmethod
    def of(fitted: FittedModel, few: RateInterval, level: float) -> UsersEvidence | None:
        """By `few`, where the users say it is full, an interval of `level`, whose upper end may be open. None where the model does not
        answer."""
        rates = np.geomspace(few.value / AROUND, few.value * AROUND, POINTS)
        try:
            full = saturations(predictor_of(fitted, {}), rates)
        except SojournError:
            return None
        weights = _weights(full, few, level)
        low, middle, high = quantiles(full, weights, [(1 - level) / 2, 0.5, (1 + level) / 2])
        if not np.isfinite(middle):
            return UsersEvidence(weights, RateInterval(float(rates[-1]), float(min(low, rates[-1])), None))
        return UsersEvidence(
            weights, RateInterval(float(middle), float(low), float(high) if np.isfinite(high) else None)
        )


def saturations(predictor: Predictor, rates_per_s: Array) -> Array:
    """By draw: where its mean response time becomes infinite, between the rates, as 1/(C - rate) does there; infinite beyond them."""
    mean = Quantity("response_time")
    told = predictor.values([{}], rates_per_s, [mean], min(DRAWS, predictor.draws))[mean][:, 0, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = np.where(np.isfinite(told) & (told > 0), 1 / told, 0.0)  # 0 where it is full
    found = np.full(len(told), np.inf)
    for row, one in enumerate(speed):
        if one.all():
            continue
        k = int(np.argmin(one > 0))
        found[row] = rates_per_s[k]
        if k > 1:
            fallen = (one[k - 2] - one[k - 1]) / (rates_per_s[k - 1] - rates_per_s[k - 2])
            at = rates_per_s[k - 1] + one[k - 1] / fallen if fallen > 0 else math.inf
            found[row] = min(at, rates_per_s[k])
    return found


def _weights(full_per_s: Array, few: RateInterval, level: float) -> Array:
    """A normal law of the logarithm, of another width below than above, and a floor; without an upper end nothing above counts less."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    below = math.hypot(math.log(few.value / few.low) / z, DIFFERS)
    above = math.inf if few.high is None else math.hypot(math.log(few.high / few.value) / z, DIFFERS)
    with np.errstate(divide="ignore"):
        away = np.log(full_per_s / few.value)
    away = np.where(away < 0, away / below, 0.0 if few.high is None else away / above)
    return np.asarray(DISTURBED + np.exp(-np.minimum(away**2, 1e3) / 2))
