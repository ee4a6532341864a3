"""The universal scalability law, and Amdahl's law as the case without coherency: values, fit, intervals.

Source: N. J. Gunther, Guerrilla Capacity Planning (2007), Chapters 4-6, eq. 4.31; G. M. Amdahl, AFIPS Conf. Proc. 30,
1967, pp. 483-485.

    source          here
    N               size: processors, threads or users
    X(N)            throughput = gamma N/(1 + sigma (N - 1) + kappa N (N - 1))
    sigma, alpha    contention, the serial share
    kappa, beta     coherency
    N*              peak = sqrt((1 - sigma)/kappa)

The fit starts from N/X, which is linear in (1, N - 1, N(N - 1))/gamma, and then minimises relative (or absolute) errors of X. Intervals
are Student's t on the local curvature at `level`; there are none where as many points as parameters are given, or where a
parameter is at its bound. Limits: a smooth law: a step (a second socket) is not in it, and two points beside X(1) determine
two parameters without testing anything. sigma < 0 (superlinear) is allowed only where it is asked for, and `valid` is False.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import least_squares
from scipy.special import stdtrit

from sojourn.errors import FitError
from sojourn.units import USUAL_LEVEL

Array = NDArray[np.float64]
NAMES = ("gamma", "sigma", "kappa")


def usl(size: ArrayLike, gamma: ArrayLike = 1.0, sigma: ArrayLike = 0.0, kappa: ArrayLike = 0.0) -> Array:
    """Throughput at `size` > 0, in the unit of `gamma` = X(1); broadcasts."""
    n = np.asarray(size, float)
    return np.asarray(gamma * n / (1 + np.asarray(sigma) * (n - 1) + np.asarray(kappa) * n * (n - 1)))


def amdahl(size: ArrayLike, serial: ArrayLike) -> Array:
    """Speedup N/(1 + serial (N - 1))."""
    return usl(size, 1.0, serial)


def peak(sigma: ArrayLike, kappa: ArrayLike) -> Array:
    """N* at which throughput is greatest; infinite where kappa is 0."""
    with np.errstate(divide="ignore"):
        return np.sqrt(np.maximum(1 - np.asarray(sigma, float), 0.0) / np.asarray(kappa, float))


@dataclass(frozen=True)
class Scalability:
    """Estimates with (low, high) at `level`, None where the data give none; `residuals` are relative, X/fit - 1."""

    gamma: float
    sigma: float
    kappa: float
    intervals: dict[str, tuple[float, float] | None]
    level: float
    residuals: Array

    @property
    def peak(self) -> float:
        """N*, not rounded."""
        return float(peak(self.sigma, self.kappa))

    @property
    def best_size(self) -> int | None:
        """The whole size with the greatest throughput; None where it grows for ever."""
        if not np.isfinite(self.peak):
            return None
        below = max(1, int(self.peak))
        return below if self(below) >= self(below + 1) else below + 1

    @property
    def most(self) -> float:
        """Greatest throughput; gamma/sigma where there is no peak, infinite where nothing limits it."""
        if np.isfinite(self.peak):
            return float(self(self.peak))
        return self.gamma / self.sigma if self.sigma > 0 else float("inf")

    @property
    def valid(self) -> bool:
        """0 <= sigma < 1 and kappa >= 0: contention and coherency cannot be negative."""
        return 0 <= self.sigma < 1 and self.kappa >= 0

    def __call__(self, size: ArrayLike) -> Array:
        """Throughput."""
        return usl(size, self.gamma, self.sigma, self.kappa)


def fit_usl(
    size: ArrayLike, throughput: ArrayLike, *, gamma: float | None = None, law: str = "usl", level: float = USUAL_LEVEL,
    constrained: bool = True, errors: str = "relative",
) -> Scalability:  # fmt: skip
    """Fits X(1) (unless `gamma` gives it), sigma and, with law "usl" rather than "amdahl", kappa.

    size and throughput: 1-d, > 0, one pair a measurement (repetitions welcome). `constrained`: sigma and kappa >= 0.
    `errors`: relative (each point counts alike) or absolute (as Gunther's own fits and the package usl of R have it).
    FitError where there are fewer different sizes than parameters.
    """
    n, x = np.asarray(size, float).ravel(), np.asarray(throughput, float).ravel()
    if law not in ("usl", "amdahl"):
        raise FitError(repr(law), "law", "use usl or amdahl")
    if errors not in ("relative", "absolute"):
        raise FitError(repr(errors), "errors", "use relative or absolute")
    free = np.array([gamma is None, True, law == "usl"])
    _check(n, x, int(free.sum()))
    fixed = np.array([gamma or 0.0, 0.0, 0.0])
    lowest = np.where([True, constrained, constrained], 0.0, -np.inf)

    def full(theta: Array) -> Array:
        values = fixed.copy()
        values[free] = theta
        return values

    start = np.maximum(_linear(n, x, gamma, law), lowest)[free]
    scale = x if errors == "relative" else np.full_like(x, x.mean())
    found = least_squares(
        lambda theta: (usl(n, *full(theta)) - x) / scale, start, bounds=(lowest[free], np.inf), x_scale="jac", xtol=1e-15,
        ftol=1e-15, gtol=1e-15,
    )  # fmt: skip
    values = full(np.where(found.cost < 1e-24, start, found.x))
    inside = np.full(len(start), not constrained) | (found.x > lowest[free] + 1e-9)
    names = [name for name, f, fine in zip(NAMES, free, np.cumsum(free) - 1, strict=True) if f and inside[fine]]
    ranges = _intervals(found.jac[:, inside], found.fun, names, values, level)
    gamma_, sigma, kappa = values.tolist()
    return Scalability(gamma_, sigma, kappa, ranges, level, x / usl(n, *values) - 1)


def _check(n: Array, x: Array, parameters: int) -> None:
    if n.shape != x.shape or not (np.all(np.isfinite(n) & (n > 0)) and np.all(np.isfinite(x) & (x > 0))):
        raise FitError("sizes and throughputs", "fit_usl", "give lists of equal length, with finite values > 0")
    if len(np.unique(n)) < parameters:
        raise FitError(
            f"{len(np.unique(n))} different sizes", "fit_usl", f"measure at {parameters} or more, or fix gamma"
        )


def _linear(n: Array, x: Array, gamma: float | None, law: str) -> Array:
    """N/X = (1 + sigma (N - 1) + kappa N (N - 1))/gamma, weighted for relative errors."""
    columns = [np.ones_like(n), n - 1, n * (n - 1)][: 3 if law == "usl" else 2]
    weight = x / n
    if gamma is None:
        found = np.linalg.lstsq(np.stack(columns, axis=1) * weight[:, None], np.ones_like(n), rcond=None)[0]
        first, rest = 1 / found[0], found[1:] / found[0]
    else:
        first = gamma
        rest = np.linalg.lstsq(np.stack(columns[1:], axis=1) * weight[:, None], gamma - weight, rcond=None)[0]
    return np.array([first, *rest, 0.0][:3])


def _intervals(
    slope: Array, rest: Array, names: list[str], values: Array, level: float
) -> dict[str, tuple[float, float] | None]:
    """`slope`: of the relative residuals `rest` by the parameters `names`, those that are not at a bound."""
    spare = len(rest) - slope.shape[1]
    intervals: dict[str, tuple[float, float] | None] = dict.fromkeys(NAMES)
    if spare < 1:
        return intervals
    covariance = np.linalg.pinv(slope.T @ slope) * (rest @ rest) / spare
    half = stdtrit(spare, (1 + level) / 2) * np.sqrt(np.diag(covariance))
    for name, h in zip(names, half.tolist(), strict=True):
        middle = float(values[NAMES.index(name)])
        intervals[name] = (middle - h, middle + h)
    return intervals
