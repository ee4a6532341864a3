"""Intervals of shares, common and rare, of observations that come in clusters.

    each   (variance of a share p)/(p (1 - p)): the part of the whole that one cluster is; 1/each clusters are what the record is worth
    k      p/each, the effective number of clusters seen

A share from `RARE` to 1 - `RARE`: batch means as they are. A rarer one has few clusters, so that the interval is as skewed as that of a
count: Jeffreys' (k + 1/2, 1/each - k + 1/2 of the beta distribution). Where there are not `ENOUGH`, `each` is the larger of the batches'
own and that of a share `WIDER` times as large on the same side, since a record whose rare events are by chance few shows too small a
variance too, and clusters of rarer events are no smaller where the process forgets alike at all levels (a busy period). Which tail
is ten times as large depends on the truth: the upper bound of a probability takes that of itself.

Where there is no wider tail (failures) clusters are taken as of geometric size, and their mean is as uncertain as their number:

    g = (c + 1)/2, c = each count       mean size in observations; N = p count/g clusters
    p/share ~ F(2N + 1, 2N g/(g - 1))   F: of Snedecor; independent observations, g = 1: Jeffreys' again, as of a Poisson number

A record that saw few clusters shows too small ones, and one that saw none shows no size. So one further cluster counts, of the size in
which the slowest requests of the same record come: g is the mean of N of its own and that one.

Sources: L. D. Brown, T. T. Cai, A. DasGupta, Interval Estimation for a Binomial Proportion, Statistical Science 16 (2001), 101-133, 4.2;
effective sample size: E. L. Korn, B. I. Graubard, Survey Methodology 24 (1998), 193-201. Limits: failures that come in
much larger clusters than slow requests do. How often these intervals hold the truth: benches/query.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from sojourn.query.values import Estimate
from sojourn.stats.batch_means import IntervalEstimate
from sojourn.units import USUAL_LEVEL

LEVEL = USUAL_LEVEL  # of every interval of a query
RARE, WIDER = 0.1, 10.0
ENOUGH = 100  # clusters of the wider tail's size: the batches tell the variance themselves
MOST = 1e7
TURNS = 3  # until a bound and the tail ten times its share agree
LOW, HIGH = (1 - USUAL_LEVEL) / 2, (1 + USUAL_LEVEL) / 2
Wider = Callable[[float], float]  # a share → `each` of a tail so large
Further = Callable[[], float]


def each_of(found: IntervalEstimate) -> float:
    """Of a share with its variance; 0 where the batches do not say."""
    share, variance = float(found.value[0]), float(found.variance[0])
    return variance / (share * (1 - share)) if 0 < share < 1 and variance > 0 else 0.0


def wider_share(rare: float) -> float:
    """Of the tail whose clusters stand for those of a rare one."""
    return min(WIDER * rare, RARE)


def share_of(
    found: IntervalEstimate,
    count: int,
    spent_s: float = 0.0,
    wider: Wider | None = None,
    further: Further | None = None,
) -> Estimate:
    """The interval of a share by batches of `count` observations; `wider`: of a tail on the rarer side; without one `further`: the size
    of the further cluster."""
    share = float(found.value[0])
    if math.isnan(share):
        return Estimate.known(share, None, None, spent_s)
    own, p = each_of(found), min(max(share, 0.0), 1.0)
    if RARE <= p <= 1 - RARE:
        low, high = jeffreys(p, 1 / count)
        seen = Estimate.known(share, float(found.low[0]), float(found.high[0]))
        low, high = (min(low, seen.low), max(high, seen.high)) if own else (0.0, 1.0)
    elif p < RARE:
        low, high = _rare(p, own, count, wider, further)
    else:
        low, high = (1 - x for x in reversed(_rare(1 - p, own, count, wider, further)))
    return Estimate(share, max(low, 0.0), min(high, 1.0), spent_s)


def jeffreys(p: float, each: float) -> tuple[float, float]:
    """Of a share in [0, 1] of 1/each independent ones."""
    from scipy.special import betaincinv

    size = max(1 / each, 1.0)
    k = p * size
    low = float(betaincinv(k + 0.5, size - k + 0.5, LOW)) if k > 0 else 0.0
    return low, float(betaincinv(k + 0.5, size - k + 0.5, HIGH)) if k < size else 1.0


def share_needs(share: float, count: int, limit: float) -> float:
    """Times as many independent ones with the same share, to a twentieth, until its interval does not hold `limit`; inf: never."""
    if share == limit:
        return math.inf
    more = 1.0
    while more < MOST:
        low, high = jeffreys(share, 1 / (count * more))
        if not low < limit < high:
            return more
        more *= 1.05
    return math.inf


def needed(q: float, count: int, each: float) -> float:
    """Times as many observations, about, until the largest bounds a quantile above: so many that all of them below it bound the share
    beyond. 0 where these are as many, and something else is missing."""
    from scipy.special import gammaincinv

    size = min(count, 1 / max(each, 1 / count))
    found = float(gammaincinv(0.5, HIGH)) / -math.log(q) / size if 0 < q < 1 else 0.0
    return found if found > 1 else 0.0


def _rare(p: float, own: float, count: int, wider: Wider | None, further: Further | None) -> tuple[float, float]:
    if wider is None:
        return _clustered(p, max(own, 1 / count), count, further)
    each = max(own, wider(wider_share(p)), 1 / count)
    if p > ENOUGH * each:
        return jeffreys(p, max(own, 1 / count))
    low, high = jeffreys(p, each)[0], RARE
    for _ in range(TURNS):
        high = jeffreys(p, max(own, wider(wider_share(high)), 1 / count))[1]
    return low, high


def cluster_size(each: float, count: int) -> float:
    """The mean size of geometric clusters, in observations."""
    return max((each * count + 1) / 2, 1.0)


def _clustered(p: float, each: float, count: int, further: Further | None) -> tuple[float, float]:
    """Clusters of geometric size."""
    from scipy.special import betaincinv, gammaincinv

    size = cluster_size(each, count)
    if further is not None:
        own = p * count / size
        size = (own * size + further()) / (own + 1)
    clusters = p * count / size
    if size <= 1 + 1e-9 or (clusters <= 0 and further is None):
        return jeffreys(p, each)
    if clusters <= 0:
        return 0.0, float(gammaincinv(0.5, HIGH)) * size / count
    a, b = (
        clusters + 0.5,
        max(clusters, 0.5) * size / (size - 1),
    )  # of less than half a cluster nothing is known but that
    part = (
        float(betaincinv(a, b, x)) for x in (LOW, HIGH)
    )  # of Gamma(a)/(Gamma(a) + Gamma(b)): b/a times its odds are F(2a, 2b)
    low, high = (x / max(1 - x, 1e-300) * b * size / count for x in part)
    return low, high
