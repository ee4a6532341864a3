"""Whether a load waits for its answers: by whether fewer requests come while more of them are under way.

N users that each wait for an answer and then think send requests at the rate (N - n)/Z while n of theirs are under way; a load that does
not wait sends at the same rate whatever n is. Both are pure birth rates of which the likelihood is known (N. Keiding, Maximum Likelihood
Estimation in the Birth-and-Death Process. Annals of Statistics 3(2), 1975, pp. 363-372):

    a[n]   requests that came while n were under way          T[n]   time during which n were, s
    log L = sum of a[n] log r(n) - T[n] r(n)                  r(n) = (N - n)/Z, or one rate
    Z = sum of T[n] (N - n) / sum of a[n]                     for each N

Each window has a rate or a think time of its own, so that a load that changes with the hour is none that waits, or the other way round.

Limits: think times are taken as exponential, users as alike, and as many in all windows. What is not seen is not claimed: an open load
is what is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MOST_USERS = 2000
SURE = 6.0  # of a logarithm of likelihoods: an open load is taken for a closed one once in some thousand logs


@dataclass(frozen=True)
class UnderWay:
    """`arrivals` (K,): requests that came while k = 0 … K-1 were under way; `time_s` (K,): how long that was, s."""

    arrivals: Array
    time_s: Array

    @staticmethod
    def of(came_s: Array, took_s: Array, start_s: float, end_s: float) -> UnderWay:
        """Of requests in order of arrival, (requests,) each; only what lies in [start_s, end_s) counts. A request that came and was
        answered in the same moment came first."""
        times = np.concatenate([came_s, came_s + took_s])
        step = np.concatenate([np.ones(len(came_s)), -np.ones(len(came_s))])
        order = np.lexsort((-step, np.round(times, 6)))
        times, step = times[order], step[order]
        before = np.concatenate([[0.0], np.cumsum(step)]).astype(np.intp)[:-1]
        size = int(before.max(initial=0)) + 1
        clipped = np.clip(np.concatenate([[start_s], times, [end_s]]), start_s, end_s)
        level = np.concatenate([before, [0]])
        spent = np.bincount(level, np.diff(clipped), size)
        new = (step > 0) & (times >= start_s) & (times < end_s)
        return UnderWay(np.asarray(np.bincount(before[new], minlength=size), float), np.asarray(spent, float))

    def think_s(self, users: int) -> float | None:
        """Mean think time of so many users, s; None where nobody asked."""
        total = float(self.arrivals.sum())
        return float(self.time_s @ (users - np.arange(len(self.time_s)))) / total if total else None


@dataclass(frozen=True)
class LoadFeedback:
    """`users` of the best closed load, None where the best is an open one; `gain`: its log likelihood above that of an open load."""

    users: int | None
    gain: float


def feedback(windows: Sequence[UnderWay]) -> LoadFeedback:
    """The number of users that explains best when requests came; each window has a think time, or a rate, of its own."""
    seen = [one for one in windows if one.arrivals.sum() > 0 and one.time_s.sum() > 0]
    least = max((_least(one) for one in seen), default=0)
    if not seen or all(len(one.time_s) < 2 for one in seen):
        return LoadFeedback(None, 0.0)
    users = np.arange(least, max(MOST_USERS, 2 * least) + 1, dtype=float)
    gain = np.zeros(len(users))
    for one in seen:
        a, t = one.arrivals, one.time_s
        left = np.maximum(users[:, None] - np.arange(len(t)), 1e-12)
        total = a.sum()
        gain += np.log(left * total / (left @ t)[:, None]) @ a - total * np.log(total / t.sum())
    best = int(np.argmax(gain))
    return LoadFeedback(None if best == len(users) - 1 else int(users[best]), float(gain[best]))


def _least(seen: UnderWay) -> int:
    """Users without whom this could not have been."""
    asked, there = np.flatnonzero(seen.arrivals), np.flatnonzero(seen.time_s > 0)
    return max(int(asked.max(initial=0)) + 1, int(there.max(initial=0)))


def closed_users(found: Mapping[str, LoadFeedback]) -> dict[str, int]:
    """Class → users, where the classes together say that the load waits for its answers; else empty."""
    if sum(max(one.gain, 0.0) for one in found.values() if one.users) < SURE:
        return {}
    return {name: one.users for name, one in found.items() if one.users}
