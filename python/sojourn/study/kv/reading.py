"""From the records of a live run to one row of numbers: only what lies in the window after the warm-up counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from sojourn.study.kv.points import Point
from sojourn.study.kv.seen import NAN, Seen
from sojourn.study.kv.startup import startup

QUANTILES = {"p25_s": 0.25, "p50_s": 0.5, "p75_s": 0.75, "p90_s": 0.9, "p99_s": 0.99}


@dataclass(frozen=True)
class Window:
    """Start and end on CLOCK_MONOTONIC, the client's records and summary, each proxy's log with its meta and summary,
    CPU seconds used between start and end by `client`, `servers`, `proxies`, and each proxy's log of response times.
    `limits`: columns of `Seen` that the place of the hosts knows."""

    start_s: float
    end_s: float
    records: pl.DataFrame
    summary: dict[str, Any]
    logs: list[tuple[pl.DataFrame, dict[str, Any]]]
    ends: list[dict[str, Any]]
    cpu_s: dict[str, float]
    bins: list[pl.DataFrame] = field(default_factory=list)
    limits: dict[str, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s


def seen(point: Point, w: Window) -> Seen:
    """The row of this run."""
    done = w.records.filter((pl.col("done_s") >= w.start_s) & (pl.col("done_s") < w.end_s) & (pl.col("failure") == 0))
    count = done.height * int(w.summary.get("sample_every") or 1)
    times = (done["done_s"] - done["sent_s"]).to_numpy()
    quantiles = dict(zip(QUANTILES, np.quantile(times, list(QUANTILES.values())), strict=True)) if count else {}
    per = (lambda cpu: cpu / count) if count else (lambda cpu: NAN)
    return Seen(
        **point.factors, seconds=w.seconds, throughput_per_s=count / w.seconds,
        response_s=float(times.mean()) if count else NAN, **times_of(quantiles),
        misses=w.summary["kv"]["misses"], errors=w.summary["failed"] + w.summary["kv"]["wrong"],
        server_cpu_s=per(w.cpu_s["servers"]), client_cpu_s=per(w.cpu_s["client"]),
        client_share=max(lane["cpu_s"] / max(lane["wall_s"], 1e-9) for lane in w.summary["lanes"]),
        others_cores=max(w.cpu_s["machine"] - sum(w.cpu_s[k] for k in ("client", "servers", "proxies")), 0.0) / w.seconds,
        server_shares=_balance(w.ends), **_inside(w), **w.limits,  # type: ignore[arg-type]
    )  # fmt: skip


def times_of(quantiles: dict[str, Any]) -> dict[str, Any]:
    return {name: float(value) for name, value in quantiles.items()}


def _balance(ends: list[dict[str, Any]]) -> float:
    """The busiest server's share of the requests times the number of servers: 1 where all have as many."""
    if not ends:
        return NAN
    requests = np.sum([[server["requests"] for server in end["servers"]] for end in ends], axis=0)
    return float(requests.max() * len(requests) / requests.sum()) if requests.sum() else NAN


def total(frame: pl.DataFrame, column: str) -> float:
    return float(frame[column].to_numpy().sum())


def _inside(w: Window) -> dict[str, Any]:
    """What the middlewares say of the same window."""
    rows = []
    for log, meta in w.logs:
        names = pl.DataFrame({"thread": range(len(meta["threads"])), "name": meta["threads"]})
        here = log.filter((pl.col("t_s") - pl.col("length_s") >= w.start_s) & (pl.col("t_s") <= w.end_s))
        rows.append(here.with_columns(pl.col("thread").cast(pl.Int64)).join(names, on="thread"))
    if not rows or not (log := pl.concat(rows, how="diagonal_relaxed")).height:
        return {}
    done, served = (max(total(log, c), 1.0) for c in ("completions", "served"))
    # the net thread (staged), or the event loops (direct): they have no "worker" in their name
    net = log.filter(~pl.col("name").str.contains("worker"))
    seconds = total(log.select("t_s", "length_s").unique(), "length_s") / len(w.logs)
    # a sample at the end of each period and proxy, summed over threads
    lengths = log.group_by("t_s").agg(pl.col("queue_length").cast(pl.Float64).sum())["queue_length"].to_numpy()
    return {
        "mw_throughput_per_s": done / seconds, "mw_response_s": total(log, "response_s") / done,
        "queue_s": total(log, "queue_s") / served, "service_s": total(log, "service_s") / served,
        "queue_length": float(lengths.mean()), "queue_length_error": float(np.std(lengths) / max(len(lengths) - 1, 1) ** 0.5),
        "net_s": total(net, "busy_s") / done, "net_cpu_s": total(net, "cpu_s") / done,
        "worker_cpu_s": (total(log, "cpu_s") - total(net, "cpu_s")) / done, **startup([log for log, _ in w.logs]),
    }  # fmt: skip
