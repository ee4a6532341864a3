"""What the services of a message run say of themselves, as Metrics; and runs of them as one frame.

station       metrics                                       of a request
middleware    response_time, throughput                     all of it, over all services
dispatcher    service_time, utilisation                     CPU time of its thread; of the busiest
workers       waiting_time, utilisation                     read to taken up by a worker; held
parse         service_time                                  a worker before the database
connections   waiting_time, utilisation                     for a connection; held
database      response_time, throughput, queue_length       connections in use are sampled, not taken from Little's law
respond       service_time                                  a worker after the database
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn.runs import RunFolder, metrics_row, read_log
from sojourn.stats import batch_interval

PHASES = ("dispatch_s", "parse_s", "wait_s", "database_s", "respond_s")
FACTORS = ("workers", "connections", "clients", "retry_s", "middlewares")
BATCHES = 5
OWN = "generator's own time, s"  # among the checks of a run
NAN = float("nan")
# column → metric, station, class, q
COLUMNS: dict[str, tuple[str, str, str, float | None]] = {
    "throughput_per_s": ("throughput", "", "", None), "response_s": ("response_time", "", "", None),
    "empty_per_s": ("throughput", "", "empty", None), "messages_per_s": ("throughput", "", "take", None),
    "put_s": ("response_time", "", "put", None), "take_s": ("response_time", "", "take", None),
    "p50_s": ("response_time_quantile", "", "", 0.5), "p90_s": ("response_time_quantile", "", "", 0.9),
    "p99_s": ("response_time_quantile", "", "", 0.99),
    "own_s": ("residence_time", "client", "", None),
    "mw_response_s": ("response_time", "middleware", "", None),
    "dispatch_s": ("service_time", "dispatcher", "", None), "dispatch_share": ("utilisation", "dispatcher", "", None),
    "queue_s": ("waiting_time", "workers", "", None), "workers_share": ("utilisation", "workers", "", None),
    "parse_s": ("service_time", "parse", "", None), "respond_s": ("service_time", "respond", "", None),
    "wait_s": ("waiting_time", "connections", "", None), "connections_share": ("utilisation", "connections", "", None),
    "database_s": ("response_time", "database", "", None), "in_use": ("queue_length", "database", "", None),
    "client_share": ("utilisation", "client", "", None), "client_cpu_s": ("service_demand", "client", "", None),
    "middleware_cpu_s": ("service_demand", "middleware", "", None),
    "database_cpu_s": ("service_demand", "database", "", None),
}  # fmt: skip


@dataclass(frozen=True)
class ServiceLog:
    """What one service logged: a row a request, of which each stands for `weight`, and a row a period."""

    requests: pl.DataFrame
    levels: pl.DataFrame

    @classmethod
    def read(cls, path: Path) -> ServiceLog:
        return cls(read_log(path)[0], read_log(path.with_name(f"{path.stem}-levels{path.suffix}"))[0])


def service_rows(folder: RunFolder, logs: Sequence[ServiceLog], factors: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of the table above, of the run's window; none where no request of it was logged."""
    start_s, end_s = folder.manifest["window_s"]
    whole = pl.sum_horizontal("received_s", *PHASES)
    requests = pl.concat([log.requests for log in logs]).filter((whole >= start_s) & (whole < end_s))
    if not requests.height:
        return []
    weight = requests["weight"].cast(pl.Float64).to_numpy()
    queue, parse, wait, database, respond = (
        float(np.average(requests[name].to_numpy(), weights=weight)) for name in PHASES
    )
    x = float(weight.sum()) / (end_s - start_s)
    dispatch_s, busiest = _dispatcher(folder.manifest["service"].values())
    number = factors["middlewares"]
    workers, connections = (factors[name] * number for name in ("workers", "connections"))
    inside = queue + parse + wait + database + respond
    return [
        metrics_row("residence_time", (folder.manifest.get("checks") or {}).get(OWN, 0.0), station="client"),
        metrics_row("response_time", inside + dispatch_s, station="middleware"),
        metrics_row("throughput", x, station="middleware", unit="1/s"),
        metrics_row("service_time", dispatch_s, station="dispatcher"),
        metrics_row("utilisation", busiest, station="dispatcher", unit="1"),
        metrics_row("waiting_time", queue, station="workers"),
        metrics_row("utilisation", x * (inside - queue) / workers, station="workers", unit="1"),
        metrics_row("service_time", parse, station="parse"),
        metrics_row("waiting_time", wait, station="connections"),
        metrics_row("utilisation", x * database / connections, station="connections", unit="1"),
        metrics_row("response_time", database, station="database"),
        metrics_row("throughput", x, station="database", unit="1/s"),
        metrics_row("service_time", respond, station="respond"),
        *_in_use([log.levels for log in logs], start_s, end_s),
    ]


def _dispatcher(ends: Iterable[Mapping[str, Any]]) -> tuple[float, float]:
    """CPU time of the dispatchers' threads a request, and of a core of the busiest; both of the whole run."""
    known = [end for end in ends if end]
    used = [next((s for name, s in end["cpu_by_thread_s"].items() if "dispatch" in name), 0.0) for end in known]
    busiest = max((cpu / max(end["seconds"], 1e-9) for cpu, end in zip(used, known, strict=True)), default=NAN)
    return sum(used) / max(sum(end["completions"] for end in known), 1), busiest


def _in_use(levels: list[pl.DataFrame], start_s: float, end_s: float) -> list[dict[str, Any]]:
    """Connections in use of all services; the interval by batches, because samples follow each other."""
    found = []
    for one in levels:
        here = one.filter(pl.col("t_s").is_between(start_s, end_s))
        found.append(batch_interval(here["connections_in_use"].cast(pl.Float64).to_numpy(), batches=BATCHES))
    mean, half = sum(m for m, _, _ in found), float(np.hypot.reduce([high - m for m, _, high in found]))
    return (
        [metrics_row("queue_length", mean, station="database", low=max(mean - half, 0.0), high=mean + half, unit="1")]
        if half >= 0
        else []
    )


def frame(folders: Iterable[RunFolder]) -> pl.DataFrame:
    """A row a run: name, section, valid, its factors, the columns of `COLUMNS` (null where it has no such number), `in_use_half`
    (half the interval of `in_use`), `empty_share` of all requests, `other_processes_cores` that other processes used, and counts of
    `errors` and of `wrong` messages (not as they were put, or taken twice)."""
    number = dict.fromkeys((*COLUMNS, "in_use_half", "empty_share", "other_processes_cores", "retry_s"), pl.Float64)
    whole = {name: pl.Int64 for name in (*FACTORS, "errors", "wrong") if name != "retry_s"}
    text = {"run": pl.String, "section": pl.String, "valid": pl.Boolean}
    return pl.DataFrame([_run(folder) for folder in folders], schema={**text, **whole, **number})


def where_valid(seen: pl.DataFrame) -> pl.DataFrame:
    """Without the runs that are not valid, where there is another of the same configuration."""
    return seen.filter(pl.col("valid") | ~pl.col("valid").any().over("section", *FACTORS))


def _run(folder: RunFolder) -> dict[str, Any]:
    manifest = folder.manifest
    table = folder.metrics().frame.to_dicts() if folder.frame("metrics") is not None else []
    known = {(r["metric"], r["station"], r["class"], r["q"]): r for r in table}
    found = {name: known[key]["value"] if key in known else None for name, key in COLUMNS.items()}
    sampled = known.get(COLUMNS["in_use"]) or {}
    x, generator = found["throughput_per_s"], manifest.get("generator") or {}
    counts = generator.get("messages", {})
    wrong = counts.get("wrong", 0)
    return {
        "run": folder.path.name, "section": manifest["section"], "valid": manifest["valid"],
        **{name: manifest["factors"][name] for name in FACTORS}, **found,
        "in_use_half": None if sampled.get("high") is None else sampled["high"] - sampled["value"],
        "empty_share": (found["empty_per_s"] or 0.0) / x if x else None,
        "other_processes_cores": (manifest.get("checks") or {}).get("others"),
        "errors": generator.get("failed", 0) - wrong, "wrong": wrong + counts.get("twice", 0),
    }  # fmt: skip
