"""The load at which a model is full, for the length of an x axis: no method is asked, as the utilisation law is enough."""

from __future__ import annotations

import numpy as np

from sojourn.model import Model
from sojourn.solve.open.open_rates import TrafficSolution
from sojourn.solve.parameter_variation import varied
from sojourn.ui.model_numbers import ModelNumber


def full_at(model: Model, number: ModelNumber) -> float | None:
    """The rate in 1/s at `number` from which on a station is busy all the time, whatever the rates of other classes are; None where
    nothing fills up.

    The work that a station is asked for (utilisation law; Lazowska, p. 42) is a straight line in the rate of one class, so that two rates
    are enough. Where times depend on how busy their station is, the rate of a single class is still exact.
    """
    rate = number.value or 1.0
    networks, _ = varied(model, {number.path: [rate, 2 * rate]})
    traffic = TrafficSolution.of(networks)
    if networks[0].dependent_times and int((~networks[0].closed).sum()) == 1:
        return _finite(float(traffic.saturation[0]))
    share = np.asarray(traffic.share)
    slope = (share[1] - share[0]) / rate
    rises = slope > 0
    if not rises.any():
        return None
    return _finite(float(np.min(rate + (1.0 - share[0][rises]) / slope[rises])))


def _finite(rate_per_s: float) -> float | None:
    return rate_per_s if np.isfinite(rate_per_s) and rate_per_s > 0 else None
