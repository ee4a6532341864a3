"""Quantiles of response times where the method of a model tells only means.

A request waits with the probability P = rho^(sqrt(2(m+1)) - 1), m servers at the utilisation rho (H. Sakasegawa, An Approximation Formula
L_q ~ alpha rho^beta/(1 - rho), Ann. Inst. Statist. Math. 29 (1977), 67-75). Then it waits exponentially, W/P on average, as in M/M/m and in
heavy traffic of others (J. F. C. Kingman, The single server queue in heavy traffic, Proc. Cambridge Phil. Soc. 57 (1961), 902-904).
Beyond its wait it takes what a request takes alone. That time has a spread of its own, which the measured quantiles tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sojourn.plan.objective import Quantity
from sojourn.plan.predictor import Predictor

Array = NDArray[np.float64]
ALONE = 1e-3  # of the lowest rate: nobody waits
MOST_BUSY = 0.999
UNEVEN = (
    2.5  # those who wait do so for (1 + c²)/2 times/(m (1 - rho)) on average: a squared coefficient of variation of 4
)


def quantiles_by_means(
    predictor: Predictor, settings: Mapping[str, float], rates_per_s: Array, q: float, draws: int
) -> Array:
    """The quantile in s, draws x rates; infinite where a draw is full. Raises what `predictor` does."""
    low = ALONE * float(rates_per_s.min())
    mean = Quantity("response_time")
    asked = np.concatenate([[low], rates_per_s])
    found = predictor.values([settings], asked, [mean], min(draws, predictor.draws))[mean][:, 0, :]
    found = np.where(np.isnan(found), np.inf, found)
    alone_s, whole_s = found[:, :1], found[:, 1:]
    _, busy, servers = next(iter(predictor.busiest(settings, low)), ("", 0.0, 1))
    rho = np.minimum(busy / low * rates_per_s, MOST_BUSY)
    waits = np.maximum(rho ** (math.sqrt(2 * (servers + 1)) - 1), 1e-12)
    known = np.isfinite(whole_s)
    whole_s = np.where(known, whole_s, 0.0)
    # more than these is a time that changes with the load, and no waiting
    longest_s = UNEVEN * alone_s / (servers * (1 - rho))
    own_s = np.clip((whole_s - alone_s) / waits, 0.0, longest_s)
    return np.where(known, whole_s + own_s * (np.log(np.maximum(waits / (1 - q), 1.0)) - waits), np.inf)
