"""The study's system as a model with known times, run by the simulator: what the fit finds must be what was put in.

A client's request goes over the network (delay), waits for the net thread, then for a worker; a worker is held for its own
time and for one server's. All times exponential. Instrumented times are taken where the middleware takes them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import sojourn as sj
from sojourn.model import Closed, Delay, Model, Pool, Queue
from sojourn.model.nouns import Station
from sojourn.study.kv.points import Point
from sojourn.study.kv.seen import Seen
from sojourn.table import Metrics

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
        digest = hashlib.sha256(f"{self.seed}/{point.name}".encode()).digest()
        seed = int.from_bytes(digest[:6], "big")
        m = sj.simulate(self.model(point), until_s=point.seconds, seed=seed, quantiles=())
        return _seen(point, m)

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
        return Model(
            stations, [Closed("c", point.clients, reference="network")],
            service_s={name: {"c": value} for name, value in times.items()}, routing={"c": routing},
        )  # fmt: skip


def _seen(point: Point, m: Metrics) -> Seen:
    x = m.value("throughput", cls="c")
    rows = m.frame.filter(m.frame["class"] == "").to_dicts()
    got = {(row["metric"], row["station"]): row["value"] for row in rows if row["q"] is None}
    busy = {
        name: sum(v for (what, s), v in got.items() if what == "utilisation" and s.startswith(name))
        for name in (NET, SERVERS)
    }

    def passing(station: str) -> float:  # by Little's law, of one pass
        return float(got["queue_length", station]) / x

    stations = {s for what, s in got if what == "queue_length" and s}
    service = passing("held") + sum(passing(s) for s in stations if s.startswith(SERVERS))
    nets = sum(passing(s) for s in stations if s.startswith(NET))
    inside = nets + passing("workers")  # the pool's number has those that hold a worker in it
    return Seen(
        **point.factors, seconds=point.seconds, throughput_per_s=x, response_s=passing("network") + inside, mw_throughput_per_s=x,
        mw_response_s=inside, queue_s=passing("workers") - service,
        service_s=service, net_s=busy[NET] / x, server_cpu_s=busy[SERVERS] / x,
    )  # fmt: skip
