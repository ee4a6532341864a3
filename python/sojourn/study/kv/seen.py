"""What one run of the key-value study says: one row of numbers in SI units, whoever made it (machine or simulation)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from sojourn.study import points

NAN = math.nan
CONFIGURATION = ("design", "servers", "proxies", "workers", "workload", "sharded")


@dataclass(frozen=True)
class Seen:
    """One run. Times are means per operation in s; NaN where this system has no such part.

    `design` none | staged | direct | simulated; `workload` set | get | mixed | multi-K; `clients` closed-loop clients
    without think time. Client side: throughput_per_s, response_s, quantiles p25_s … p99_s, misses, errors.
    Middleware: mw_throughput_per_s, mw_response_s, queue_s (received to sent to a server), queue_length (of one proxy:
    mean of samples, queue_length_error its standard error), service_s (waiting for memcached), net_s (net thread or
    event loop awake). CPU time: net_cpu_s, worker_cpu_s, server_cpu_s (all servers), client_cpu_s. `server_shares`:
    busiest server's share of requests x servers (1: balanced). `client_share`: of a core, by the client's busiest
    thread. `others_cores`: cores that other processes of the machine used meanwhile. `startup_s`: middleware up before its
    first request; `mw_whole_per_s`: its throughput over its whole log, start-up and warm-up in it.
    Where hosts have limits of their own: server_sent_bit_per_s (by the server that sent most, on its NIC) of
    server_rate_bit_per_s, the same for proxies; `server_cores`: each server's share of the cores, `server_throttled`: in
    which part of its periods the share was used up, of the server that waited most. `pinned`: each process kept to the
    cores that `affinity.assigned` says.
    """

    section: str
    design: str
    servers: int
    proxies: int
    workers: int
    workload: str
    sharded: bool
    clients: int
    repetition: int
    seconds: float
    throughput_per_s: float
    response_s: float
    mw_throughput_per_s: float = NAN
    mw_response_s: float = NAN
    queue_s: float = NAN
    queue_length: float = NAN
    service_s: float = NAN
    net_s: float = NAN
    net_cpu_s: float = NAN
    worker_cpu_s: float = NAN
    server_cpu_s: float = NAN
    client_cpu_s: float = NAN
    p25_s: float = NAN
    p50_s: float = NAN
    p75_s: float = NAN
    p90_s: float = NAN
    p99_s: float = NAN
    misses: int = 0
    errors: int = 0
    server_shares: float = NAN
    client_share: float = NAN
    queue_length_error: float = NAN
    others_cores: float = NAN
    startup_s: float = NAN
    mw_whole_per_s: float = NAN
    server_sent_bit_per_s: float = NAN
    server_rate_bit_per_s: float = NAN
    proxy_sent_bit_per_s: float = NAN
    proxy_rate_bit_per_s: float = NAN
    server_cores: float = NAN
    server_throttled: float = NAN
    pinned: bool = False


def frame(rows: Iterable[Seen]) -> pl.DataFrame:
    """All rows with every column, also where there is no row."""
    return points.frame(Seen, rows)


def configurations(seen: pl.DataFrame) -> list[tuple[dict[str, object], pl.DataFrame]]:
    """The rows of each configuration, ordered by clients."""
    return points.by_configuration(seen, CONFIGURATION, ("clients", "repetition"))


def name_of(configuration: dict[str, object]) -> str:
    """Short text for tables: "staged, 2 servers, 1 proxy, 8 workers, get"."""
    c = configuration
    count = lambda n, word: f"{n} {word}{'s' * (n != 1)}"  # noqa: E731
    parts = [str(c["design"]), count(c["servers"], "server")]
    if c["design"] != "none":
        parts += [f"{c['proxies']} prox{'y' if c['proxies'] == 1 else 'ies'}"]
    if c["design"] not in ("none", "direct"):
        parts += [count(c["workers"], "worker")]
    return ", ".join([*parts, str(c["workload"]), *(["sharded"] if c["sharded"] else [])])
