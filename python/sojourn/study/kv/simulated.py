"""The study's system as a model with known times, run by the simulator: what the fit finds must be what was put in.

A client's request goes over the network (delay), waits for the net thread, then for a worker; a worker is held for its own
time and for one server's. All times exponential. Instrumented times are taken where the middleware takes them.
"""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.model import Delay, Model, Pool, Queue
from sojourn.model.nouns import Station
from sojourn.study.kv.points import Point
from sojourn.study.kv.seen import Seen
from sojourn.study.simulated import Answers, closed

SERVERS, NET = "server", "net "


@dataclass(frozen=True)
class Known:
    """The times put in, s: network of one pass, net thread, worker outside the server, one server."""

    network_s: float = 3.77e-3
    net_s: float = 0.11e-3
    held_s: float = 1.2e-3
    server_s: float = 0.3e-3


@dataclass(frozen=True)
class SimulatedSystem:
    """Runs points of the study in simulated time; `seed` with the point's name decides everything."""

    known: Known = Known()
    seed: int = 1

    def run(self, point: Point) -> Seen:
        """One run of `point.seconds` simulated seconds. Sets are as gets: one server each."""
        return _seen(point, Answers(self.model(point), point, self.seed))

    def model(self, point: Point) -> Model:
        servers = [Queue(f"{SERVERS} {k + 1}") for k in range(point.servers)]
        nets = [Queue(f"{NET}{k + 1}") for k in range(point.proxies)]
        stations: list[Station] = [
            Delay("network"), *nets, Delay("held"), *servers,
            Pool("workers", point.workers * point.proxies, ("held", *(s.name for s in servers))),
        ]  # fmt: skip
        first = {n.name: 1 / len(nets) for n in nets}
        routing = {
            "network": first,
            **{n.name: {"held": 1.0} for n in nets},
            "held": {s.name: 1 / len(servers) for s in servers},
            **{s.name: {"network": 1.0} for s in servers},
        }
        k = self.known
        times = {"network": k.network_s, "held": k.held_s}
        times |= {n.name: k.net_s for n in nets} | {s.name: k.server_s for s in servers}
        return closed(stations, point.clients, times, routing)


def _seen(point: Point, got: Answers) -> Seen:
    x = got.throughput_per_s
    busy = {name: sum(got["utilisation", s] for s in got.stations("utilisation", name)) for name in (NET, SERVERS)}

    def passing(prefix: str) -> float:
        return sum(got.passing_s(s) for s in got.stations("queue_length", prefix))

    service = passing("held") + passing(SERVERS)
    inside = passing(NET) + passing("workers")  # the pool's number has those that hold a worker in it
    return Seen(
        **point.factors, seconds=point.seconds, throughput_per_s=x, response_s=passing("network") + inside, mw_throughput_per_s=x,
        mw_response_s=inside, queue_s=passing("workers") - service,
        service_s=service, net_s=busy[NET] / x, server_cpu_s=busy[SERVERS] / x,
    )  # fmt: skip
