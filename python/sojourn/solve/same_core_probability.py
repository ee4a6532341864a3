"""p, the probability that a page stays on the core that took its interrupt: the rules that turn (cores, NICs, rates)
into it.

Source: Chen et al. Section 4.3 ("inverse proportion of the utilisation") made precise in errata section 1; letters as
in `two_class`. With all cores leading (m = n) p is 1 whatever the rule.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sojourn.errors import InputError

Array = NDArray[np.float64]
RULES = ("uniform", "inverse-utilisation", "equal-utilisation")


def routing_probability(rule: str, cores: ArrayLike, nics: ArrayLike, demand_ratio: ArrayLike) -> Array:
    """p in [0, 1] by rule; `demand_ratio` = interrupt work over page work of a request, mu2/mu1 >= 0; broadcasts.

    uniform: m/n. inverse-utilisation: the fixed point p(n-m)²(r+p) = m²(1-p)², weights 1/U on each core, whatever the
    rate. equal-utilisation: leading and trailing cores equally busy, 0 where even that leaves the leading ones busier.
    """
    n, m, r = np.broadcast_arrays(*(np.asarray(x, float) for x in (cores, nics, demand_ratio)))
    k = n - m
    if rule == "uniform":
        p = m / n
    elif rule == "inverse-utilisation":
        # (k²-m²) p² + (k² r + 2m²) p - m² = 0, written so that nothing cancels and k = m needs no case
        b = k * k * r + 2 * m * m
        p = 2 * m * m / (b + np.sqrt(b * b + 4 * m * m * (k * k - m * m)))
    elif rule == "equal-utilisation":
        p = np.maximum(0.0, (m - k * r) / n)
    else:
        raise InputError(repr(rule), "p_rule", f"use one of {', '.join(RULES)}, or give p")
    return np.where(k == 0, 1.0, p)
