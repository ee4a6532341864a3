"""Host samples (one JSON line each, as crates/hostmetrics writes them) as a table, and rates made from counters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sojourn.errors import InputError, RunFolderError
from sojourn.files.reading import parse_json, read_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray  # which imports numpy, and a load begins without it

    Array = NDArray[np.float64]

FORMAT, VERSION = "sojourn-host", 1
AGAIN = "run the measurement again"
BUSY = ("user", "system", "irq", "softirq")
INTERVAL_S = (0.01, 10.0)  # between two samples, as the collector takes it
EVERYTHING = (*BUSY, "nice", "idle", "iowait", "steal")


def check_interval(interval_s: float, place: str = "interval_s") -> float:
    """The time between two samples; InputError naming `place` where the collector does not take it."""
    least, most = INTERVAL_S
    if not least <= interval_s <= most:
        raise InputError(f"{interval_s:g} s", place, f"choose {least:g} to {most:g} s")
    return interval_s


def read_samples(path: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Samples as rows (t_s, source, key, item, value) of counters and gauges as read, and the header.

    A cut-off last line is left out.

    Raises:
        RunFolderError: not a file of host samples, or one of another version.
    """
    lines = read_lines(path, AGAIN, error=RunFolderError)
    try:
        header = parse_json(next(lines))
        good = (header["format"], header["version"]) == (FORMAT, VERSION)
    except (StopIteration, json.JSONDecodeError, KeyError, TypeError):
        good = False
    if not good:
        raise RunFolderError("no host samples of a version known here", str(path), AGAIN)
    rows: list[tuple[float, str, str, str, float]] = []
    for number, line in enumerate(lines, 2):
        try:
            sample = parse_json(line)
        except json.JSONDecodeError as error:
            if "nested" in error.msg:
                raise RunFolderError(error.msg, f"{path}:{number}", AGAIN) from None
            continue
        try:
            rows.extend((float(sample["t_s"]), *row) for row in _flatten(sample))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            raise RunFolderError(f"no host sample: {line[:40]}", f"{path}:{number}", AGAIN) from None
    schema = {"t_s": pl.Float64, "source": pl.String, "key": pl.String, "item": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row"), header


def _flatten(sample: dict[str, Any]) -> Iterator[tuple[str, str, str, float]]:
    for source, content in sample.items():
        if source == "t_s":
            continue
        if isinstance(content, dict):
            for key, inner in content.items():
                yield from _inner(source, str(key), inner)
        elif isinstance(content, (int, float)):
            yield source, "", "", float(content)


def _inner(source: str, key: str, inner: Any) -> Iterator[tuple[str, str, str, float]]:
    if isinstance(inner, dict):
        for item, value in inner.items():
            if isinstance(value, (int, float)):
                yield source, key, str(item), float(value)
            elif item == "threads":
                for thread, state in value.items():
                    yield "thread", f"{key}/{thread}", "run_s", float(state["run_s"])
                    yield "thread", f"{key}/{thread}", "core", float(state.get("core") or 0)
    elif isinstance(inner, list):
        for index, value in enumerate(inner):
            yield source, key, str(index), float(value)
    elif isinstance(inner, (int, float)):
        yield source, key, "", float(inner)


def growth(times: Array, values: Array, edges: Array) -> Array:
    """By how much a counter grew in each interval between `edges` (n + 1,), linear between samples; shape (n,). Nothing is known to
    have grown before the first sample and after the last."""
    return np.diff(np.interp(edges, times, values))


def counter_changes(host: pl.DataFrame, start_s: float, end_s: float) -> pl.DataFrame:
    """By how much each counter grew in [start_s, end_s], linear between samples, and over what time of it there are samples: a window
    of a second has ten samples, and what falls between its ends and them would be a tenth of it.

    Columns source, key, item, change, over_s. A counter that was reset in between is left out.
    """
    of, window = ("source", "key", "item"), np.array([start_s, end_s])
    rows = []
    for *name, times, values in host.sort("t_s").group_by(of, maintain_order=True).agg("t_s", "value").iter_rows():
        over_s = growth(np.array(times), np.array(times), window)[0]
        steps = np.diff(values)[np.diff(np.clip(times, *window)) > 0]
        if over_s > 0 and np.all(steps >= 0):
            rows.append((*name, growth(np.array(times), np.array(values), window)[0], over_s))
    return pl.DataFrame(
        rows, {**dict.fromkeys(of, pl.String), "change": pl.Float64, "over_s": pl.Float64}, orient="row"
    )


def core_shares(host: pl.DataFrame, start_s: float, end_s: float) -> dict[int, dict[str, float]]:
    """For each core the share of its time in each state, and `busy` without idle, waiting, stolen and spinner time.

    Spinners run at nice 19: their time is `nice` and counts as idle.
    """
    shares: dict[int, dict[str, float]] = {}
    cpu = counter_changes(host.filter(pl.col("source") == "cpu"), start_s, end_s)
    for (key,), group in cpu.group_by("key"):
        state = dict(zip(group["item"], group["change"], strict=True))
        total = sum(state.get(name, 0.0) for name in EVERYTHING)
        if total > 0:
            share = {name: state.get(name, 0.0) / total for name in EVERYTHING}
            shares[int(str(key))] = {**share, "busy": sum(share[name] for name in BUSY)}
    return shares


def cache_miss_rates(host: pl.DataFrame, start_s: float, end_s: float) -> dict[int, float]:
    """Core → misses of its last-level cache, 1/s, in [start_s, end_s]; empty where the machine has no hardware counters."""
    perf = counter_changes(host.filter(pl.col("source") == "perf"), start_s, end_s).filter(
        pl.col("item") == "cache_misses"
    )
    return {int(key): change / over_s for key, change, over_s in perf.select("key", "change", "over_s").iter_rows()}
