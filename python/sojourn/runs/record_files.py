"""The record files of a run folder: that they are those that the run wrote, of the columns that readers take, with times that can be.

`files` of the manifest has rows, bytes and SHA-256 of each, written whenever a finished run is saved. Each file is hashed once a process
while its size and time of change stay. A folder of an older version has no `files`: there its Metrics are compared with its requests.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import RunFolderError
from sojourn.files.parquet_footer import footer
from sojourn.files.reading import MOST_LOG_BYTES, opened
from sojourn.files.tables import NUMBER, TEXT, WHOLE, check_columns, parquet_parts, read_parquet
from sojourn.runs.manifest import Manifest
from sojourn.table import KINDS as METRICS

AGAIN = "the file is damaged; run the measurement again"
CHANGED = "copy the folder again from its origin, or repeat the measurement"
KEPT = ("*.parquet", "latency.hlog")
REQUESTS = {
    "intended_s": NUMBER, "sent_s": NUMBER, "received_s": NUMBER, "done_s": NUMBER, "failure": WHOLE, "class": WHOLE,
    "status": WHOLE, "bytes": WHOLE, "lane": WHOLE, "connection": WHOLE, "user": WHOLE, "weight": WHOLE, "agent": WHOLE,
}  # fmt: skip
HOST = {"t_s": NUMBER, "source": TEXT, "key": TEXT, "item": TEXT, "value": NUMBER}
# columns by name, and how many of the first must be there; None: all are numbers
COLUMNS: dict[str, tuple[Mapping[str, str] | None, int]] = {
    "requests": (REQUESTS, 5), "host": (HOST, 5), "metrics": (METRICS, len(METRICS)), "app": (None, 0),
}  # fmt: skip
TIMES = ("intended_s", "sent_s", "received_s", "done_s")
CLOCK_S = 1e-3  # by which the times of one request may be out of order
AROUND_S = 1.0  # by which requests may lie outside of the run's start and end
SAME = 1e-2  # relative, between the Metrics of an older folder and its requests


def account(folder: Path) -> dict[str, dict[str, Any]]:
    """Rows (of Parquet), bytes and SHA-256 of each record file in a folder, by name."""
    return {path.name: _account(path) for pattern in KEPT for path in sorted(folder.glob(pattern))}


def _account(path: Path) -> dict[str, Any]:
    rows = {"rows": row_count(path)} if path.suffix == ".parquet" else {}
    return {**rows, "bytes": path.stat().st_size, "sha256": digest(path)}


def row_count(path: Path) -> int:
    """Of a Parquet file, as its end has it. RunFolderError."""
    with opened(path, AGAIN, MOST_LOG_BYTES, error=RunFolderError) as file:
        try:
            return int(footer(file)[0])
        except ValueError as failed:
            raise RunFolderError(str(failed), str(path), AGAIN) from None


def digest(path: Path) -> str:
    """SHA-256, taken once a process while the file's size and time of change stay."""
    known = path.stat()
    return _digest(path.absolute(), known.st_size, known.st_mtime_ns)


@lru_cache(maxsize=4096)
def _digest(path: Path, size: int, changed_ns: int) -> str:
    with opened(path, AGAIN, MOST_LOG_BYTES, error=RunFolderError) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_files(folder: Path, manifest: Manifest) -> None:
    """RunFolderError for a record file that is not the one that the run wrote. One that is gone contradicts nothing."""
    for name, told in manifest.get("files", {}).items():
        path = folder / name
        if path.exists() and (path.stat().st_size != told["bytes"] or digest(path) != told["sha256"]):
            raise RunFolderError("differs from what the run recorded", str(path), CHANGED)


def read_records(path: Path, wanted: Collection[str] | None = None) -> pl.DataFrame:
    """A record file, of the columns that its readers take; only those `wanted` of it, where they are named. RunFolderError."""
    columns, needed = COLUMNS.get(path.stem, ({}, 0))
    return read_parquet(path, columns, AGAIN, needed=needed, error=RunFolderError, wanted=wanted)


def record_parts(path: Path, wanted: Collection[str]) -> Iterator[pl.DataFrame]:
    """The columns `wanted` of a record file some rows at a time; at least one part. RunFolderError."""
    columns, needed = COLUMNS.get(path.stem, ({}, 0))
    return parquet_parts(path, columns, AGAIN, needed=needed, error=RunFolderError, wanted=wanted)


def check_log(schema: Mapping[str, pl.DataType], name: str, log: Path) -> None:
    """Of the columns of a log: that they are those that readers take. RunFolderError."""
    columns, needed = COLUMNS[name]
    check_columns(schema, columns, needed, log, AGAIN, RunFolderError)


def check_times(requests: pl.DataFrame, manifest: Manifest, path: Path) -> None:
    """RunFolderError for requests that no run can have: none where some were sent, and times that are no numbers, out of order, or
    outside of the run. A receive time by the kernel is judged by the run (`assess`): the wall clock may have been set."""
    if requests.is_empty():
        if sent := (manifest.get("generator") or {}).get("sent"):
            raise RunFolderError(f"no rows, though {sent} requests were sent", str(path), CHANGED)
        return
    low, high = _span(manifest)
    intended, sent, received, done = (pl.col(name).fill_nan(None) for name in TIMES)  # no number: there was none
    raw = [pl.col(name) for name in TIMES]
    wrong = {
        "a time that is not a number": raw[0].is_nan() | pl.any_horizontal(t.is_null() | t.is_infinite() for t in raw),
        "a negative time": pl.any_horizontal(t < -CLOCK_S for t in raw) if low is None else pl.lit(False),
        "a time outside of the run": pl.any_horizontal((t < low) | (t > high) for t in (intended, sent, received, done))
        if low is not None else pl.lit(False),
        "a request that was sent before it was due": sent < intended - CLOCK_S,
        "an answer before its request": (done < intended - CLOCK_S) | (done < sent - CLOCK_S),
        "no failure code": pl.col("failure").is_null(),
    }  # fmt: skip
    found = requests.lazy().select(**{name: rule.fill_null(False).any() for name, rule in wrong.items()}).collect()
    if name := next((name for name, bad in found.row(0, named=True).items() if bad), None):
        raise RunFolderError(name, str(path), CHANGED)


def _span(manifest: Manifest) -> tuple[float | None, float]:
    """Between which times of CLOCK_MONOTONIC a measured run lies; (None, inf) where nobody says, as of a simulated one."""
    start, end = ((manifest.get("start") or {}).get("monotonic_s"), (manifest.get("end") or {}).get("monotonic_s"))
    if manifest.get("simulated") or start is None:
        return None, math.inf
    return start - AROUND_S, math.inf if end is None else end + AROUND_S


def check_metrics(requests: pl.DataFrame, metrics: pl.DataFrame, manifest: Manifest, path: Path) -> None:
    """RunFolderError where the mean response time of a folder's Metrics is not that of its requests: one of them was changed. For
    folders of an older version, which have no hashes."""
    rows = metrics.filter((pl.col("station") == "") & (pl.col("class") == "") & (pl.col("metric") == "response_time"))
    if rows.height != 1 or rows["value"][0] is None or "window_s" not in manifest:
        return
    end = pl.coalesce(pl.col("received_s").fill_nan(None), "done_s")
    start_s, end_s = manifest["window_s"]
    inside = requests.filter(pl.col("intended_s").is_between(start_s, end_s) & (pl.col("failure") == 0))
    mean, told = inside.select((end - pl.col("intended_s")).mean()).item(), rows["value"][0]
    if mean is None or not math.isclose(mean, told, rel_tol=SAME):
        said = "none" if mean is None else f"{mean:.3g} s"
        raise RunFolderError(f"differs from what the run recorded: its mean response time is {said}, but {told:.3g} s in metrics.parquet",
                             str(path), CHANGED)  # fmt: skip
