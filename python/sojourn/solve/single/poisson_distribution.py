"""The Poisson law, from special functions: `scipy.stats` has it too, and takes half a second to import."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sojourn.model.network_arrays import Array


def poisson(n: ArrayLike, mean: ArrayLike) -> Array:
    """P(N = n) for whole n >= 0 and mean >= 0; broadcasts."""
    from scipy.special import gammaln, xlogy  # slow to import

    count = np.asarray(n, float)
    return np.exp(xlogy(count, mean) - gammaln(count + 1) - np.asarray(mean, float))
