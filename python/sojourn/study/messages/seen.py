"""What one run of the message study says: one row of numbers in SI units, whoever made it (machine or simulation)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from sojourn.study import points

NAN = math.nan
CONFIGURATION = ("workers", "connections", "clients", "retry_s", "middlewares")


@dataclass(frozen=True)
class Seen:
    """One run. Times are means per request in s; NaN where this system has no such part.

    Client side: throughput_per_s (requests), messages_per_s (taken), response_s (without the retry delay), quantiles
    p50_s … p99_s, put_s and take_s by kind, empty_share (empty takes of all requests), errors, wrong (a taken message
    that is not as it was put, or was taken twice). Service: mw_response_s (all of it), dispatch_s (the dispatcher's thread
    at work), queue_s (waiting for a worker), parse_s, wait_s (for a connection), database_s, respond_s; in_use:
    connections in use, mean of samples, in_use_error its standard error. CPU time per request: client_cpu_s,
    service_cpu_s, database_cpu_s. `others_cores`: cores that other processes used meanwhile;
    `client_share`: of a core, by the client's busiest thread. `dispatch_share`: of a core, by the busiest dispatcher.
    """

    section: str
    workers: int
    connections: int
    clients: int
    retry_s: float
    middlewares: int
    repetition: int
    seconds: float
    throughput_per_s: float
    response_s: float
    empty_share: float
    messages_per_s: float = NAN
    mw_response_s: float = NAN
    dispatch_s: float = NAN
    queue_s: float = NAN
    parse_s: float = NAN
    wait_s: float = NAN
    database_s: float = NAN
    respond_s: float = NAN
    in_use: float = NAN
    in_use_error: float = NAN
    put_s: float = NAN
    take_s: float = NAN
    p50_s: float = NAN
    p90_s: float = NAN
    p99_s: float = NAN
    client_cpu_s: float = NAN
    service_cpu_s: float = NAN
    database_cpu_s: float = NAN
    client_share: float = NAN
    dispatch_share: float = NAN
    others_cores: float = NAN
    errors: int = 0
    wrong: int = 0


def frame(rows: Iterable[Seen]) -> pl.DataFrame:
    """All rows with every column, also where there is no row."""
    return points.frame(Seen, rows)


def configurations(seen: pl.DataFrame) -> list[tuple[dict[str, float], pl.DataFrame]]:
    """The rows of each configuration (all sections together), ordered."""
    return points.by_configuration(seen, CONFIGURATION)


def name_of(configuration: dict[str, float], only: Iterable[str] = CONFIGURATION) -> str:
    """Short text for tables: "workers 20, connections 10, clients 90, retry 100 ms, middlewares 2"; of `only` these."""
    text = {name: f"{name} {value:g}" for name, value in configuration.items()}
    text["retry_s"] = f"retry {1e3 * configuration['retry_s']:g} ms"
    if configuration["middlewares"] == 1 and set(only) == set(CONFIGURATION):
        text.pop("middlewares")
    return ", ".join(text[name] for name in CONFIGURATION if name in text and name in only)
