"""A service on the cores of one package, then of two: its throughput steps down where the second comes into use, which no smooth
law has in it; against the universal scalability law.

    X(n) = gamma n/(1 + sigma (n - 1))           on n <= p cores, all of one package
    X(n) = gamma n/(1 + sigma (n - 1))/stall     on more: each request takes `stall` times as long, by memory that is far away

Within a package this is Amdahl's law with contention sigma (N. J. Gunther, Guerrilla Capacity Planning (2007), chapter 4). p is the
size after which the step fits best, or given by the topology. Laws are compared by AICc of their relative errors (K. P. Burnham, D. R.
Anderson, Model Selection and Multimodel Inference (2002), section 2.4), p counted as a parameter where it was searched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from sojourn.errors import FitError
from sojourn.fit.scalability_law import fit_usl

Array = NDArray[np.float64]
USL, STEP = "usl", "package step"
FEWEST_SIZES = 5  # a law of three parameters and one of four


@dataclass(frozen=True)
class PackageStep:
    """`gamma`: X(1); `sigma`: 0 to 1; `stall` > 0, above 1 where the second package costs; `package`: p, cores; `residuals`: relative."""

    gamma: float
    sigma: float
    stall: float
    package: int
    residuals: Array

    def __call__(self, size: ArrayLike) -> Array:
        """Throughput on `size` cores, in the unit of gamma."""
        n = np.asarray(size, float)
        return np.asarray(self.gamma * n / (1 + self.sigma * (n - 1)) / np.where(n > self.package, self.stall, 1.0))


def fit_package_step(size: ArrayLike, throughput: ArrayLike, package: int | None = None) -> PackageStep:
    """Least squares of ln X. size, throughput: 1-d, > 0, one pair a measurement, repetitions welcome.

    Raises:
        FitError: fewer than four different sizes, none or one of them within the package, or none beyond.
    """
    n, x = np.asarray(size, float).ravel(), np.asarray(throughput, float).ravel()
    if n.shape != x.shape or not (np.all(np.isfinite(n) & (n > 0)) and np.all(np.isfinite(x) & (x > 0))):
        raise FitError("sizes and throughputs", "fit_package_step", "give as many of each, all finite and > 0")
    sizes = np.unique(n)
    if len(sizes) < 4:
        raise FitError(f"{len(sizes)} different sizes", "fit_package_step", "measure at 4 or more")
    places = [int(p) for p in sizes[1:-1]] if package is None else [package]
    if not sizes[1] <= places[0] < sizes[-1]:
        raise FitError(f"package of {package}", "fit_package_step", "measure two sizes within it, and one beyond")
    return min((_at(n, x, p) for p in places), key=lambda found: float(np.sum(np.log1p(found.residuals) ** 2)))


def _at(n: Array, x: Array, package: int) -> PackageStep:
    beyond = n > package

    def linear(sigma: float) -> tuple[Array, Array]:
        """Logarithms of gamma and 1/stall for this sigma, and what is left."""
        terms = np.column_stack([np.ones_like(n), beyond])
        wanted = np.log(x) - np.log(n) + np.log1p(sigma * (n - 1))
        found = np.linalg.lstsq(terms, wanted, rcond=None)[0]
        return found, wanted - terms @ found

    best = minimize_scalar(lambda s: float(np.sum(linear(s)[1] ** 2)), bounds=(0.0, 1.0), method="bounded")
    sigma = 0.0 if np.sum(linear(0.0)[1] ** 2) <= best.fun else float(best.x)
    (log_gamma, log_stall), rest = linear(sigma)
    return PackageStep(math.exp(log_gamma), sigma, math.exp(-log_stall), package, np.expm1(rest))


def compare_laws(size: ArrayLike, throughput: ArrayLike, package: int | None = None) -> dict[str, float]:
    """AICc of the universal scalability law and of the step, above the lower of them; the one with 0 fits better, and 10 is a lot.

    Raises:
        FitError: fewer than five different sizes.
    """
    number = len(np.unique(np.asarray(size, float)))
    if number < FEWEST_SIZES:
        raise FitError(f"{number} different sizes", "compare_laws", f"measure at {FEWEST_SIZES} or more")
    smooth, step = fit_usl(size, throughput), fit_package_step(size, throughput, package)
    found = {USL: _aicc(smooth.residuals, 3), STEP: _aicc(step.residuals, 3 if package is not None else 4)}
    return {name: value - min(found.values()) for name, value in found.items()}


def _aicc(residuals: Array, parameters: int) -> float:
    """The variance of the errors is one more parameter."""
    n, k = len(residuals), parameters + 1
    variance = max(float(np.mean(np.log1p(residuals) ** 2)), 1e-24)
    return n * math.log(variance) + 2 * k + (2 * k * (k + 1) / (n - k - 1) if n > k + 1 else math.inf)


def told_law(size: ArrayLike, throughput: ArrayLike) -> str:
    """In words which law fits better, and by how much; or that too few sizes were measured."""
    try:
        above = compare_laws(size, throughput)
    except FitError as error:
        return f"{error.value} do not tell a smooth law from a step at a second package: {error.remedy}"
    best, worst = sorted(above, key=lambda law: above[law])
    if best == STEP:
        found = fit_package_step(size, throughput)
        how = f"a step after {found.package} cores, requests {found.stall:.2f} times as long beyond"
    else:
        law = fit_usl(size, throughput)
        how = f"the universal scalability law, contention {law.sigma:.3f}, coherency {law.kappa:.4f}, peak at {law.peak:.1f} cores"
    return f"it grows by {how}; AICc of the {worst if worst == STEP else 'universal scalability law'} is {above[worst]:.1f} higher"
