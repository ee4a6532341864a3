"""The middlewares' own records of a run: kept in its folder, and what of them lies in its window as rows of Metrics.

Stations: `middleware` what it says of requests (received to sent back; `waiting_time` until sent to a server, `service_time`
until the last server answered; `queue_length` of one, sampled), `net thread` (staged; event loops of direct) awake and CPU
time an operation, `workers` CPU time of one; `client` the time from an answer's arrival until the client has read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn.runs import RunFolder, in_window, metrics_row, quantile_row, read_log, responses, write_parquet
from sojourn_cases.kv.middleware import response_bins
from sojourn_cases.kv.middleware.host_counters import grown
from sojourn_cases.kv.middleware.hosts import Hosts

Row = dict[str, Any]
FILE = "middleware"
QUARTILES = (0.25, 0.75)
NORMAL = 1.96


def keep_records(folder: RunFolder, logs: Path, count: int) -> None:
    """Moves the records of `count` middlewares from `logs` into the folder: middleware.parquet, a row for each middleware
    (from 0), thread and period, and histograms.parquet."""
    read = [read_log(logs / f"log{k}.rec") for k in range(count)]
    response_bins.keep(folder, [log for log, _ in read], [read_log(logs / f"bins{k}.rec")[0] for k in range(count)])
    rows = []
    for k, (log, meta) in enumerate(read):
        names = pl.DataFrame({"thread": range(len(meta["threads"])), "name": meta["threads"]})
        named = log.with_columns(pl.col("thread").cast(pl.Int64), middleware=pl.lit(k)).join(names, on="thread")
        rows.append(named)
    if rows:
        write_parquet(pl.concat(rows, how="diagonal_relaxed"), folder.path / f"{FILE}.parquet")


def rows_of(folder: RunFolder) -> list[Row]:
    """What metrics.parquet has beside what every run has."""
    found = _of_client(folder)
    log = folder.frame(FILE)
    if log is not None:
        start_s, end_s = folder.manifest["window_s"]
        here = log.filter((pl.col("t_s") - pl.col("length_s") >= start_s) & (pl.col("t_s") <= end_s))
        found += _of_middleware(here, log["middleware"].n_unique()) if here.height else []
    return found


def _of_client(folder: RunFolder) -> list[Row]:
    records = folder.frame("requests")
    if records is None or records.is_empty():
        return []
    start_s, end_s = folder.manifest["window_s"]
    inside = in_window(responses(records), (start_s, end_s))
    good = inside.filter(pl.col("failure") == 0)
    if good.is_empty():
        return []
    own = metrics_row("residence_time", float((good["done_s"] - good["end_s"]).mean() or 0.0), station="client")  # type: ignore[arg-type]
    quartiles = [quantile_row(good["response_s"], inside.height - good.height, q) for q in QUARTILES]
    return [own, *quartiles]


def _of_middleware(log: pl.DataFrame, count: int) -> list[Row]:
    done, served = (max(_total(log, name), 1.0) for name in ("completions", "served"))
    net = log.filter(~pl.col("name").str.contains("worker"))  # event loops have no "worker" in their name either
    seconds = _total(log.select("middleware", "t_s", "length_s").unique(), "length_s") / count
    # a sample at the end of each period and middleware, summed over threads
    lengths = log.group_by("middleware", "t_s").agg(pl.col("queue_length").cast(pl.Float64).sum())["queue_length"]
    length, error = float(lengths.mean() or 0.0), float(np.std(lengths.to_numpy())) / max(len(lengths) - 1, 1) ** 0.5  # type: ignore[arg-type]
    workers_s = _total(log, "cpu_s") - _total(net, "cpu_s")
    return [
        metrics_row("throughput", done / seconds, station="middleware", unit="1/s"),
        metrics_row("response_time", _total(log, "response_s") / done, station="middleware"),
        metrics_row("waiting_time", _total(log, "queue_s") / served, station="middleware"),
        metrics_row("service_time", _total(log, "service_s") / served, station="middleware"),
        metrics_row("queue_length", length, station="middleware", unit="1", low=length - NORMAL * error, high=length + NORMAL * error),
        metrics_row("service_time", _total(net, "busy_s") / done, station="net thread"),
        metrics_row("service_demand", _total(net, "cpu_s") / done, station="net thread"),
        metrics_row("service_demand", workers_s / done, station="workers"),
    ]  # fmt: skip


def _total(frame: pl.DataFrame, column: str) -> float:
    return float(frame[column].to_numpy().sum())


def said_of(folder: RunFolder, hosts: Hosts) -> dict[str, Any]:
    """What is no metric: misses and errors, the servers' balance, start-up of the middlewares, limits of the hosts."""
    of_client = folder.manifest["generator"]
    found = {
        "misses": of_client["kv"]["misses"], "wrong": of_client["kv"]["wrong"],
        "errors": of_client["failed"] + of_client["kv"]["wrong"],
        **_balance((folder.manifest["service"] or {}).get("middlewares") or []), **hosts.limits(*grown(folder)),
    }  # fmt: skip
    log = folder.frame(FILE)
    return found | (startup(log.partition_by("middleware", maintain_order=True)) if log is not None else {})


def _balance(ends: Sequence[dict[str, Any] | None]) -> dict[str, float]:
    """`server_shares`: the busiest server's share of the requests times the number of servers, 1 where all have as many."""
    counts = [[server["requests"] for server in end["servers"]] for end in ends if end]
    requests = np.sum(counts, axis=0) if counts else np.zeros(1)
    return {"server_shares": float(requests.max() * len(requests) / requests.sum())} if requests.sum() else {}


def startup(logs: Sequence[pl.DataFrame]) -> dict[str, float]:
    """`startup_s`: time in the log before the period of the first request, mean of all proxies; `mw_whole_per_s`:
    requests over the time from the first period to the last that has any, of all proxies together."""
    periods = [
        log.group_by("t_s").agg(pl.col("length_s").first(), pl.col("arrivals", "completions").sum()).sort("t_s")
        for log in logs
    ]
    found = [_of(p) for p in periods if p.height and p["completions"].sum()]
    if not found:
        return {}
    idle, whole = np.array(found).T
    return {"startup_s": float(idle.mean()), "mw_whole_per_s": float(whole.sum())}


def _of(periods: pl.DataFrame) -> tuple[float, float]:
    length, arrivals, done = (periods[c].to_numpy() for c in ("length_s", "arrivals", "completions"))
    first, last = int(np.argmax(arrivals > 0)), len(done) - int(np.argmax(done[::-1] > 0))
    return float(length[:first].sum()), float(done[:last].sum() / length[:last].sum())
