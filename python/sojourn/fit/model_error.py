"""The model's own error: one factor on all demands. Its spread is told by configurations left out; what is not known of it is drawn.

Each of n configurations is off by e, of which a part v is known (what its runs and the unknowns are uncertain by):
e ~ N(0, v + tau²). Few configurations hardly tell tau: an estimate of its variance, cut off at 0, is 0 for about half of the fits of a
right model and too large for the others, and one that is too small by chance makes intervals too narrow. So all of its posterior
is drawn from (J. P. T. Higgins, S. G. Thompson, D. J. Spiegelhalter: A re-evaluation of random-effects meta-analysis. J. R. Statist. Soc. A
172(1), 2009, pp. 137-159). The prior is DuMouchel's, s/(s + tau)², with s a part of the harmonic mean of v, as a variance (D. J.
Spiegelhalter, K. R. Abrams, J. P. Myles: Bayesian Approaches to Clinical Trials and Health-Care Evaluation (2004), 5.7.3). Errors of
configurations left out hang together, since n less the unknowns of them are free: the logarithm of the likelihood counts by that share.

Beyond what was fitted the factor has one more part, which grows with the distance d (`factor_distance`): N(0, s² d²), an s for each
factor of the runs. Whole levels of it that were left out tell s (`levels_left_out`): each is off by a multiple of the distance, b, of which
the variance v is known, b ~ N(0, v + s²). What they do not tell is left to a prior of the same form, whose scale is that of recorded
studies (docs/decisions/0036).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]
SCALE = 0.5  # of the prior, over what one configuration is known by: chosen by benches/plan, seeds that judge nothing
LARGEST = 1.0  # a factor of e on all demands
POINTS = 400
# of the prior of s, a unit of distance, by maximum likelihood of recorded services (benches/fit/distance_prior.py, docs/decisions/0036):
# saturation rates of eight after twice the workers, and at more load than was fitted
OF_FACTOR, OF_LOAD = 0.045, 0.023


@dataclass(frozen=True)
class ModelErrorPosterior:
    """What is believed of tau, or of s: values, and the probability of each, sum 1."""

    tau: Array
    probability: Array

    @staticmethod
    def of(squares: Array, known: Array, unknowns: int) -> ModelErrorPosterior:
        """`squares`: errors of configurations left out, squared, n; `known`: the variance that each has anyway, n; `unknowns` fitted."""
        known = np.maximum(known, 1e-12)
        scale = SCALE * float(np.sqrt(len(known) / (1 / known).sum()))
        return _posterior(squares, known, scale, max(len(known) - unknowns, 1) / len(known))

    @staticmethod
    def of_growth(squares: Array, known: Array, load: bool = False) -> ModelErrorPosterior:
        """`squares`: of b, n, each told by other levels left out of one factor; `known`: its variance, n; `load`: whether the factor is
        the load. None of them: the prior. All n tell one and the same slope, and count as one."""
        return _posterior(squares, np.maximum(known, 1e-12), OF_LOAD if load else OF_FACTOR, 1 / max(len(known), 1))

    @property
    def mean(self) -> float:
        return float(self.tau @ self.probability)

    def errors(self, count: int, rng: np.random.Generator) -> Array:
        """`count` draws of the logarithm of a factor on all demands, or of that by the unit of distance: its quantiles at even steps, in
        random order. Where an interval ends, 300 draws at random are off by an eighth (docs/decisions/0036)."""
        half = np.geomspace(self.tau[0] * 1e-2, self.tau[-1] * 5, POINTS)
        size = np.concatenate([-half[::-1], [0.0], half])
        below = ndtr(size[:, None] / self.tau) @ self.probability
        return np.asarray(np.interp(rng.permutation((np.arange(count) + 0.5) / count), below, size))

    def factors(self, count: int, rng: np.random.Generator) -> Array:
        """`count` draws of a factor on all demands."""
        return factor_of(self.errors(count, rng))


def factor_of(logarithm: Array) -> Array:
    """By logarithm; beyond ±50 as there: an error of few degrees of freedom has draws of several hundred, which no double holds."""
    return np.asarray(np.exp(np.clip(logarithm, -50.0, 50.0)))


def _posterior(squares: Array, known: Array, scale: float, share: float) -> ModelErrorPosterior:
    """`share`: of the logarithm of the likelihood that counts."""
    tau = np.geomspace(min(scale, LARGEST) * 1e-3, LARGEST, POINTS)
    whole = known + tau[:, None] ** 2
    log = -0.5 * share * (np.log(whole) + squares / whole).sum(axis=1)
    log += np.log(tau) - 2 * np.log1p(tau / scale)  # the prior, on a grid of logarithms
    weight = np.exp(log - log.max())
    return ModelErrorPosterior(tau, weight / weight.sum())
