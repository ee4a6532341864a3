"""A day of a service whose law is known, as the counters that telemetry has of it: answers, their times by bucket, CPU seconds.

Services are those of tests/unit/capacity (`VirtualService`), on a machine with a core for each worker: the workers' own time is CPU time,
and what they wait for (a lock, a pool of connections, a delay) is not. Beside them up to 2 % of the machine is busy with other work. A day
is compressed, so that it has no more than about `REQUESTS`: rates stay, and the hours are shorter.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/unit/capacity"))
from virtual_service import LONG, WARM, VirtualService, drawn_limit  # type: ignore[import-not-found]

Array = NDArray[np.float64]
KINDS = ("cores", "lock", "pool", "delay", "growing")
LAWS = ("constant", "exponential", "uneven")
DAY_S, QUARTERS, SCRAPE_S = 86_400.0, 96, 15.0
REQUESTS = 800_000  # of a day
COMPRESS = (
    1,
    2,
    3,
    5,
    6,
    10,
    12,
    15,
    20,
    30,
    60,
)  # at which a minute is a second or more, and a scrape whole milliseconds
PEAK = (0.2, 0.46)  # of saturation: twice as much is at most 0.92, as the limits of benches/capacity
NIGHT, UNEASY = (0.15, 0.4), 0.08  # of the peak; how much quarters of an hour differ
OTHER_WORK = (0.0, 0.02)  # of the machine
LE_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)  # upper ends of buckets
TRUTHS = 6  # long runs that say what is true


@dataclass(frozen=True)
class Day:
    """`rates_per_s` (96,): of each quarter of an hour, which lasts 900/`compress` s."""

    rates_per_s: Array
    compress: int

    @property
    def length_s(self) -> float:
        return DAY_S / self.compress

    @property
    def peak_per_s(self) -> float:
        return float(self.rates_per_s.max())

    def arrivals(self, random: np.random.Generator) -> Array:
        """Poisson's, from 0 to the end of the day, s."""
        quarter_s = self.length_s / len(self.rates_per_s)
        counts = random.poisson(self.rates_per_s * quarter_s)
        begin = np.repeat(np.arange(len(counts)) * quarter_s, counts)
        return np.sort(begin + random.uniform(0, quarter_s, len(begin)))


@dataclass(frozen=True)
class ServedTimes:
    """Of each request, s: when it came and was answered, and from when to when it held a core."""

    came_s: Array
    answered_s: Array
    begun_s: Array
    ended_s: Array


@dataclass(frozen=True)
class ScrapedCounters:
    """Since the start of the day, at `at_s` (n,): `answers`, `seconds` of their response times, `within` (buckets, n) of `LE_S`, and
    `busy_s` of the CPU."""

    at_s: Array
    answers: Array
    seconds: Array
    within: Array
    busy_s: Array


@dataclass
class ReplayedService(VirtualService):  # type: ignore[misc]
    """`other_work`: share of the machine that is busy with something else, which takes nothing from the requests."""

    other_work: float = 0.0

    @property
    def saturation_per_s(self) -> float:
        """Exact: all workers hold a request. With a second time these are a closed network, of a delay and a queue."""
        first_s = self.service_s * (1 + self.grows)
        if not self.then_s:
            return float(self.workers / first_s)
        return closed_throughput(self.workers, first_s, self.then_s, self.seconds)

    def served(self, arrivals: Array, random: np.random.Generator, longer: Array | float = 1.0) -> ServedTimes:
        """`longer`: by what the workers' own time of each is multiplied."""
        own = self.service_s * self._drawn(random, len(arrivals)) * longer
        then = random.exponential(self.then_s, len(arrivals)) if self.then_s else None
        left = self._leaving(arrivals, own, then)
        if then is not None:  # when it began is not told; its CPU time counts when it leaves
            return ServedTimes(arrivals, left + self.delay_s, left - own, left)
        free = np.concatenate([np.full(self.workers, -np.inf), np.sort(left)])[: len(left)]
        return ServedTimes(arrivals, left + self.delay_s, np.maximum(arrivals, free), left)

    def counters(self, served: ServedTimes, day: Day, first_s: float) -> ScrapedCounters:
        """Every 15 s of the day, from `first_s` on."""
        at = first_s + np.arange(round(DAY_S / SCRAPE_S)) * SCRAPE_S / day.compress
        took = served.answered_s - served.came_s
        order = np.argsort(served.answered_s)
        answers = np.searchsorted(served.answered_s[order], at, side="right")
        seconds = np.concatenate([[0.0], np.cumsum(took[order])])[answers]
        within = [np.searchsorted(np.sort(served.answered_s[took <= le]), at, side="right") for le in LE_S]
        busy = busy_until(at, served.begun_s, served.ended_s) + self.other_work * self.workers * at
        return ScrapedCounters(at, answers.astype(float), seconds, np.array(within, float), busy)

    def mean_response_s(self, rate_per_s: float) -> tuple[float, float]:
        """At a constant rate, by long runs, and its standard error."""
        each = [self.responses(rate_per_s, LONG, np.random.default_rng([self.seed, 91, k]))[1][WARM:].mean()
                for k in range(TRUTHS)]  # fmt: skip
        return float(np.mean(each)), float(np.std(each, ddof=1) / TRUTHS**0.5)


def closed_throughput(customers: int, delay_s: float, service_s: float, servers: int) -> float:
    """Of customers that go from a delay to a queue with exponential times and back, 1/s: the machine repairman with several repairmen
    (K. S. Trivedi, Probability and Statistics (2nd ed. 2001), 8.3).
    The delay's law does not matter (F. Baskett et al., J. ACM 22 (1975))."""
    weights = [1.0]
    for k in range(1, customers + 1):
        weights.append(weights[-1] * (customers - k + 1) * service_s / delay_s / min(k, servers))
    busy = np.minimum(np.arange(customers + 1), servers)
    return float(np.array(weights) @ busy / sum(weights) / service_s)


def busy_until(at_s: Array, begun_s: Array, ended_s: Array) -> Array:
    """Seconds that the intervals from `begun_s` to `ended_s` have before each of `at_s`, together."""

    def since(moments: Array) -> Array:
        ordered = np.sort(moments)
        count = np.searchsorted(ordered, at_s)
        return at_s * count - np.concatenate([[0.0], np.cumsum(ordered)])[count]

    return since(begun_s) - since(ended_s)


def drawn(seed: int, kinds: Sequence[str] = KINDS) -> tuple[str, ReplayedService, Day]:
    """A service of the kind that is the seed's turn, and its day. The ranges are those of benches/capacity."""
    random = np.random.default_rng([seed, 53])
    kind = kinds[seed % len(kinds)]
    time_s = float(np.exp(random.uniform(np.log(2e-3), np.log(20e-3))))
    given: dict[str, Any] = {"service_s": time_s, "law": str(random.choice(LAWS)), "delay_s": 0.0003}
    given |= drawn_limit(kind, time_s, random)
    service = ReplayedService(Path(), seed=seed, other_work=float(random.choice(OTHER_WORK)), **given)
    peak = float(random.uniform(*PEAK)) * service.saturation_per_s
    night, late = random.uniform(*NIGHT), random.uniform(0, 1)
    hours = (np.arange(QUARTERS) + 0.5) / QUARTERS
    shape = night + (1 - night) * (1 + np.sin(2 * np.pi * (hours - late))) / 2
    shape = shape * np.exp(random.normal(0, UNEASY, QUARTERS))
    rates = peak * shape / shape.max()
    enough = (c for c in COMPRESS if float(rates.mean()) * DAY_S / c <= REQUESTS)
    return kind, service, Day(rates, next(enough, COMPRESS[-1]))
