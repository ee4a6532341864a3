"""The model's own error: one factor on all demands. Its spread is told by configurations left out; what is not known of it is drawn.

Each of n configurations is off by e, of which a part v is known (what its runs and the unknowns are uncertain by):
e ~ N(0, v + tau²). Few configurations hardly tell tau: an estimate of its variance, cut off at 0, is 0 for about half of the fits of a
right model and too large for the others, and one that is too small by chance makes intervals too narrow. So all of its posterior
is drawn from (J. P. T. Higgins, S. G. Thompson, D. J. Spiegelhalter: A re-evaluation of random-effects meta-analysis. J. R. Statist. Soc. A
172(1), 2009, pp. 137-159). The prior is DuMouchel's, s/(s + tau)², with s a part of the harmonic mean of v, as a variance (D. J.
Spiegelhalter, K. R. Abrams, J. P. Myles: Bayesian Approaches to Clinical Trials and Health-Care Evaluation (2004), 5.7.3). Errors of
configurations left out hang together, since n less the unknowns of them are free: the logarithm of the likelihood counts by that share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SCALE = 0.5  # of the prior, over what one configuration is known by: chosen by benches/plan, seeds that judge nothing
LARGEST = 1.0  # a factor of e on all demands
POINTS = 400


@dataclass(frozen=True)
class ModelErrorPosterior:
    """What is believed of tau: values, and the probability of each, sum 1."""

    tau: Array
    probability: Array

    @staticmethod
    def of(squares: Array, known: Array, unknowns: int) -> ModelErrorPosterior:
        """`squares`: errors of configurations left out, squared, n; `known`: the variance that each has anyway, n; `unknowns` fitted."""
        known = np.maximum(known, 1e-12)
        scale = SCALE * float(np.sqrt(len(known) / (1 / known).sum()))
        tau = np.geomspace(min(scale, LARGEST) * 1e-3, LARGEST, POINTS)
        whole = known + tau[:, None] ** 2
        share = max(len(known) - unknowns, 1) / len(known)
        log = -0.5 * share * (np.log(whole) + squares / whole).sum(axis=1)
        log += np.log(tau) - 2 * np.log1p(tau / scale)  # the prior, on a grid of logarithms
        weight = np.exp(log - log.max())
        return ModelErrorPosterior(tau, weight / weight.sum())

    @property
    def mean(self) -> float:
        return float(self.tau @ self.probability)

    def factors(self, count: int, rng: np.random.Generator) -> Array:
        """`count` draws of a factor on all demands."""
        at = rng.permutation((np.arange(count) + 0.5) / count)
        tau = self.tau[np.searchsorted(np.cumsum(self.probability), at).clip(0, POINTS - 1)]
        return np.asarray(np.exp(tau * rng.standard_normal(count)))
