"""The network of queues of the report's section 7, with the times of these runs: nothing is fitted.

Clients think while they read, the network is a delay, the net thread of each middleware is a queue, and so is each of its workers (report,
Figures 34 and 37). A worker's time has that of the servers in it. All times are those of the fewest clients that were run, as the report
takes them from its instrumentation. Solved exactly for each number of clients (`sojourn.solve`).
Limits: processes that share a core are not seen to share it, so that the network completes too much where a core is full; a worker that
has a queue of its own makes a request wait for it while others are free.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn import Metrics
from sojourn.model import Closed, Delay, Model, Queue
from sojourn.report import Block, Cell, Figure, Section, Series, Table
from sojourn.solve import sweep
from sojourn_cases.kv.middleware import CONFIGURATION, configurations, name_of
from sojourn_cases.kv.table_cells import MS

LEAST, CURVE_POINTS = 3, 24  # numbers of clients that make a curve
POPULATION = "classes.client.population"
NETWORK, WORKER = "network", "worker 1.1"
LEAD = (
    "The network of queues of the report's section 7: the network as a delay, the net thread of each middleware and each worker as a queue "
    "of one server. Its times are measured with the fewest clients, and nothing is fitted. Of each configuration the largest number of "
    "workers is shown."
)


@dataclass(frozen=True)
class NetworkTimes:
    """Of a configuration with the fewest clients, s a request: reading at the client, the network, the net thread, a worker."""

    own_s: float
    network_s: float
    net_s: float
    service_s: float


def network_sections(rows: pl.DataFrame) -> tuple[Section, ...]:
    """Curves and tables of the configurations of `staged`; nothing where none has enough numbers of clients."""
    staged = rows.filter(pl.col("valid"), pl.col("design") == "staged")
    alike = [name for name in CONFIGURATION if name != "workers"]
    most = staged.filter(pl.col("workers") == pl.col("workers").max().over(alike))
    blocks = [block for configuration, own in configurations(most) for block in _blocks(name_of(configuration), own)]
    return (Section("Network of queues", LEAD, tuple(blocks)),) if blocks else ()


def times_of(rows: pl.DataFrame) -> NetworkTimes | None:
    """Of the runs with the fewest clients; None where they do not have them."""
    light = rows.filter(pl.col("clients") == rows["clients"].min())
    columns = ("own_s", "response_s", "mw_response_s", "net_s", "service_s")
    found = light.select(pl.col(columns).mean()).row(0, named=True)
    if any(found[name] is None or not math.isfinite(found[name]) for name in columns):
        return None
    network_s = max(found["response_s"] - found["mw_response_s"], 0.0)
    return NetworkTimes(found["own_s"], network_s, found["net_s"], found["service_s"])


def network_model(times: NetworkTimes, proxies: int, workers: int) -> Model:
    """`workers` of each of `proxies` middlewares; a request goes to any of them."""
    stations: list[Queue | Delay] = [Delay(NETWORK)]
    service, visits = {NETWORK: {"client": times.network_s}}, {NETWORK: {"client": 1.0}}
    for j in range(1, proxies + 1):
        own = {
            f"net thread {j}": (times.net_s, 1.0),
            **{f"worker {j}.{i}": (times.service_s, 1 / workers) for i in range(1, workers + 1)},
        }
        stations += [Queue(name) for name in own]
        service |= {name: {"client": time_s} for name, (time_s, _) in own.items()}
        visits |= {name: {"client": share / proxies} for name, (_, share) in own.items()}
    return Model(stations, [Closed("client", 1, think_s=times.own_s)], service_s=service, visits=visits)


def _blocks(name: str, rows: pl.DataFrame) -> Iterator[Block]:
    measured = rows.group_by("clients").agg(pl.col("throughput_per_s", "response_s").mean()).sort("clients")
    times = times_of(rows)
    if measured.height < LEAST or times is None:
        return
    proxies, workers = int(rows["proxies"][0]), int(rows["workers"][0])
    clients = [int(n) for n in measured["clients"]]
    between = np.geomspace(clients[0], clients[-1], CURVE_POINTS).round().astype(int).tolist()
    numbers = sorted({*clients, *between})
    solved = sweep(network_model(times, proxies, workers), POPULATION, numbers)
    note = (
        f"{name}. Measured with {clients[0]} clients: network {MS * times.network_s:.3g} ms, net thread {MS * times.net_s:.3g} ms, worker "
        f"{MS * times.service_s:.3g} ms."
    )
    for metric, column, label, scale in (
        ("throughput", "throughput_per_s", "1/s", 1.0),
        ("response_time", "response_s", "ms", MS),
    ):
        each: list[dict[str, Any]] = [{POPULATION: n} for n in numbers]
        told = [scale * solved.value(metric, **one) for one in each]
        series = (
            Series("measured", clients, [scale * v for v in measured[column]], style="points"),
            Series("network of queues", numbers, told),
        )
        title = f"Network of queues, {name}: {metric.replace('_', ' ')}"
        yield Figure(f"network-{title}", title, "clients", label, series, note)
    yield _table(name, solved, clients[-1], proxies)


def _table(name: str, solved: Metrics, clients: int, proxies: int) -> Table:
    """Throughput and utilisation of each kind of device, as in the report's Tables 17 and 18."""
    at: dict[str, Any] = {POPULATION: clients}
    rows: list[tuple[Cell, ...]] = [
        (NETWORK, "M/M/∞", solved.value("throughput", **at), None, solved.value("queue_length", NETWORK, **at))
    ]
    for station, kind in ((f"net thread 1 of {proxies}", "net thread 1"), ("a worker", WORKER)):
        values = [solved.value(metric, kind, **at) for metric in ("throughput", "utilisation", "queue_length")]
        rows.append((station, "M/M/1", *values))
    note = f"With {clients} clients. A delay has no utilisation: nobody waits there."
    columns = ("device", "queue", "throughput, 1/s", "utilisation", "requests there")
    return Table(f"{name}: devices", columns, tuple(rows), note, ("", "", ".0f", ".1%", ".3g"))
