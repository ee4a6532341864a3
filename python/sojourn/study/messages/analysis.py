"""What the rows of the message study say without a model: laws, how busy each part was, what limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn.study.messages.seen import CONFIGURATION

TOLERANCE = 0.05
BUSY = 0.9
QUIET_CORES = 0.2  # who samples the processes is among the others, with a tenth of a core


def laws(seen: pl.DataFrame) -> pl.DataFrame:
    """A row a run: X (R + Z) against N, Z the share of empty takes times the delay, and X times the time in the database
    against the connections in use. `interactive_error` and `little_error` are relative; verdicts `holds` within 5 %
    (Little: and two standard errors of the samples), else `broken`; Little is judged where one is in use at least."""
    think = pl.col("empty_share") * pl.col("retry_s")
    used = pl.when(pl.col("in_use") >= 1).then(pl.col("in_use"))
    length = pl.col("throughput_per_s") * pl.col("database_s")
    allowed = TOLERANCE + 2 * pl.col("in_use_error").fill_nan(0.0) / used
    return seen.with_columns(
        interactive_error=pl.col("throughput_per_s") * (pl.col("response_s") + think) / pl.col("clients") - 1,
        little_error=length / used - 1,
    ).with_columns(
        interactive=_verdict("interactive_error", pl.lit(TOLERANCE)), little=_verdict("little_error", allowed)
    )


def undisturbed(seen: pl.DataFrame) -> pl.DataFrame:
    """Without the runs that other processes of this machine disturbed, where there is another run of the same point."""
    quiet = ~(pl.col("others_cores").fill_nan(None) > QUIET_CORES).fill_null(False)
    return seen.filter(quiet | ~quiet.any().over("section", *CONFIGURATION))


def _verdict(column: str, allowed: pl.Expr) -> pl.Expr:
    holds = pl.when(pl.col(column).abs() <= allowed).then(pl.lit("holds")).otherwise(pl.lit("broken"))
    return pl.when(pl.col(column).is_finite()).then(holds)


@dataclass(frozen=True)
class Busy:
    """How busy each part was, 0 to 1 (dispatcher and client: CPU of their thread; workers and connections: held;
    cores: all processes of this machine); NaN where it is not known."""

    dispatcher: float
    workers: float
    connections: float
    client: float
    cores: float

    @property
    def limit(self) -> str:
        """The first that is busy for 90 %: client, dispatcher, the machine's cores, connections, workers; else the
        round trip. Connections are before workers because a worker is held while it waits for a connection."""
        named = {
            "client": self.client, "dispatcher": self.dispatcher, "the machine's cores": self.cores,
            "connections": self.connections, "workers": self.workers,
        }  # fmt: skip
        return next((name for name, share in named.items() if share >= BUSY), "round trip")


def busy(row: dict[str, Any], cores: int) -> Busy:
    """From the times and CPU times of one run, by the utilisation law."""
    x, each = row["throughput_per_s"], row["middlewares"]

    def number(*names: str) -> float:
        return float(x * sum(_known(row[name]) for name in names))

    used = number("client_cpu_s", "service_cpu_s", "database_cpu_s") + _known(row["others_cores"])
    return Busy(
        row["dispatch_share"] if np.isfinite(_or_nan(row["dispatch_share"])) else number("dispatch_s") / each,
        number("parse_s", "wait_s", "database_s", "respond_s") / (row["workers"] * each),
        number("database_s") / (row["connections"] * each),
        _or_nan(row["client_share"]), used / cores,
    )  # fmt: skip


def shares(row: dict[str, Any]) -> dict[str, float]:
    """Of the CPU time that was used on this machine: client, service, database, others."""
    x = row["throughput_per_s"]
    names = ("client", "service", "database")
    used = {name: x * _known(row[f"{name}_cpu_s"]) for name in names} | {"others": _known(row["others_cores"])}
    total = sum(used.values())
    return {name: value / total if total > 0 else float("nan") for name, value in used.items()}


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _known(value: float | None) -> float:
    return value if value is not None and np.isfinite(value) else 0.0
