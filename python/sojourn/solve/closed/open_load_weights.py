"""Weights of a station of any speed that open classes use too; formulas in `convolution`. In logarithms, because both
the factorials of hundreds of servers and 1/(1 - rho)^n leave the range of doubles; each weight is good to about 1e-12.
"""

from __future__ import annotations

import numpy as np

from sojourn.model.network_arrays import Array


def log_weights(speed: Array, load: float) -> Array:
    """log E(0) … log E(m + 1) for speeds s(1) … s(m), the last repeating, and 0 < `load` < s(m) busy servers of open
    work. E(n)/E(n + 1) is s(m) - load from n = m on.
    """
    from scipy.special import logsumexp  # slow to import

    m = len(speed)
    beta = -np.r_[0.0, np.cumsum(np.log(speed))]  # of 1/(s(1) … s(l)), l = 0 … m
    tails = _log_tails(m, np.log(load / speed[-1]), np.log1p(-load / speed[-1]))
    found = np.empty(m + 2)
    for n in range(m + 2):
        over = np.arange(n, m)
        head = _log_choose(over, n) + (over - n) * np.log(load) + beta[n:m] if n < m else np.zeros(0)
        found[n] = logsumexp(np.append(head, beta[m] + (m - n) * np.log(load) + tails[n]))
    return found


def _log_tails(m: int, log_a: float, log_free: float) -> Array:
    """log t(0) … t(m + 1): t(n) = (C(m, n) + a t(n-1))/(1 - a), t(0) = 1/(1 - a)."""
    tails = np.empty(m + 2)
    tails[0] = -log_free
    for n in range(1, m + 2):
        with np.errstate(divide="ignore"):
            first = _log_choose(np.array([m]), n)[0] if n <= m else -np.inf
        tails[n] = np.logaddexp(first, log_a + tails[n - 1]) - log_free
    return tails


def _log_choose(total: np.ndarray, n: int) -> Array:
    from scipy.special import gammaln  # slow to import

    return np.asarray(gammaln(total + 1.0) - gammaln(n + 1.0) - gammaln(total - n + 1.0))
