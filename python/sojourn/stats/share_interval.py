"""The interval of a share, such as that of requests that failed.

Clopper and Pearson's, which holds its level whatever the share is, none and all of them too: quantiles of the beta distribution. What
fails together is one event and not many: in a record of many observations the share of batches varies by `effect` times as much as that of
independent ones, and they are worth so many times fewer (at least one). As 20 batches tell that variance, the number is smaller by
Student's quantile, as Korn and Graubard have it. What fails together for longer than a batch, a twentieth of the record, counts as
several events.

Sources: C. J. Clopper, E. S. Pearson, Biometrika 26 (1934), 404-413; effective number: E. L. Korn, B. I. Graubard, Survey Methodology 24
(1998), 193-201. Limits: a record in which nothing failed does not say whether failures come together.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from sojourn.stats.batch_means import BATCHES
from sojourn.stats.student import student_quantile
from sojourn.units import USUAL_LEVEL

LEAST = 4  # observations in a batch


def share_interval(happened: float, of: float, level: float = USUAL_LEVEL, effect: float = 1.0) -> tuple[float, float]:
    """Of `happened` among `of` observations (0 or more), as many as which/`effect` are independent. (0, 1) of none at all."""
    count, whole = happened / max(effect, 1.0), of / max(effect, 1.0)
    tail = (1 - level) / 2
    if whole > 0 and count in (0, whole):  # (1 - share)^whole or share^whole is the tail
        bound = -math.expm1(math.log(tail) / whole)
        return (0.0, bound) if count == 0 else (1 - bound, 1.0)
    from scipy.special import betaincinv  # slow to import, and most runs have no failures

    low = float(betaincinv(count, whole - count + 1, tail)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, whole - count, 1 - tail)) if count < whole else 1.0
    return low, high


def clustered_share(happened: ArrayLike, level: float = USUAL_LEVEL) -> tuple[float, float]:
    """Of observations in the order of time, each of which happened or did not."""
    each = np.asarray(happened)  # a byte each where they are true or false; as numbers they would be eight
    return share_interval(float(each.sum()), len(each), level, design_effect(each, level))


def design_effect(happened: ArrayLike, level: float = USUAL_LEVEL, of_every: int = 1) -> float:
    """`effect` of observations in the order of time, 1 to how many happened; 1 of too few. `of_every`: the observations are every n-th of
    those that the share is of, which come together n times as much."""
    each = np.asarray(happened)
    count, size = float(each.sum()), len(each) // BATCHES
    if size < LEAST or not 0 < count < len(each):
        return 1.0
    share = count / len(each)
    batches = each[: size * BATCHES].reshape(BATCHES, size).mean(axis=1)
    together = max(float(batches.var(ddof=1)) * size / (share * (1 - share)), 1.0 if of_every > 1 else 0.0)
    student = (student_quantile((1 + level) / 2, BATCHES - 1) / NormalDist().inv_cdf((1 + level) / 2)) ** 2
    return min(max((1 + of_every * (together - 1)) * student, 1.0), count * of_every)
