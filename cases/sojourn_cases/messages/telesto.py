"""The Telesto report's network and its rule for the database: every centre by itself, a worker free while the database works.

Source: "Analytical Queuing Model for Telesto" (2013), sections 1.1 to 1.3: clients with a mean think time, the network as
a delay, the dispatcher as a fixed-capacity centre, workers before and after the database and the database as
load-dependent centres. It is solved here by convolution: the Telesto report's load-dependent mean value analysis is unstable in
doubles from a population of 20 on (negative probabilities).

    Telesto report           here                                    unit
    S network, V = 2         `network_s`: both passages together     s
    S dispatcher             `dispatch_s`                            s
    S worker in, worker out  `parse_s`, `respond_s`                  s
    S database               `database_s`                            s
    z                        `think_s`                               s
    n, c                     `clients`, `connections`                1

The database (section 1.1.4): n/S completions a second with n present, up to an order of parallelism m(c) for c connections, m/S
from there. Defects of the rule, kept as they are: m falls from 15 to 14.4 at c = 16, so that one connection more costs 4 % of the
throughput; m(c) is no whole number above 15; beyond 25 it is constant, so that it cannot show a decline.
"""

from __future__ import annotations

from sojourn.model import Closed, Delay, LoadDependent, Model, Queue, Station

TELESTO = "telesto"
MEASURED_TO, MOST_ORDER = 25, 22.5


def order_of_parallelism(connections: int) -> float:
    """The Telesto report's m(c): c, 0.9 c above 15, 22.5 above 25."""
    if connections <= 15:
        return float(connections)
    return 0.9 * connections if connections <= MEASURED_TO else MOST_ORDER


def parallel(order: float, service_s: float) -> tuple[float, ...]:
    """Completions/s with 1, 2, … present: n/S up to the order, which need not be whole (section 1.3.1)."""
    return tuple(min(n, order) / service_s for n in range(1, int(order) + 2))


def telesto_network(
    *, network_s: float, dispatch_s: float, parse_s: float, database_s: float, respond_s: float, think_s: float,
    workers: int, connections: int, clients: int,
) -> Model:  # fmt: skip
    """The model for `solve`; stations network, dispatcher, worker_in, database, worker_out, class "client"."""
    stations: list[Station] = [
        Delay("network"),
        Queue("dispatcher"),
        LoadDependent("worker_in", parallel(workers, parse_s)),
        LoadDependent("database", parallel(order_of_parallelism(connections), database_s)),
        LoadDependent("worker_out", parallel(workers, respond_s)),
    ]
    demands = {"network": {"client": network_s}, "dispatcher": {"client": dispatch_s}}
    return Model(stations=stations, classes=[Closed("client", clients, think_s=think_s)], demands_s=demands)
