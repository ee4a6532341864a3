"""The Telesto report's own closed network: every centre by itself, so that a worker is free while the database works.

Source: "Analytical Queuing Model for Telesto" (2013), sections 1.1 to 1.3: clients with a mean think time, the network as
a delay, the dispatcher as a fixed-capacity centre, workers before and after the database and the database as
load-dependent centres. It is solved here by convolution: the Telesto report's load-dependent mean value analysis is unstable in
doubles from a population of 20 on (negative probabilities).

    document                 here                                    unit
    S network, V = 2         `network_s`: both passages together     s
    S dispatcher             `dispatch_s`                            s
    S worker in, worker out  `parse_s`, `respond_s`                  s
    S database               `database_s`                            s
    z                        `think_s`                               s
    n, c                     `clients`, `connections`                1
"""

from __future__ import annotations

from sojourn.model import Closed, Delay, LoadDependent, Model, Queue
from sojourn.model.nouns import Station
from sojourn.study.messages.parallelism import DocumentRule, parallel


def document_network(
    *, network_s: float, dispatch_s: float, parse_s: float, database_s: float, respond_s: float, think_s: float,
    workers: int, connections: int, clients: int,
) -> Model:  # fmt: skip
    """The model for `solve`; stations network, dispatcher, worker_in, database, worker_out, class "client"."""
    stations: list[Station] = [
        Delay("network"),
        Queue("dispatcher"),
        LoadDependent("worker_in", parallel(workers, parse_s)),
        LoadDependent("database", DocumentRule(database_s).rates(connections)),
        LoadDependent("worker_out", parallel(workers, respond_s)),
    ]
    demands = {"network": {"client": network_s}, "dispatcher": {"client": dispatch_s}}
    return Model(stations=stations, classes=[Closed("client", clients, think_s=think_s)], demands_s=demands)
