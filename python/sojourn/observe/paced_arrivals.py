"""Whether the number under way explains when requests came, beyond the time since the last one.

A paced open load is as likely to come at any number under way as the time since the last request says. Let t be that time, and n(t) the
number under way. Users that wait multiply the rate by N - n(t), whatever the rate is as a function of t alone, which a partial likelihood
leaves open (D. R. Cox, Regression models and life-tables. J. R. Stat. Soc. B 34 (1972), pp. 187-220): of all gaps of a stratum that
were as long, which one ended?

    log PL = sum over gaps i of log (N - n_i(t_i)) - log mean of (N - n_j(t_i)) over the gaps j that lasted for t_i

A stratum is some forty gaps of a window, each far from the next, since a gap changes the number under way in those that follow. N comes
from elsewhere (`load_feedback`), so that a gain of g has a chance of about exp(-g) where n explains nothing. Gaps of one length have none.

Limits: that chance supposes that gaps of a stratum do not depend on each other, which is nearly so. Gaps that depend on those before
(bursts) are no schedule of this kind.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
GAPS = 40  # of a stratum, at least
LEAST = 10  # of a window
MOST = 20_000  # of a window that are looked at
BLOCK = 200  # strata at once
TICK_S = 5e-7  # stamps that are as near are one moment


def beyond_pace(came_s: Array, took_s: Array, start_s: float, end_s: float, users: int) -> float:
    """Gain in the logarithm of the partial likelihood by `users` that wait, over a load whose rate follows from the time since the last
    request; of requests in order of arrival, of which gaps between those that came in [start_s, end_s) count. 0 of too few."""
    first, last = np.searchsorted(came_s, [start_s, end_s])
    count = int(last - first) - 1
    if count < LEAST:
        return 0.0
    came, done = came_s - start_s, np.sort(came_s - start_s + took_s)
    strata = max(count // GAPS, 1)
    offsets = np.arange(strata)[:: max(1, count // MOST)]
    each = first + strata * np.arange(count // strata)
    return sum(
        _gain(came, done, each[None, :] + offsets[k : k + BLOCK, None], users) for k in range(0, len(offsets), BLOCK)
    )


def _gain(came: Array, done: Array, gaps: NDArray[np.intp], users: int) -> float:
    """Of strata × gaps, as places of the requests that begin them."""
    begin, length = came[gaps], came[gaps + 1] - came[gaps]
    lasted = length[:, None, :] >= length[:, :, None] - TICK_S  # stratum, gap that ends, gap beside it
    at = begin[:, None, :] + length[:, :, None]
    under_way = gaps[:, None, :] + 1 - np.searchsorted(done, at - TICK_S)
    think = np.maximum(users - under_way, 0.0)
    own = np.arange(gaps.shape[1])
    think[:, own, own] = np.maximum(think[:, own, own], 1.0)  # who came did think
    mean = (think * lasted).sum(axis=2) / lasted.sum(axis=2)
    return float(np.log(think[:, own, own] / mean).sum())
