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
    """A row a run: X R against N, and X W against the mean length of the middleware's queue.

    Clients do not think, and what a client works lies between sending and reading, so Z = 0. The queue is that of
    requests waiting (`staged`: W is queue_s) or under way (`direct`: mw_response_s), of one proxy. `interactive_error` and
    `little_error` are relative; verdicts `holds` within 5 % (Little: and two standard errors of the length, which is
    a mean of samples), else `broken`. Little is judged only where the length is 1 at least.
    """
    wait = pl.when(pl.col("design") == "direct").then(pl.col("mw_response_s")).otherwise(pl.col("queue_s"))
    length = pl.col("mw_throughput_per_s") * wait / pl.col("proxies")
    error = pl.col("queue_length_error").fill_nan(0.0).fill_null(0.0)
    allowed = TOLERANCE + 2 * error / pl.col("queue_length")
    return seen.with_columns(
        interactive_error=pl.col("throughput_per_s") * pl.col("response_s") / pl.col("clients") - 1,
        little_error=pl.when(pl.col("queue_length") >= 1).then(length / pl.col("queue_length") - 1),
    ).with_columns(
        interactive=_verdict("interactive_error", pl.lit(TOLERANCE)), little=_verdict("little_error", allowed),
    )  # fmt: skip


def _verdict(column: str, allowed: pl.Expr) -> pl.Expr:
    holds = pl.when(pl.col(column).abs() <= allowed).then(pl.lit("holds")).otherwise(pl.lit("broken"))
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
    machine where all cores are in use (by other processes too); workers where they are all held; else the round trip."""
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
    others = row.get("others_cores")
    total += others if others is not None and np.isfinite(others) else 0.0
    if total >= BUSY * cores:
        return "the machine's cores"
    held = share("service_s", row["workers"] * row["proxies"]) if row["workers"] else 0.0
    return "workers" if held >= BUSY else "round trip"


def too_small(row: dict[str, Any], cores: int) -> bool:
    """The rule: the client's thread, or all cores together, are what limits, so the point says nothing of the middleware."""
    return limited_by(row, cores) in ("client", "the machine's cores")


__all__ = ["Knee", "knee", "knees", "laws", "limited_by", "too_small"]
