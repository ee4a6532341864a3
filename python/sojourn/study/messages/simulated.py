"""The message service as a model with known times, run by the simulator: what the fit finds must be what was put in.

A request goes over the network (delay), waits for its dispatcher, then for a worker, who holds it while it is parsed, waits
for a connection, is in the database and is answered; both pools are resources of the simulation. The share
`empty_share` of the requests is followed by the retry delay. All times exponential. Instrumented times are taken where
the service takes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sojourn.fit.usl import usl
from sojourn.model import Delay, LoadDependent, Model, Pool, Queue
from sojourn.model.nouns import Station
from sojourn.study.messages.models.network import HELD, LEAST_S
from sojourn.study.messages.points import Point
from sojourn.study.messages.seen import NAN, Seen
from sojourn.study.simulated import Answers, closed

MOST = 256


def declining() -> tuple[float, ...]:
    """Rates with 1 … 256 in the database: 400/s alone, the most with 21 and 22, less beyond."""
    return tuple(usl(range(1, MOST + 1), 400.0, 0.05, 0.002).tolist())


@dataclass(frozen=True)
class Known:
    """The times put in, s: network of one request, dispatcher, parsing, answering; rates of the database, 1/s."""

    network_s: float = 1e-3
    dispatch_s: float = 40e-6
    parse_s: float = 0.1e-3
    respond_s: float = 0.15e-3
    empty_share: float = 0.2
    rates_per_s: tuple[float, ...] = field(default_factory=declining)


@dataclass(frozen=True)
class SimulatedSystem:
    """Runs points of the study in simulated time; `seed` with the point's name decides everything."""

    known: Known = field(default_factory=Known)
    seed: int = 1
    kind: str = "simulated"

    def run(self, point: Point) -> Seen:
        """One run of `point.seconds` simulated seconds."""
        return _seen(point, Answers(self.model(point), point, self.seed))

    def model(self, point: Point) -> Model:
        k = self.known
        nets = [Queue(f"dispatcher {j + 1}") for j in range(point.middlewares)]
        stations: list[Station] = [
            Delay("network"), Delay("empty"), Delay("retry"), *nets, Delay("parse"), LoadDependent("database", k.rates_per_s),
            Delay("respond"), Pool("workers", point.workers * point.middlewares, HELD),
            Pool("connections", point.connections * point.middlewares, ("database",)),
        ]  # fmt: skip
        routing = {
            "network": {n.name: 1 / len(nets) for n in nets},
            **{n.name: {"parse": 1.0} for n in nets},
            "parse": {"database": 1.0},
            "database": {"respond": 1.0},
            "respond": {"empty": k.empty_share, "network": 1 - k.empty_share},
            "empty": {"retry": 1.0},  # no time: who enters the delay is counted there, not who leaves it
            "retry": {"network": 1.0},
        }
        times = {"network": k.network_s, "empty": LEAST_S, "retry": max(point.retry_s, LEAST_S)}
        times |= {"parse": k.parse_s, "respond": k.respond_s}
        times |= {n.name: k.dispatch_s for n in nets}
        return closed(stations, point.clients, times, routing)


def _seen(point: Point, got: Answers) -> Seen:
    x, passing = got.throughput_per_s, got.passing_s
    nets = got.stations("utilisation", "dispatcher")
    # a pool's number has those that hold one of it in it
    held = sum(passing(s) for s in HELD) + passing("connections") - passing("database")
    inside = sum(passing(s) for s in nets) + passing("workers")
    return Seen(
        **point.factors, seconds=point.seconds, throughput_per_s=x, response_s=passing("network") + inside,
        empty_share=got["throughput", "empty"] / x, mw_response_s=inside,
        dispatch_s=sum(got["utilisation", s] for s in nets) / x, queue_s=passing("workers") - held,
        parse_s=passing("parse"), wait_s=passing("connections") - passing("database"), database_s=passing("database"),
        respond_s=passing("respond"), client_share=NAN,
    )  # fmt: skip
