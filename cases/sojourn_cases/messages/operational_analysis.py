"""What the runs of the message study say without a model: laws, how busy each part was, what limits; on rows of
`messages_reading.frame`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

TOLERANCE = 0.05
BUSY = 0.9
CPU = ("client", "middleware", "database")


def laws(seen: pl.DataFrame) -> pl.DataFrame:
    """A row a run: X (R + Z) against N, Z the share of empty takes times the delay and the client's own time, and X times the
    time in the database against the connections in use. `interactive_error` and `little_error` are relative; verdicts
    `holds` within 5 % (Little: and the interval of the samples), else `broken`; Little is judged where one is in use at
    least."""
    think = pl.col("empty_share") * pl.col("retry_s") + pl.col("own_s").fill_null(0.0)
    used = pl.when(pl.col("in_use") >= 1).then(pl.col("in_use"))
    length = pl.col("throughput_per_s") * pl.col("database_s")
    allowed = TOLERANCE + pl.col("in_use_half").fill_null(0.0) / used
    return seen.with_columns(
        interactive_error=pl.col("throughput_per_s") * (pl.col("response_s") + think) / pl.col("clients") - 1,
        little_error=length / used - 1,
    ).with_columns(
        interactive=_verdict("interactive_error", pl.lit(TOLERANCE)), little=_verdict("little_error", allowed)
    )


def _verdict(column: str, allowed: pl.Expr) -> pl.Expr:
    holds = pl.when(pl.col(column).abs() <= allowed).then(pl.lit("holds")).otherwise(pl.lit("broken"))
    return pl.when(pl.col(column).is_finite()).then(holds)


@dataclass(frozen=True)
class UtilisationByPart:
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


def busy(row: dict[str, Any], cores: int) -> UtilisationByPart:
    """Of one run, or the means of some."""
    dispatcher, workers, connections, client = (
        _known(row[f"{name}_share"]) for name in ("dispatch", "workers", "connections", "client")
    )
    cpu = [_known(row[f"{name}_cpu_s"]) for name in CPU]
    used = row["throughput_per_s"] * float(np.nansum(cpu)) + (row["other_processes_cores"] or 0.0)
    return UtilisationByPart(dispatcher, workers, connections, client, used / cores)


def shares(row: dict[str, Any]) -> dict[str, float]:
    """Of the CPU time that was used on this machine: client, middleware, database, others."""
    used = {name: row["throughput_per_s"] * (row[f"{name}_cpu_s"] or 0.0) for name in CPU}
    used |= {"others": row["other_processes_cores"] or 0.0}
    total = sum(used.values())
    return {name: value / total if total > 0 else float("nan") for name, value in used.items()}


def _known(value: float | None) -> float:
    return float("nan") if value is None else value
