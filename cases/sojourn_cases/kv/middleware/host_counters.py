"""Counters of hosts that the collector cannot see, sampled with the clock of the records: rows of host.parquet.

Source `hosts`; the key is the host, the item what is counted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from sojourn.runs import RunFolder, counter_changes, write_parquet

SOURCE = "hosts"
PROC = Path("/proc")
SENT_FIELD = 8  # of a line of net/dev, after the name: bytes sent


def sent_bytes(pid: int, interface: str, proc: Path = PROC) -> float:
    """Bytes sent by an interface of the network namespace that a process is in; NaN when there is none."""
    try:
        lines = (proc / str(pid) / "net/dev").read_text().splitlines()
    except OSError:
        return float("nan")
    for line in lines:
        name, _, fields = line.partition(":")
        if name.strip() == interface:
            return float(fields.split()[SENT_FIELD])
    return float("nan")


class HostCounterSampler:
    """Samples counters (by host and item) in a thread of its own, between `with` and its end."""

    def __init__(self, meters: Mapping[tuple[str, str], Callable[[], float]], every_s: float) -> None:
        self._meters, self._every_s = meters, every_s
        self._read: list[tuple[float, str, str, float]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> HostCounterSampler:
        if self._meters:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._meters:
            self._thread.join()

    def _run(self) -> None:
        while True:
            last = self._over.is_set()  # one more at the end: what happened since the last one counts
            at = time.monotonic()
            self._read += [(at, host, item, meter()) for (host, item), meter in self._meters.items()]
            if last:
                return
            self._over.wait(self._every_s)

    def keep(self, folder: RunFolder) -> None:
        """Adds the samples to the host samples of a run."""
        host = folder.frame("host")
        if host is None or not self._read:
            return
        own = pl.DataFrame(self._read, schema=["t_s", "key", "item", "value"], orient="row")
        own = own.filter(pl.col("value").is_not_nan()).with_columns(source=pl.lit(SOURCE))
        write_parquet(pl.concat([host, own.select(host.columns)]), folder.path / "host.parquet")


def grown(folder: RunFolder) -> tuple[dict[tuple[str, str], float], float]:
    """By how much each counter of each host grew in the window of a run, and in how many seconds."""
    host = folder.frame("host")
    if host is None:
        return {}, 0.0
    rows = counter_changes(host.filter(pl.col("source") == SOURCE), *folder.manifest["window_s"])
    over_s = rows["over_s"].max()
    found = {(key, item): n for key, item, n in rows.select("key", "item", "change").iter_rows()}
    return found, float(over_s or 0.0)  # type: ignore[arg-type]
