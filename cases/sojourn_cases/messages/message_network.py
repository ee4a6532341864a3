"""The message service as a closed network: delays, and one station whose rate depends on how many are in it and at it.

    clients ── retry delay after an empty take ── delay ── waiting ── service, at most min(w, c) a middleware in it ──┐
       └──────────────────────────────────────────────────────────────────────────────────────────────────────────────┘

With n requests at the service, m = min(n, places) of them in it (a place is a worker with a connection), it completes

    X(n) = a m/(1 + s (m - 1) + k m (m - 1)) · (1 + b (n - 1)/(n - 1 + h))

The first factor is the universal scalability law (N. J. Gunther, Guerrilla Capacity Planning (2007), eq. 4.31): cores that all
share, locks, flushes. The second is batching: where the next request is there already, no thread sleeps and is woken,
one system call reads several requests and one flush serves several commits; measured here, a request of a service that is
hardly used costs twice the CPU time of one of a service that is full. With one such station and delays the number at it is a
birth-death process (L. Kleinrock, Queueing Systems, volume 1 (1975), section 3.8): the stationary mean is a sum of N + 1
terms, and by insensitivity the retry delay may be constant (F. Baskett et al., J. ACM 22(2), 1975).

A run is not stationary: all clients start at once, and as the retry delay is constant they come back together for many seconds
(with 90 clients and 0.3 s that doubles the response time of a run of 2 s). `simulated` is the same network from that start, for as
long as a run.

    letter    here                              unit
    N         `clients`                         1
    Z         `MessageNetwork.think_s`                 s
    a         `alone_per_s`                     1/s
    s, k      `contention`, `coherency`         1
    b, h      `batching`, `half`                1

Limits: one class (puts, takes and empty takes have one mean); the pools of several middlewares are one of their sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import sojourn as sj
from sojourn import usl
from sojourn.model import Closed, Delay, Deterministic, Distribution, LoadDependent, Model, Station

Array: TypeAlias = NDArray[np.float64]
Factors: TypeAlias = Mapping[str, Any]
LEAST_S = 1e-9


def places(factors: Factors) -> int:
    """Requests that can be in service at once: each needs a worker and a connection."""
    return int(min(factors["workers"], factors["connections"]) * factors["middlewares"])


@dataclass(frozen=True)
class MeanPerformance:
    """Throughput in 1/s and response time in s, until the answer has arrived; arrays where several were asked for. `used`: of the
    places in service, 0 to 1."""

    throughput_per_s: Any
    response_s: Any
    used: Any = None


@dataclass(frozen=True)
class MessageNetwork:
    """`delay_s`: of a request outside the service. `alone_per_s`, `contention`, `coherency`: the scalability law of the service;
    `batching`: by which share it is faster with very many requests at it, half of that with `half` beside the first.
    `empty_share`: of all requests, those that the retry delay follows; `own_s`: from an answer's arrival until the client has
    read it, think time to the network."""

    delay_s: float
    alone_per_s: float
    contention: float
    coherency: float
    batching: float = 0.0
    half: float = 1.0
    empty_share: float = 0.0
    own_s: float = 0.0

    def rates_per_s(self, places: int, most: int) -> Array:
        """With 1 … `most` requests at the service, `places` at most in it."""
        n = np.arange(1, most + 1)
        law = usl(np.minimum(n, places), self.alone_per_s, self.contention, self.coherency)
        return law * (1 + self.batching * (n - 1) / (n - 1 + self.half))

    def think_s(self, retry_s: float) -> float:
        """From an answer to the next request, in the mean."""
        return self.empty_share * retry_s + self.own_s

    def stationary(self, factors: Factors, slower: Any = 1.0) -> MeanPerformance:
        """Means in the long run; `slower` multiplies the delay and all service times, and may be an array."""
        clients, most = int(factors["clients"]), places(factors)
        slow = np.atleast_1d(np.asarray(slower, float))[:, None]
        away_s = np.maximum(self.delay_s * slow + self.think_s(factors["retry_s"]), LEAST_S)
        rates = self.rates_per_s(most, clients) / slow
        logs = np.cumsum(np.log(np.arange(clients, 0, -1) / away_s / rates), axis=1)
        logs = np.concatenate([np.zeros_like(slow), logs], axis=1)
        p = np.exp(logs - logs.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        x = (p[:, 1:] * rates).sum(axis=1)
        response_s = self.delay_s * slow[:, 0] + p @ np.arange(clients + 1) / x
        used = p[:, 1:] @ np.minimum(np.arange(1, clients + 1), most) / most
        return (
            MeanPerformance(x, response_s, used)
            if np.ndim(slower)
            else MeanPerformance(float(x[0]), float(response_s[0]), float(used[0]))
        )

    def longer(self, factors: Factors, duration_s: float, runs: int, seed: int) -> float:
        """Mean response time of runs from their start (without their warm-up) over the stationary one."""
        means = [self.simulated(factors, duration_s, seed + k).response_s for k in range(runs)]
        return float(np.mean(means) / self.stationary(factors).response_s)

    def cycle(self, factors: Factors, response_s: Any) -> MeanPerformance:
        """With this response time: the interactive law."""
        return MeanPerformance(factors["clients"] / (response_s + self.think_s(factors["retry_s"])), response_s)

    def simulated(self, factors: Factors, duration_s: float, seed: int) -> MeanPerformance:
        """Means of one run from its start, without its warm-up."""
        found = sj.simulate(self.model(factors), until_s=duration_s, seed=seed, quantiles=())
        x = found.value("throughput", cls="c")
        inside = sum(found.value("queue_length", station) for station in ("delay", "service"))
        return MeanPerformance(x, inside / x)

    def model(self, factors: Factors) -> Model:
        """For `simulate`; its first station is where all clients start."""
        retry_s, empty = float(factors["retry_s"]), self.empty_share
        rates = self.rates_per_s(places(factors), int(factors["clients"])).tolist()
        stations: list[Station] = [
            Delay("delay"),
            LoadDependent("service", tuple(rates)),
            Delay("retry"),
            Delay("own"),
        ]
        times: dict[str, float | Distribution] = {
            "delay": max(self.delay_s, LEAST_S),
            "own": max(self.own_s, LEAST_S),
            "retry": Deterministic(max(retry_s, LEAST_S)),
        }
        routing = {
            "delay": {"service": 1.0},
            "service": {"own": 1.0},
            "own": {"retry": empty, "delay": 1 - empty} if empty else {"delay": 1.0},
            "retry": {"delay": 1.0},
        }
        return Model(
            stations, [Closed("c", int(factors["clients"]), reference="delay")],
            service_s={name: {"c": value} for name, value in times.items()}, routing={"c": routing},
        )  # fmt: skip
