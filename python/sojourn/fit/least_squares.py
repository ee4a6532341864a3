"""Weighted least squares for a few parameters: once by scipy, and for many weight sets at once.

`one` is scipy's trust-region reflective method. `many` is Levenberg-Marquardt with a projected lower bound, all
replicates in step, so that 300 resamples cost about as much as one fit does in a loop. A test holds them to each other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

Array = NDArray[np.float64]
Residuals = Callable[[Array], Array]
ROUNDS = 40


def one(residuals: Residuals, start: Array, lowest: Array) -> Array:
    """Minimises the sum of squares; `residuals` maps (1, P) to (1, rows); parameters >= `lowest` (P,)."""
    inside = np.maximum(start, lowest + 1e-9)
    best = least_squares(
        lambda theta: residuals(theta[None])[0], inside, bounds=(lowest, np.inf), x_scale="jac", xtol=1e-12, ftol=1e-12
    )
    return np.asarray(best.x)


def many(residuals: Residuals, start: Array, lowest: Array) -> Array:
    """The same for replicates: `start` (R, P), `residuals` maps (R, P) to (R, rows), each row of R on its own."""
    theta = np.maximum(start, lowest)
    damping = np.full(len(theta), 1e-3)
    rest = residuals(theta)
    cost = (rest**2).sum(axis=1)
    for _ in range(ROUNDS):
        slope = _jacobian(residuals, theta, rest)
        down = np.einsum("rip,ri->rp", slope, rest)
        # at its bound and pushed outwards: this parameter stays
        free = ~((theta <= lowest) & (down > 0))
        slope = slope * free[:, None, :]
        normal = np.einsum("rip,riq->rpq", slope, slope)
        diagonal = np.einsum("rpp->rp", normal)
        grown = normal + np.eye(theta.shape[1]) * (damping[:, None] * diagonal + 1e-12)[:, None, :]
        step = -np.linalg.solve(grown, (down * free)[..., None])[..., 0]
        trial = np.maximum(theta + np.clip(step, -1.0, 1.0), lowest)
        trial_rest = residuals(trial)
        trial_cost = (trial_rest**2).sum(axis=1)
        better = trial_cost < cost
        moved = np.abs(np.where(better[:, None], trial - theta, 0.0)).max()
        theta = np.where(better[:, None], trial, theta)
        rest = np.where(better[:, None], trial_rest, rest)
        cost = np.where(better, trial_cost, cost)
        damping = np.clip(np.where(better, damping / 5, damping * 5), 1e-9, 1e6)
        if moved < 1e-10 and (better | (damping > 1e3)).all():
            break
    return theta


def _jacobian(residuals: Residuals, theta: Array, rest: Array) -> Array:
    columns = []
    for k in range(theta.shape[1]):
        shifted = theta.copy()
        shifted[:, k] += 1e-6
        columns.append((residuals(shifted) - rest) / 1e-6)
    return np.stack(columns, axis=2)
