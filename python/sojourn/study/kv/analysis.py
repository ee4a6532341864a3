"""What the rows of the study say without a model: laws, knees, maxima, who limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn.study.kv.seen import configurations, name_of

TOLERANCE = 0.05
FLAT = 0.05  # throughput within 5 % of the maximum is saturated; 5 % below it again, over-saturated
BUSY = 0.9


def laws(seen: pl.DataFrame) -> pl.DataFrame:
    """A row a run: X (R + Z) against N with Z the client's own CPU time, and X_q W against the queue length.

    `interactive_error`, `little_error` relative; verdicts `holds` within 5 %, else `broken`. Little: W of `queue_s` from
    received to sent, its length as arrivals saw it, so it is judged only where there is a queue (length ≥ 1).
    """
    z = pl.col("client_cpu_s").fill_nan(0.0).fill_null(0.0)
    number = pl.col("throughput_per_s") * (pl.col("response_s") + z)
    length = pl.col("mw_throughput_per_s") * pl.col("queue_s") / pl.col("proxies")
    return seen.with_columns(
        interactive_error=number / pl.col("clients") - 1,
        little_error=pl.when(pl.col("queue_length") >= 1).then(length / pl.col("queue_length") - 1),
    ).with_columns(
        interactive=_verdict("interactive_error"), little=_verdict("little_error"),
    )  # fmt: skip


def _verdict(column: str) -> pl.Expr:
    holds = pl.when(pl.col(column).abs() <= TOLERANCE).then(pl.lit("holds")).otherwise(pl.lit("broken"))
    return pl.when(pl.col(column).is_finite()).then(holds)


@dataclass(frozen=True)
class Knee:
    """Where throughput stops growing. `clients` and the interval between neighbouring counts that hold it; `state` by
    clients: under-saturated, saturated, over-saturated."""

    configuration: str
    clients: float
    low: int
    high: int
    maximum_per_s: float
    at: int
    response_s: float
    states: dict[int, str]


def knee(name: str, rows: pl.DataFrame) -> Knee:
    """The knee is where the asymptotes N/R(fewest) and the maximum cross (Lazowska et al. 1984, section 5.2); its interval
    is that of the client counts between which throughput comes within 5 % of the maximum."""
    means = rows.group_by("clients").agg(pl.col("throughput_per_s", "response_s").mean()).sort("clients")
    n, x, r = (means[c].to_numpy() for c in ("clients", "throughput_per_s", "response_s"))
    best = int(np.argmax(x))
    near = x >= (1 - FLAT) * x[best]
    first = int(np.argmax(near))
    states = {
        int(c): "over-saturated" if k > best and not near[k] else "saturated" if k >= first else "under-saturated"
        for k, c in enumerate(n)
    }
    crossing = float(x[best] * n[0] / x[0])
    return Knee(
        name, crossing, int(n[max(first - 1, 0)]), int(n[first]), float(x[best]), int(n[best]), float(r[best]), states
    )


def knees(seen: pl.DataFrame) -> list[Knee]:
    """One a configuration with three client counts at least."""
    found = []
    for configuration, rows in configurations(seen):
        if rows["clients"].n_unique() >= 3:
            found.append(knee(name_of(configuration), rows))
    return found


def limited_by(row: dict[str, Any], cores: int) -> str:
    """What limits a run, from its CPU times: the first of client, server, net thread that works 90 % of the time; the
    machine where all cores are in use; workers where they are all held; else the round trip."""
    x = row["throughput_per_s"]

    def share(name: str, over: int = 1) -> float:
        value = row[name]
        return x * value / max(over, 1) if value is not None and np.isfinite(value) else 0.0

    net = share("net_cpu_s", row["proxies"])
    each = {
        "client": row["client_share"] or 0.0,
        "server CPU": share("server_cpu_s", row["servers"]),
        "net thread": net,
    }
    if (busiest := max(each, key=lambda k: each[k])) and each[busiest] >= BUSY:
        return busiest
    total = share("client_cpu_s") + share("server_cpu_s") + share("net_cpu_s") + share("worker_cpu_s")
    if total >= BUSY * cores:
        return "the machine's cores"
    held = share("service_s", row["workers"] * row["proxies"]) if row["workers"] else 0.0
    return "workers" if held >= BUSY else "round trip"


def too_small(row: dict[str, Any], cores: int) -> bool:
    """The rule: the client's thread, or all cores together, are what limits, so the point says nothing of the middleware."""
    return limited_by(row, cores) in ("client", "the machine's cores")


__all__ = ["Knee", "knee", "knees", "laws", "limited_by", "too_small"]
