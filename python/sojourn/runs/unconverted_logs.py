"""The records of a run as they were written, before they are Parquet: of a run that has just ended, and of one that was cut off."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.runs.host_samples import read_samples
from sojourn.runs.record_files import check_log
from sojourn.runs.record_logs import log_meta, log_parts, log_rows, to_parquet, write_parquet

LOGS = {"requests": "requests.rec", "app": "app.rec", "host": "host.ndjson"}


class UnconvertedLogs:
    """The logs of a run folder. Samples of the host are kept from when they are read until they are Parquet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._host: tuple[pl.DataFrame, dict[str, Any]] | None = None

    def names(self) -> list[str]:
        """Of the records that are there as logs; one that was cut off before its header holds none."""
        return [name for name, log in LOGS.items() if (at := self._folder / log).exists() and at.stat().st_size]

    def meta(self, name: str) -> dict[str, Any]:
        """What its header says; RunFolderError where it is no such log."""
        return self._samples()[1] if name == "host" else log_meta(self._folder / LOGS[name])

    def rows(self, name: str) -> int:
        """How many `parts` has at most: a log may be thinned."""
        return self._samples()[0].height if name == "host" else log_rows(self._folder / LOGS[name])

    def parts(self, name: str, wanted: Collection[str] | None = None) -> Iterator[pl.DataFrame]:
        """Its rows, some at a time, one part at least, of the columns that are `wanted` and there; RunFolderError."""
        if name == "host":
            held = self._samples()[0]
            yield held if wanted is None else held.select(one for one in held.columns if one in wanted)
            return
        log = self._folder / LOGS[name]
        yield from log_parts(log, wanted, lambda schema: check_log(schema, name, log))

    def convert(self, name: str) -> dict[str, Any]:
        """Makes Parquet of it in its place; its `meta`."""
        log, path = self._folder / LOGS[name], self._folder / f"{name}.parquet"
        if name == "host":
            frame, meta = self._samples()
            write_parquet(frame, path)
            self._host = None
        else:
            meta = to_parquet(log, path)
        log.unlink()
        return meta

    def _samples(self) -> tuple[pl.DataFrame, dict[str, Any]]:
        if self._host is None:
            self._host = read_samples(self._folder / LOGS["host"])
        return self._host
