"""A network as the configuration of the native engine (JSON; the schema is `crates/des/src/network`).

What the engine is told beyond the model: the seed, the number of the replication, how long the first batches are, and
of which stations and classes it keeps histograms.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np

from sojourn.errors import ModelError
from sojourn.model.components import ForkJoin, Queue
from sojourn.model.distribution_registry import Distribution, Trace
from sojourn.model.network_arrays import Network

BATCHES = 1024
LEAST_BATCHES = 64
COMPLETIONS_A_BATCH = 16
MOST_STATION_HISTOGRAMS = 8


def configuration(
    network: Network, seed: int, replication: int = 0, until_s: float | None = None, period_s: float | None = None
) -> dict[str, Any]:
    """The whole configuration as plain data. Raises ModelError for what cannot be simulated.

    `until_s` is the length where it is known: a short run has shorter batches. `period_s`: a time series is kept.
    """
    if not network.at_load:
        what = network.dependent_times[0].formula.text if network.dependent_times else "background"
        raise ModelError(
            what,
            "times",
            "use the network that sojourn.solve.solve.settled_network returns",
        )
    return {
        "seed": seed,
        "replication": replication,
        "stations": [_station(network, k) for k in range(len(network.stations))],
        "classes": [_class(network, c) for c in range(len(network.classes))],
        "service": [[None if d is None else d.table() for d in row] for row in network.service],
        "routes": _routes(network),
        "limits": [asdict(limit) for limit in network.limits],
        "batch_s": min(first_batch_s(network), (until_s or math.inf) / LEAST_BATCHES),
        "batches": BATCHES,
        "histograms": histogram_keys(network),
        "period_s": period_s,
    }


def histogram_keys(network: Network) -> list[str]:
    """ "/class" for each class, and "station/class" where these are few."""
    keys = [f"/{name}" for name in network.classes]
    pairs = np.argwhere(network.visits > 0)
    if len(network.stations) > 1 and len(pairs) <= MOST_STATION_HISTOGRAMS:
        keys += [f"{network.stations[k]}/{network.classes[c]}" for k, c in pairs]
    return keys


def rate_bound(network: Network) -> float:
    """Passes/s of all classes, about: offered by the open ones, N/(Z + D) and m/D at most by the closed ones."""
    total = sum(_rate(network, int(c)) for c in np.flatnonzero(~network.closed))
    for c in np.flatnonzero(network.closed & (network.population > 0)):
        demand = network.demands_s[:, c]
        queues = [network.servers[k] / demand[k] for k in range(len(demand)) if _limits(network, k) and demand[k] > 0]
        cycle = float(network.think_s[c] + demand.sum())
        if cycle > 0:
            total += min([network.population[c] / cycle, *queues])
    if total <= 0:
        raise ModelError("nobody ever arrives", "classes", "give a closed class a population or an open one a rate")
    return total


def _rate(network: Network, c: int) -> float:
    arrivals = network.arrivals[c]
    if isinstance(arrivals, Trace) and arrivals.run:
        times = recorded_times(arrivals.run, f"classes.{network.classes[c]}.arrivals")
        return (len(times) - 1) / times[-1]
    return float(network.rate_per_s[c])


def first_batch_s(network: Network) -> float:
    return COMPLETIONS_A_BATCH / rate_bound(network)


def _limits(network: Network, k: int) -> bool:
    return network.kind[k] == "queue"


def _station(network: Network, k: int) -> dict[str, Any]:
    station = network.model.station(network.stations[k])
    kind = network.kind[k]
    if network.sharing:
        group = network.sharing[0]
        remedy = "`sojourn solve` answers it, for one closed class"
        raise ModelError(f"stations {' and '.join(group.stations)} share cores", "simulate", remedy)
    if kind == "multicore":
        remedy = "`sojourn solve` answers it; sojourn.simulate.simulate_host simulates one such host, with Poisson arrivals or users"
        raise ModelError(f"station {station.name!r} is of kind multicore", "simulate", remedy)
    told: dict[str, Any] = {
        "name": station.name,
        "kind": kind,
        "servers": int(network.servers[k]),
        "discipline": network.discipline[k],
        "capacity": None if math.isinf(network.capacity[k]) else int(network.capacity[k]),
        "on_full": network.on_full[k],
        "rates": network.rates[k].tolist() if k in network.rates else [],
        "branches": station.branches if isinstance(station, ForkJoin) else 1,
        "schedule": [],
        "period_s": None,
        "breakdowns": None,
    }
    if isinstance(station, Queue):
        down = station.breakdowns
        told["schedule"] = [[float(at), int(count)] for at, count in station.server_schedule]
        told["period_s"] = station.schedule_period_s
        told["breakdowns"] = down and {"up": down.up.table(), "down": down.down.table()}
    return told


def _class(network: Network, c: int) -> dict[str, Any]:
    arrivals, think = network.arrivals[c], network.think[c]
    closed = bool(network.closed[c])
    return {
        "name": network.classes[c],
        "population": int(network.population[c]) if closed else None,
        "think": think.table() if isinstance(think, Distribution) else None,
        "arrivals": None if closed or arrivals is None else _arrivals(arrivals, network.classes[c]),
        "priority": int(network.priority[c]),
    }


def _arrivals(arrivals: Any, name: str) -> dict[str, Any]:
    if isinstance(arrivals, Trace) and arrivals.run:
        return {"kind": "trace", "times_s": recorded_times(arrivals.run, f"classes.{name}.arrivals")}
    table: dict[str, Any] = arrivals.table()
    return table


@lru_cache(maxsize=8)
def recorded_times(run: str, place: str) -> tuple[float, ...]:
    """Intended times of the requests of a run folder, s from the first. Raises ModelError where there are none."""
    from sojourn.runs.run_folder import RunFolder

    requests = RunFolder.open(run).frame("requests")
    if requests is None or requests.height < 2:
        raise ModelError(f"run folder {run!r} has no requests", place, "give a run folder with requests.parquet")
    times = requests["intended_s"].sort()
    return tuple((times - times[0]).to_list())


def _routes(network: Network) -> list[dict[str, Any]]:
    classes, rows = len(network.classes), []
    for row in np.flatnonzero(np.diff(network.routes.matrix.indptr)):
        node, c = divmod(int(row), classes)
        told: dict[str, Any] = {"node": node, "class": c}
        if (choice := network.choices.get((node, c))) is not None:
            to = [network.stations.index(name) for name in choice.to]
            told["choice"] = {"policy": choice.policy, "to": to, "d": choice.d}
        else:
            told["to"] = [list(move) for move in network.routes.row(node, c)]
        rows.append(told)
    return rows
