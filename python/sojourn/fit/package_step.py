"""Throughput by cores of one package, then of two: laws with a place where the second comes into use, against the universal scalability
law, which is smooth.

    X(n) = gamma n/(1 + sigma (n - 1) + kappa s(n))

    usl                s = n (n - 1)             each core keeps coherent with each other one
    package step       s = 1 for n > p, else 0   memory of the other package is far, for all requests alike
    package crossing   s = p (n - p) for n > p   each core keeps coherent with each of the other package

sigma, kappa >= 0 (N. J. Gunther, Guerrilla Capacity Planning (2007), chapter 4, for the first); n/X is linear in the unknowns 1/gamma,
sigma/gamma, kappa/gamma, whose least squares are of relative errors. p is the number of cores after which the law fits best, or given
by the topology. Laws are compared by AICc (K. P. Burnham, D. R. Anderson, Model Selection and Multimodel Inference (2002), section
2.4), p counted as a parameter where it was searched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from sojourn.errors import FitError

Array = NDArray[np.float64]
USL, STEP, CROSSING = "usl", "package step", "package crossing"
LAWS = {
    USL: "the universal scalability law",
    STEP: "a step at the second package",
    CROSSING: "coherency between packages",
}
FEWEST_SIZES = 5  # a law of three parameters and some of four


@dataclass(frozen=True)
class PackageLaw:
    """`law`: one of LAWS; `gamma`: X(1); `package`: p in cores, 0 for the smooth law; `residuals`: relative, X/fit - 1."""

    law: str
    gamma: float
    sigma: float
    kappa: float
    package: int
    residuals: Array

    def __call__(self, size: ArrayLike) -> Array:
        """Throughput on `size` cores, in the unit of gamma."""
        n = np.asarray(size, float)
        return np.asarray(self.gamma * n / (1 + self.sigma * (n - 1) + self.kappa * _term(self.law, n, self.package)))


def fit_package_law(size: ArrayLike, throughput: ArrayLike, law: str, package: int | None = None) -> PackageLaw:
    """size, throughput: 1-d, > 0, one pair a measurement, repetitions welcome.

    Raises:
        FitError: no such law, fewer than four different sizes, or `package` without two sizes within it and one beyond.
    """
    n, x = np.asarray(size, float).ravel(), np.asarray(throughput, float).ravel()
    if law not in LAWS:
        raise FitError(repr(law), "law", f"use one of {', '.join(LAWS)}")
    if n.shape != x.shape or not (np.all(np.isfinite(n) & (n > 0)) and np.all(np.isfinite(x) & (x > 0))):
        raise FitError("sizes and throughputs", "fit_package_law", "give as many of each, all finite and > 0")
    sizes = np.unique(n)
    if len(sizes) < 4:
        raise FitError(f"{len(sizes)} different sizes", "fit_package_law", "measure at 4 or more")
    places = [0] if law == USL else [int(p) for p in sizes[1:-1]] if package is None else [package]
    if law != USL and not sizes[1] <= places[0] < sizes[-1]:
        raise FitError(f"package of {package}", "fit_package_law", "measure two sizes within it, and one beyond")
    return min((_at(n, x, law, p) for p in places), key=lambda found: _squares(found.residuals))


def _term(law: str, n: Array, package: int) -> Array:
    if law == USL:
        return n * (n - 1)
    return np.asarray(np.where(n > package, 1.0 if law == STEP else package * (n - package), 0.0))


def _at(n: Array, x: Array, law: str, package: int) -> PackageLaw:
    terms = np.column_stack([np.ones_like(n), n - 1, _term(law, n, package)])
    first, *rest = nnls(terms * (x / n)[:, None], np.ones_like(n))[0].tolist()
    sigma, kappa = (value / first for value in rest)
    fitted = PackageLaw(law, 1 / first, sigma, kappa, package, np.empty(0))
    return PackageLaw(law, 1 / first, sigma, kappa, package, x / fitted(n) - 1)


def _squares(residuals: Array) -> float:
    return float(np.sum(np.log1p(residuals) ** 2))


def compare_laws(size: ArrayLike, throughput: ArrayLike, package: int | None = None) -> dict[str, float]:
    """AICc of each law, above the least of them; the one with 0 fits best, and one with 10 hardly at all.

    Raises:
        FitError: fewer than five different sizes.
    """
    number = len(np.unique(np.asarray(size, float)))
    if number < FEWEST_SIZES:
        raise FitError(f"{number} different sizes", "compare_laws", f"measure at {FEWEST_SIZES} or more")
    found = {}
    for law in LAWS:
        residuals = fit_package_law(size, throughput, law, package).residuals
        runs, k = len(residuals), 4 + (law != USL and package is None)  # the variance of the errors is one of them
        correction = 2 * k * (k + 1) / (runs - k - 1) if runs > k + 1 else math.inf
        found[law] = runs * math.log(max(_squares(residuals) / runs, 1e-24)) + 2 * k + correction
    return {law: value - min(found.values()) for law, value in found.items()}


def told_law(size: ArrayLike, throughput: ArrayLike) -> str:
    """In words which law fits best, and how far the others are; or that too few sizes were measured."""
    try:
        above = compare_laws(size, throughput)
    except FitError as error:
        return f"{error.value} do not tell a smooth law from one with a step at a second package: {error.remedy}"
    best, *others = sorted(above, key=lambda law: above[law])
    found = fit_package_law(size, throughput, best)
    where = f" after {found.package} cores" if found.package else ""
    beside = ", ".join(f"{LAWS[law]} {above[law]:.1f}" for law in others)
    return (
        f"it grows by {LAWS[best]}{where}, contention {found.sigma:.3f} and coherency {found.kappa:.4f}; AICc of the others "
        f"is higher: {beside}"
    )
