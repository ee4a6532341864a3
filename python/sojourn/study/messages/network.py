"""Our closed network of the message service: a request holds a worker while it waits for a connection and is answered.

    clients ── think Z after an empty take ── network (delay) ── dispatcher (one thread) ──┐
       └──────────── respond ── database (n present: rate of the service curve) ── parse ──┘ worker held
                                └ at most c in it: the connection pool

Source: hierarchical decomposition (Lazowska et al., Quantitative System Performance, 1984, sections 8.3 and 9.3). At most c
requests are in the database, so with n there or waiting for a connection it completes at the rate of min(n, c): a
load-dependent station, exactly. Parsing, the database and responding are solved alone for 1 … w customers, and those
throughputs are the rates of one station outside: `sojourn.solve`, method `layered`, both levels by convolution. Where
the curve declines, so does the throughput of the whole past saturation.

    letter   here                              unit
    N        `clients`                         1
    Z        `Demands.think_s`                 s
    w, c     `Shape.workers`, `.connections`   1
    mu(n)    `Parallelism.rates`               1/s

Limits: one class (puts, takes and empty takes have one mean); exponential times, except delays; the pools of several
middlewares are taken as one of their sum, their dispatchers as equal queues.
"""

from __future__ import annotations

from dataclasses import dataclass

import sojourn as sj
from sojourn.model import Closed, Delay, LoadDependent, Model, Pool, Queue
from sojourn.model.nouns import Station
from sojourn.study.messages.parallelism import Parallelism

LEAST_S = 1e-9
HELD = ("parse", "database", "respond")
MOST = 256  # connections that a database is thought to have
BUSY = 0.9  # of what it can do: then it limits
INNERMOST = ("dispatcher", "database", "connections", "workers")


@dataclass(frozen=True)
class Shape:
    """The configuration: `workers` and `connections` of each of `middlewares`."""

    workers: int
    connections: int
    middlewares: int = 1


@dataclass(frozen=True)
class Demands:
    """Times of one request, s: `network_s` between client and middleware, both ways; `dispatch_s` of the dispatcher's
    thread; `parse_s` and `respond_s` of a worker. `empty_share`: of all requests, those that are followed by the delay;
    `own_s`: from an answer's arrival until the client has read it."""

    network_s: float
    dispatch_s: float
    parse_s: float
    respond_s: float
    empty_share: float = 0.0
    own_s: float = 0.0

    def think_s(self, retry_s: float) -> float:
        """From an answer to the next request, in the mean."""
        return self.empty_share * retry_s + self.own_s


@dataclass(frozen=True)
class Prediction:
    """`response_s` as a client sees it, without the retry delay; `used`: share of what each could do: dispatcher, workers
    held, connections (rate at the most that may be in), database (greatest rate of its curve)."""

    clients: int
    throughput_per_s: float
    response_s: float
    used: dict[str, float]

    @property
    def bottleneck(self) -> str:
        """The innermost that is used to 90 %; the round trip where nothing is."""
        return next((name for name in INNERMOST if self.used.get(name, 0.0) >= BUSY), "round trip")


def message_network(d: Demands, database: Parallelism, shape: Shape, clients: int, retry_s: float) -> Model:
    """The model for `solve`: the connection pool is in the rates of the station "database"."""
    nets = [Queue(f"dispatcher {k + 1}") for k in range(shape.middlewares)]
    rates = database.rates(shape.connections * shape.middlewares)
    stations: list[Station] = [
        Delay("network"), *nets, Delay("parse"), LoadDependent("database", rates), Delay("respond"),
        Pool("workers", shape.workers * shape.middlewares, HELD),
    ]  # fmt: skip
    times = {"network": d.network_s, "parse": d.parse_s, "respond": d.respond_s}
    times |= {q.name: d.dispatch_s / shape.middlewares for q in nets}
    return Model(
        stations, [Closed("c", clients, think_s=d.think_s(retry_s))],
        demands_s={name: {"c": max(v, LEAST_S)} for name, v in times.items()}, visits={"database": {"c": 1.0}},
    )  # fmt: skip


def predict(d: Demands, database: Parallelism, shape: Shape, clients: int, retry_s: float) -> Prediction:
    """The configuration solved for `clients` >= 1 that wait `retry_s` after an empty take."""
    found = sj.solve(message_network(d, database, shape, clients, retry_s), "layered")
    x = found.value("throughput", cls="c")
    allowed = max(database.rates(shape.connections * shape.middlewares))
    used = {
        "dispatcher": x * d.dispatch_s / shape.middlewares,
        "workers": found.value("utilisation", "workers"),
        "connections": x / allowed,
        "database": x / max(allowed, *database.rates(MOST)),
    }
    return Prediction(clients, x, clients / x - d.think_s(retry_s), used)
