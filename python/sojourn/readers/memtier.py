"""memtier_benchmark: `--json-out-file`.

Source: github.com/RedisLabs/memtier_benchmark (json_handler.cpp, run_stats.cpp): times in ms; clients are those of one thread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from sojourn.readers.json_values import at, count, mapping, number, scaled
from sojourn.readers.observation import INTENDED, REQUESTS, Observation, WindowSeries
from sojourn.readers.text_source import TextSource

NAME = "memtier"
MS = 1e-3
QUANTILE = re.compile(r"p(\d+(?:\.\d+)?)")


def claims(data: Any) -> bool:
    return "Totals" in mapping(at(data, "ALL STATS"))


def read(source: TextSource, data: Mapping[str, Any]) -> list[Observation]:
    """The totals, and each kind of command that was sent."""
    said, configured = mapping(data["ALL STATS"]), mapping(at(data, "configuration"))
    clients, threads, pipeline = (number(configured, name) for name in ("clients", "threads", "pipeline"))
    users = clients * threads * (pipeline or 1) if clients and threads else None
    asked = number(configured, "rate-limiting") or None
    length = scaled(number(said, "Runtime", "Total duration"), MS)
    kinds = [
        name for name in said if isinstance(said[name], Mapping) and number(said, name, "Count") and name != "Totals"
    ]
    return [
        _one(str(source.path), mapping(said[kind]), kind if kind != "Totals" else "", length, users if kind == "Totals" else None,
             asked * clients * threads if asked and clients and threads and kind == "Totals" else None)
        for kind in ("Totals", *(kinds if len(kinds) > 1 else []))
    ]  # fmt: skip


def _one(
    path: str, said: Mapping[str, Any], name: str, length: float | None, users: float | None, asked: float | None
) -> Observation:
    total, rate = count(number(said, "Count")), number(said, "Ops/sec")
    closed = None if not name and users is None else asked is None
    return Observation(
        path, NAME, name, length_s=length, open_loop=None if closed is None else not closed, users=users, think_s=None if asked else 0.0,
        asked_per_s=asked, completed=total, failed=count(number(said, "Connection Errors")) or 0, throughput_per_s=rate,
        mean_s=scaled(number(said, "Average Latency") or number(said, "Latency"), MS), least_s=scaled(number(said, "Min Latency"), MS),
        most_s=scaled(number(said, "Max Latency"), MS), quantiles=_quantiles(mapping(at(said, "Percentile Latencies"))),
        rounding=0.005, rounding_s=5e-7, windows=_windows(mapping(at(said, "Time-Serie"))), missing_values=(INTENDED, REQUESTS),
    )  # fmt: skip


def _quantiles(said: Mapping[str, Any]) -> dict[float, float]:
    return {
        round(float(q[1]) / 100, 9): v * MS
        for name in said
        if (q := QUANTILE.fullmatch(name)) and (v := number(said, name)) is not None
    }


def _windows(said: Mapping[str, Any]) -> WindowSeries | None:
    """A second each; the last one is not whole, and is left out."""
    seconds = sorted((int(name), mapping(one)) for name, one in said.items() if name.isdigit() and len(name) < 10)[:-1]
    if len(seconds) < 5:
        return None

    def column(*names: str) -> Any:
        return np.array(
            [next((v for name in names if (v := number(one, name)) is not None), np.nan) for _, one in seconds]
        )

    held = {q for _, one in seconds for q in _quantiles(one)}
    return WindowSeries(
        np.array([float(at_s) for at_s, _ in seconds]), np.ones(len(seconds)), completed=column("Count"),
        mean_s=column("Average Latency", "Latency") * MS,
        quantiles={q: np.array([_quantiles(one).get(q, np.nan) for _, one in seconds]) for q in sorted(held)},
    )  # fmt: skip
