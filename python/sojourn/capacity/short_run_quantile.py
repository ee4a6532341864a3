"""How far the quantiles of a short run lie from those of a long one.

What is above a p99 comes from the few longest busy periods. A short run has seen none, or one too many: its quantile is too low on
average, by a fifth where the mean waiting is uncertain by a quarter. Near saturation waiting is a reflected Brownian motion, whatever
the service is (J. M. Harrison, Brownian Motion and Stochastic Flow Systems (1985)). So one table serves all services. By how uncertain
the mean waiting of a run is, it has mean and standard deviation of ln(quantile of the run/true quantile). It was simulated
(benches/capacity/short_run_table.py).
"""

from __future__ import annotations

import math

import numpy as np

ERRORS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0)
QUANTILES = (0.0, 0.5, 0.9, 0.95, 0.99, 0.999)
OFF = (
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (0.0, 0.001, -0.002, 0.003, 0.013, 0.017, -0.001, -0.037, -0.131),
    (0.0, 0.0, -0.004, -0.009, -0.003, -0.037, -0.149, -0.276, -0.454),
    (0.0, 0.0, -0.008, -0.017, -0.022, -0.085, -0.243, -0.390, -0.591),
    (0.0, -0.002, -0.043, -0.083, -0.133, -0.253, -0.475, -0.654, -0.884),
    (0.0, -0.061, -0.198, -0.294, -0.381, -0.540, -0.800, -1.001, -1.248),
)  # fmt: skip
SPREAD = (
    (0.0, 0.042, 0.081, 0.125, 0.168, 0.253, 0.393, 0.497, 0.577),
    (0.0, 0.042, 0.081, 0.125, 0.168, 0.253, 0.393, 0.497, 0.577),
    (0.0, 0.057, 0.114, 0.166, 0.229, 0.304, 0.375, 0.412, 0.451),
    (0.0, 0.067, 0.134, 0.193, 0.253, 0.304, 0.359, 0.388, 0.426),
    (0.0, 0.111, 0.178, 0.227, 0.260, 0.291, 0.330, 0.357, 0.393),
    (0.0, 0.162, 0.187, 0.215, 0.243, 0.272, 0.311, 0.344, 0.383),
)  # fmt: skip


def short_run_quantile(q: float, waiting_error: float) -> tuple[float, float]:
    """Mean and standard deviation of the logarithm of a run's quantile `q` of waiting over the true one.

    `waiting_error`: relative standard error of the mean waiting of the run; beyond 1 it counts as 1. A higher quantile than 0.999 counts
    as that.
    """
    tails = [-math.log(1 - one) for one in QUANTILES]
    tail = -math.log(max(1 - q, 1 - QUANTILES[-1]))
    off, spread = (
        float(np.interp(tail, tails, [np.interp(waiting_error, ERRORS, row) for row in rows])) for rows in (OFF, SPREAD)
    )
    return off, spread


def of_response(q: float, value_s: float, mean_s: float, alone_s: float, mean_error: float) -> tuple[float, float]:
    """The same for a quantile of response times that was measured as `value_s`: only what is above `alone_s`, which a request takes that
    waits for nobody, is waiting. `mean_error`: relative standard error of the mean response time `mean_s`."""
    off, spread = short_run_quantile(q, mean_error * mean_s / max(mean_s - alone_s, 1e-3 * mean_s))
    waited_s = max(value_s - alone_s, 0.0)
    true_s = alone_s + waited_s * math.exp(-off)
    return math.log(value_s / true_s), spread * waited_s / value_s
