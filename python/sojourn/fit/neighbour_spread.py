"""What runs of one series differ by, beside any smooth function of their level: of runs none of which was repeated.

Each run is compared with the straight line through its two neighbours. T. Gasser, L. Sroka, C. Jennen-Steinmetz: Residual variance and
residual pattern in nonlinear regression. Biometrika 73(3), 1986, pp. 625-633: the mean of the squares, each over what it would be for a
variance of 1. With equal distances its variance is 35/18 of that of as many independent squares.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.fitted_model_data import FittedModelData

Array = NDArray[np.float64]
OF_INDEPENDENT = 18 / 35
LEAST = 5  # levels


def neighbour_spread(levels: Array, values: Array) -> tuple[float, float]:
    """Standard deviation of `values` (n) about what is smooth in `levels` (n, all different), and its degrees of freedom; 0, 0 of fewer
    than five, and where two levels are equal."""
    order = np.argsort(levels)
    x, y = np.asarray(levels, float)[order], np.asarray(values, float)[order]
    if len(x) < LEAST or (np.diff(x) <= 0).any() or not np.isfinite(y).all():
        return 0.0, 0.0
    share = (x[2:] - x[1:-1]) / (x[2:] - x[:-2])  # of the lower neighbour
    off = share * y[:-2] + (1 - share) * y[2:] - y[1:-1]
    squares = off**2 / (share**2 + (1 - share) ** 2 + 1)
    return float(np.sqrt(squares.mean())), float(OF_INDEPENDENT * len(squares))


def differences_between_runs(fitted: FittedModelData) -> tuple[str, float]:
    """The one factor that varied between the runs of a fit, and what their response times differ by beside the model and what is smooth in
    that factor: a relative standard deviation, of errors of what was left out. "", 0 where several factors varied, or too few levels."""
    varied = [n for n in fitted.configurations[0] if len({repr(one.get(n)) for one in fitted.configurations}) > 1]
    if len(varied) != 1 or len(fitted.held_out) != len(fitted.configurations):
        return "", 0.0
    both = zip(fitted.configurations, fitted.held_out, strict=True)
    seen = [(one[varied[0]], row["response_time"]) for one, row in both if "response_time" in row]
    if not all(isinstance(level, int | float) for level, _ in seen):
        return "", 0.0
    levels, errors = (np.array([float(str(pair[i])) for pair in seen]) for i in (0, 1))
    return varied[0], neighbour_spread(levels, np.log1p(np.maximum(errors, -0.99)))[0]
