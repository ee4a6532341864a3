"""A simulated run folder of a model: the same files as a measured run has, so that it can stand where one does.

    requests.parquet  one row a pass: began, ended, class; lost ones are failures (`refused`)
    host.parquet      source `cpu`: busy time of each server of each queue as a core; source `station`: counters and
                      integrals of each station, each period
    manifest.json     which core is which server (`servers`), the model as a file, the seed

A pass that has not ended is left out. Each pass is a row, at most `MOST_REQUESTS`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sojourn.errors import InputError
from sojourn.model import Model, Network
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.engine_config import configuration, rate_bound
from sojourn.simulate.engine_runs import native
from sojourn.simulate.simulated_folder import cpu_rows, write_run
from sojourn.solve.solve import settled_network
from sojourn.stats.batch_means import Array

MOST_REQUESTS = 2_000_000
REQUESTS = 100_000
PERIOD_S = 0.1
MOST_PERIODS = 1_000_000
REFUSED = 1
COUNTERS = ("arrivals", "completions", "losses", "response_s", "waiting_s", "present", "busy")


def as_run(
    model: Model, path: Path | str, seed: int = 1, until_s: float | None = None, period_s: float = PERIOD_S,
    replication: int = 0, completions: int | None = None,
) -> RunFolder:  # fmt: skip
    """Simulates `until_s` (by default about `completions` passes, or 100 000) and writes a run folder at `path`, sampled each `period_s`.

    Raises InputError where this would be more than 2 000 000 passes or 1 000 000 samples, RunFolderError where the
    folder exists.
    """
    network = settled_network(model)
    until_s = until_s or (completions or REQUESTS) / rate_bound(network)
    _affordable(network, until_s, period_s)
    if Path(path).exists():
        RunFolder.create(Path(path), {})  # raises before the work is done, not after it
    seen = record_run(model, until_s, seed, period_s, replication)
    return write_run(
        path, manifest=_manifest(model, seed, until_s), requests=seen.requests, host=_host(network, seen.t_s, seen.sums)
    )


class RunRecord(NamedTuple):
    """`requests`: a row a pass, as `write_run` takes them; `t_s` (samples,): ends of the periods, from 0; `sums`: of each of COUNTERS
    what it had grown to then, (samples, stations and the whole, classes)."""

    requests: pl.DataFrame
    t_s: Array
    sums: dict[str, Array]


def record_run(model: Model, until_s: float, seed: int, period_s: float = PERIOD_S, replication: int = 0) -> RunRecord:
    """Simulates `until_s`, for a run folder of whatever the model stands for."""
    config = configuration(settled_network(model), seed, replication, until_s, period_s)
    sim: Any = native(json.dumps(config | {"requests": MOST_REQUESTS, "engine": "events"}))
    sim.run(until_s, None, None)
    series = sim.series()
    sums = {name: _from_zero(np.cumsum(np.asarray(series[name], float), axis=0)) for name in COUNTERS}
    times = np.arange(sums["busy"].shape[0], dtype=np.float64) * float(series["period_s"])
    return RunRecord(_requests(sim.requests()), times, sums)


def _affordable(network: Network, until_s: float, period_s: float) -> None:
    passes = rate_bound(network) * until_s
    if passes > MOST_REQUESTS:
        most = MOST_REQUESTS / rate_bound(network)
        raise InputError(
            f"about {passes:.3g} passes",
            "--out",
            f"give --until {most:.3g}s or --completions {MOST_REQUESTS}, or less",
        )
    if until_s / period_s > MOST_PERIODS:
        raise InputError(
            f"{until_s / period_s:.3g} samples", "period_s", "sample less often, or simulate a shorter time"
        )


def _requests(log: Any) -> pl.DataFrame:
    lost = np.asarray(log["lost"], bool)
    return pl.DataFrame({
        "intended_s": np.asarray(log["start_s"]), "done_s": np.asarray(log["end_s"]),
        "class": np.asarray(log["class"]), "status": np.where(lost, 503, 200), "failure": np.where(lost, REFUSED, 0),
    })  # fmt: skip


def _host(network: Network, times: Array, sums: dict[str, Array]) -> pl.DataFrame:
    """Samples at the ends of the periods, counters from 0."""
    cores = servers(network)
    busy = sums["busy"].sum(axis=2)
    shares = [busy[:, k] / network.servers[k] for k, _ in cores]
    used = np.stack(shares, axis=1) if cores else np.zeros((times.size, 0))
    parts = [cpu_rows(times, {"user": used, "idle": np.maximum(times[:, None] - used, 0.0)})] if cores else []
    return pl.concat([*parts, *station_rows(network, times, sums)]).sort("t_s", maintain_order=True)


def station_rows(network: Network, times: Array, sums: dict[str, Array]) -> list[pl.DataFrame]:
    """Of each station, and of the whole as the station "", each counter as rows of `host.parquet`."""
    found = []
    for k, name in enumerate([*network.stations, ""]):
        for item, table in sums.items():
            found.append(counter_rows(times, table[:, k].sum(axis=1), "station", name, item))
    return found


def counter_rows(times: Array, values: Array, source: str, key: str, item: str) -> pl.DataFrame:
    """One counter as rows of `host.parquet`."""
    part = pl.DataFrame({"t_s": times, "value": values})
    named = part.with_columns(source=pl.lit(source), key=pl.lit(key), item=pl.lit(item))
    return named.select("t_s", "source", "key", "item", "value")


def _from_zero(counters: Array) -> Array:
    return np.concatenate([np.zeros((1, *counters.shape[1:])), counters])


def servers(network: Network) -> list[tuple[int, int]]:
    """(station, server) of each core: the servers of the queues, in the order of the model."""
    queues = [k for k, kind in enumerate(network.kind) if kind == "queue"]
    return [(k, server) for k in queues for server in range(int(network.servers[k]))]


def _manifest(model: Model, seed: int, until_s: float) -> dict[str, Any]:
    network = model.network
    cores = servers(network)
    factors: dict[str, Any] = {"cores": len(cores)}
    if not network.closed.all():
        factors["rate_per_s"] = float(network.rate_per_s.sum())
    if network.closed.any():
        factors["users"] = int(network.population[network.closed].sum())
    return {
        "name": model.name or "model",
        "seed": seed,
        "factors": factors,
        "classes": list(network.classes),
        "duration_s": until_s,
        "servers": {str(core): network.stations[k] for core, (k, _) in enumerate(cores)},
        "placement": {
            "server": list(range(len(cores))), "interrupts": [], "client": [], "client_shares": False, "observer": -1,
        },
        "model": model.to_toml(),
    }  # fmt: skip
