"""What the rows of the study say without a model: laws, knees, maxima, who limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn.study.kv.seen import configurations, name_of
from sojourn.system.kv.affinity import assigned

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


CORES, ONE_CORE = "the machine's cores", "a core that servers and middlewares share"
TOO_SMALL = ("client", CORES, ONE_CORE)
QUIET = 0.05  # of the cores may be used by others


def disturbed(cores: int) -> pl.Expr:
    """Whether other processes of the machine used more than 5 % of its cores during a run; False where it is unknown."""
    return (pl.col("others_cores").fill_nan(0.0).fill_null(0.0) > QUIET * cores).alias("disturbed")


def uses(row: dict[str, Any], cores: int) -> dict[str, float]:
    """How much of each part of the system a run used, 0 to 1 (more by errors of measurement): the client's busiest
    thread, a server's CPU of its share (a core where it has none), a net thread; the network of a server and of a
    middleware where it has a rate; a core that several processes of the system were put on; all cores together (by other
    processes too); workers that are held. A share that is used up in most of its periods is as much used as that: what
    a server does not get, it cannot be seen to use."""
    x = row["throughput_per_s"]

    def known(name: str, otherwise: float = 0.0) -> float:
        value = row.get(name)
        return float(value) if value is not None and np.isfinite(value) else otherwise

    of_server = x * known("server_cpu_s") / row["servers"] / known("server_cores", 1.0)
    per_operation = sum(known(name) for name in ("client_cpu_s", "server_cpu_s", "net_cpu_s", "worker_cpu_s"))
    pool = row["workers"] * row["proxies"]
    work = {name: known(f"{name}_cpu_s") for name in ("server", "net", "worker")}
    return {
        "client": known("client_share"),
        "server CPU": max(of_server, known("server_throttled")),
        "net thread": x * known("net_cpu_s") / max(row["proxies"], 1),
        "network of a server": known("server_sent_bit_per_s") / known("server_rate_bit_per_s", np.inf),
        "network of a middleware": known("proxy_sent_bit_per_s") / known("proxy_rate_bit_per_s", np.inf),
        ONE_CORE: x * _shared_s(row, cores, work["server"], work["net"] + work["worker"]),
        CORES: (x * per_operation + known("others_cores")) / cores,
        "workers": x * known("service_s") / pool if pool else 0.0,
    }


def _shared_s(row: dict[str, Any], cores: int, servers_s: float, proxies_s: float) -> float:
    """CPU time of an operation on the core that has most of it, of those with two processes of the system or more."""
    if not row.get("pinned"):
        return 0.0
    who = assigned(range(cores), row["servers"], row["proxies"])
    each = [(own, servers_s / row["servers"]) for own in who.servers]
    each += [(own, proxies_s / row["proxies"]) for own in who.proxies]
    places = [own for own, _ in each]
    found = {own: sum(s for other, s in each if other == own) / len(own) for own in places if places.count(own) > 1}
    return max(found.values(), default=0.0)


def limited_by(row: dict[str, Any], cores: int) -> str:
    """What limits a run: the most used of client, server CPU, net thread, networks and a shared core where that is 90 %; else the
    machine where all cores are in use; else workers where they are all held; else the round trip."""
    used = uses(row, cores)
    machine, workers = used.pop(CORES), used.pop("workers")
    busiest = max(used, key=lambda name: used[name])
    if used[busiest] >= BUSY:
        return busiest
    if machine >= BUSY:
        return CORES
    return "workers" if workers >= BUSY else "round trip"


def too_small(row: dict[str, Any], cores: int) -> bool:
    """The rule: the client's thread, a core that several must share, or all cores together are what limits, so the point
    says nothing of the middleware alone."""
    return limited_by(row, cores) in TOO_SMALL


def marked(seen: pl.DataFrame, cores: int) -> pl.DataFrame:
    """The rows with what limited each (`limited_by`) and whether the machine was too small for it (`too_small`)."""
    limits = [limited_by(row, cores) for row in seen.to_dicts()]
    return seen.with_columns(
        limited_by=pl.Series(limits, dtype=pl.String),
        too_small=pl.Series([x in TOO_SMALL for x in limits], dtype=pl.Boolean),
        disturbed=disturbed(cores),
    )


__all__ = ["Knee", "knee", "knees", "laws", "limited_by", "marked", "too_small", "uses"]
