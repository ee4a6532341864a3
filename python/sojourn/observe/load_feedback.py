"""Whether a load waits for its answers: by whether fewer requests come while more of them are under way.

N users that each wait for an answer and then think send requests at the rate (N - n)/Z while n of theirs are under way; a load that does
not wait sends at the same rate whatever n is. Both are pure birth rates of which the likelihood is known (N. Keiding, Maximum Likelihood
Estimation in the Birth-and-Death Process. Annals of Statistics 3(2), 1975, pp. 363-372):

    a[n]   requests that came while n were under way          T[n]   time during which n were, s
    log L = sum of a[n] log r(n) - T[n] r(n)                  r(n) = (N - n)/Z, or one rate
    Z = sum of T[n] (N - n) / sum of a[n]                     for each N

Each window has a rate or a think time of its own, so that a load that changes with the hour is none that waits, or the other way round.

The open load of this likelihood is Poisson's. One that is more regular (a paced schedule, a rate limiter) comes when few are under way,
too, because they are answered meanwhile; so a claim needs that the number under way explains beyond the time since the last request
(`paced_arrivals`). Of K classes one needs a gain of SURE + log K of its own, or all of them together one that is as rare (`waiting`).

Limits: think times are taken as exponential, users as alike, and as many in all windows. Poisson logs pass SURE once in 3 700 (half of the
chance of a chi squared with one degree beyond 12), which supposes many requests. What is not seen is not claimed: an open load is what is
left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from sojourn.stats.in_flight import in_flight

Array = NDArray[np.float64]
MOST_USERS = 2000
DIGITS = 6  # of a time in s: an answer and a request less apart are of one moment
SURE = 6.0  # of a natural logarithm of likelihoods
BESIDE = 0.01  # of a chance: of classes beside others that wait
NEAR = 1.353  # of the same: half of the 90 % quantile of a chi squared with one degree


@dataclass(frozen=True)
class ArrivalsByInFlight:
    """`arrivals` (K,): requests that came while k = 0 … K-1 were under way; `time_s` (K,): how long that was, s."""

    arrivals: Array
    time_s: Array

    @staticmethod
    def of(came_s: Array, took_s: Array, start_s: float, end_s: float) -> ArrivalsByInFlight:
        """Of requests in order of arrival, (requests,) each; only what lies in [start_s, end_s) counts. A request that came and was
        answered in the same moment came first."""
        times, step = in_flight(came_s, came_s + took_s, answers_first=False, digits=DIGITS)
        before = np.concatenate([[0.0], np.cumsum(step)]).astype(np.intp)[:-1]
        size = int(before.max(initial=0)) + 1
        clipped = np.clip(np.concatenate([[start_s], times, [end_s]]), start_s, end_s)
        level = np.concatenate([before, [0]])
        spent = np.bincount(level, np.diff(clipped), size)
        new = (step > 0) & (times >= start_s) & (times < end_s)
        return ArrivalsByInFlight(np.asarray(np.bincount(before[new], minlength=size), float), np.asarray(spent, float))

    def think_s(self, users: int) -> float | None:
        """Mean think time of so many users, s; None where nobody asked."""
        total = float(self.arrivals.sum())
        return float(self.time_s @ (users - np.arange(len(self.time_s)))) / total if total else None


@dataclass(frozen=True)
class LoadFeedback:
    """`users` of the best closed load, None where the best is an open one; `gain`: its log likelihood above that of an open load. `low`,
    `high`: users that are as likely, at 90 %; `high` is None where no number is too large."""

    users: int | None
    gain: float
    low: int = 1
    high: int | None = None


def feedback(windows: Sequence[ArrivalsByInFlight]) -> LoadFeedback:
    """The number of users that explains best when requests came; each window has a think time, or a rate, of its own."""
    seen = [one for one in windows if one.arrivals.sum() > 0 and one.time_s.sum() > 0]
    least = max((_least(one) for one in seen), default=0)
    if not seen or all(len(one.time_s) < 2 for one in seen):
        return LoadFeedback(None, 0.0)
    users = np.unique(np.round(np.linspace(least, max(MOST_USERS, 2 * least), MOST_USERS)))
    gain = _log_left(seen, users)
    for one in seen:
        spent = one.time_s.sum()
        left = users * spent - np.arange(len(one.time_s)) @ one.time_s  # users that think, added up over time
        gain += one.arrivals.sum() * (np.log(spent) - np.log(np.maximum(left, 1e-12)))
    best = int(np.argmax(gain))
    near = np.flatnonzero(gain >= gain[best] - NEAR)
    last = len(users) - 1
    return LoadFeedback(
        None if best == last else int(users[best]), float(gain[best]), int(users[near[0]]),
        None if near[-1] == last else int(users[near[-1]]),
    )  # fmt: skip


def _log_left(seen: Sequence[ArrivalsByInFlight], users: Array) -> Array:
    """Sum of log(N - n) over all requests, for each N."""
    came = np.zeros(max(len(one.arrivals) for one in seen))
    for one in seen:
        came[: len(one.arrivals)] += one.arrivals
    found = np.zeros(len(users))
    for n in np.flatnonzero(came):
        found += came[n] * np.log(users - n)
    return found


def _least(seen: ArrivalsByInFlight) -> int:
    """Users without whom this could not have been."""
    asked, there = np.flatnonzero(seen.arrivals), np.flatnonzero(seen.time_s > 0)
    return max(int(asked.max(initial=0)) + 1, int(there.max(initial=0)))


def waiting(gains: Mapping[str, float], classes: int) -> set[str]:
    """Which of `classes` classes wait for their answers, by the gains of those that may. One does that is sure by itself (C. E. Bonferroni,
    1936), and all together do where their sum is. Where some wait the others are likely to do so too, since one client sends them all:
    then a chance of one in a hundred is enough for them together."""
    own = {name for name, gain in gains.items() if gain >= SURE + float(np.log(max(classes, 1)))}
    if not own:
        return set(gains) if _chance(gains.values(), classes) <= _chance([SURE], 1) else set()
    rest = {name: gain for name, gain in gains.items() if name not in own}
    return own | (set(rest) if _chance(rest.values(), classes - len(own)) <= BESIDE else set())


def _chance(gains: Iterable[float], classes: int) -> float:
    """Of a sum as large where none of so many classes waits: each has half of a chi squared with one degree, or, as often, 0
    (S. G. Self, K.-Y. Liang, J. Am. Stat. Assoc. 82 (1987), pp. 605-610, case 5)."""
    square, each = 2 * sum(gains), range(1, classes + 1)
    shares = np.array([math.comb(classes, k) / 2**classes for k in each])
    return float(shares @ chdtrc(np.array(each), square)) if square > 0 else 1.0


def closed_users(found: Mapping[str, LoadFeedback]) -> dict[str, int]:
    """Class → users, of those that come less while more are under way than an open load of Poisson does; the others are open."""
    gains = {name: one.gain for name, one in found.items() if one.users}
    return {name: users for name in waiting(gains, len(found)) if (users := found[name].users)}


def told(found: Mapping[str, LoadFeedback], likely: Mapping[str, int], users: Mapping[str, int]) -> list[str]:
    """Lines for the reader: how well the numbers of users are known, and which of the `likely` may be a schedule."""
    said = []
    for name in users:
        one = found[name]
        most = f"to {one.high}" if one.high is not None else "or more"
        said.append(f"{name}: {one.low} {most} users are as likely (90 %); a fit takes {users[name]} as known")
    said += [
        f"fewer {name} came while more were under way, as of users that wait for their answers or of a paced schedule: taken as a load "
        "that does not wait"
        for name in likely
        if name not in users
    ]
    return said
