"""How likely it is that what was watched is the limit, and how likely something that was not.

The limit is as busy as the queue is full, s; what is not the limit is less busy, by any factor alike beforehand. Observed: the busiest of
what was watched, b, and the response times, with likelihood L(s) (`queue_fill`). So with s alike beforehand in (0, 1)

    the busiest resource is the limit      L(b)
    a thread that is t busy is             L(t)/t, and half of it: a process that uses up to one core need not have one thread
    something unseen is                    integral of L(s)/s over s from b to 1

(Bayes' rule; 1/s is the density of b, uniform in (0, s).)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.diagnosis.diagnosis_types import WatchedResource
from sojourn.diagnosis.queue_fill import QueueGrowth

SPREAD = 0.03  # of a watched share: meters, and that the busiest of equal servers is busier than their mean
THREAD = 0.5


@dataclass(frozen=True)
class LimitChances:
    """Of the busiest resource, of a thread and of something unseen: sum 1. `loaded`: that the queue is at least so full as was asked."""

    busiest: float
    thread: float
    unseen: float
    loaded: float


def limit_chances(
    growth: QueueGrowth, busiest: WatchedResource | None, thread: WatchedResource | None, least: float
) -> LimitChances:
    """`least`: a share from which on a queue is called loaded."""
    shares, likelihood = growth.shares, growth.likelihood

    def at(busy: float) -> float:
        near = np.exp(-(((shares - busy) / SPREAD) ** 2) / 2)
        return float((near * likelihood).sum() / max(near.sum(), 1e-9))

    b = 0.0 if busiest is None else busiest.busy
    t = 0.0 if thread is None else thread.busy
    above = np.where(shares > b, likelihood / np.maximum(shares, b), 0.0) * (shares[1] - shares[0])
    weights = np.array([at(b) if b else 0.0, THREAD * at(t) / t if t > b else 0.0, above.sum()])
    loaded = np.array([b >= least, t >= least, above[shares >= least].sum() / max(weights[2], 1e-300)])
    whole = max(float(weights.sum()), 1e-300)
    one, other, unseen = (float(weight) / whole for weight in weights)
    return LimitChances(one, other, unseen, float((weights * loaded).sum()) / whole)
