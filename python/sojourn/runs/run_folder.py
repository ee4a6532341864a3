"""A run folder: a manifest and records, complete or marked as cut off.

    manifest.json     what was run, where, when, with what, and the verdict
    requests.parquet  one row a request            latency.hlog    HdrHistogram log, one histogram a second
    host.parquet      counters as read             app.parquet     what the service says of itself
    metrics.parquet   the Metrics made from these

While a run is going on, records are append-only logs (`*.rec`, `host.ndjson`); `RunFolder.collect` turns them into Parquet. Before that,
and of a run that was cut off, they are read as they are: opening a folder and reading from it writes nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import RunFolderError
from sojourn.file_kind import kind_of
from sojourn.files.reading import MOST_JSON_BYTES, parse_json, read_text
from sojourn.files.writing import write_whole
from sojourn.lab.cleanup_registry import start_time
from sojourn.notebook import ShownInNotebook
from sojourn.runs.manifest import DAMAGED, FORMAT, VERSION, Manifest, read_manifest
from sojourn.runs.record_files import (
    TIMES,
    account,
    check_files,
    check_metrics,
    check_times,
    read_records,
    record_parts,
    row_count,
)
from sojourn.runs.record_logs import cannot_write
from sojourn.runs.unconverted_logs import UnconvertedLogs
from sojourn.table import Metrics

RECORDS = ("requests.rec", "requests.parquet", "metrics.parquet", "host.parquet")


class RunFolder(ShownInNotebook):
    """A run folder at `path`; make one with `create`, read one with `open`."""

    _REPORT = "measure.run_report:run_document"

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._made: list[Path] = []
        self._to_check = False  # of a folder that this process has not made
        self.answered: int | None = None  # rows in the window that succeeded, of a run that this process has judged
        self._logs = UnconvertedLogs(path)
        self._in_logs: list[str] = []  # records that are read from there

    @classmethod
    def create(cls, path: Path, what: dict[str, Any]) -> RunFolder:
        """Makes the folder and a manifest that says `running`.

        Raises:
            RunFolderError: it exists already, or cannot be made.
        """
        made = [parent for parent in path.parents if not parent.exists()]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir(mode=0o700)  # bodies and queries of URLs are its user's alone
        except FileExistsError:
            raise RunFolderError("the folder exists", str(path), "choose another --out, or remove it") from None
        except OSError as error:
            raise cannot_write(error, path) from None
        manifest: Any = {"format": FORMAT, "version": VERSION, "status": "running", **what}
        folder = cls(path, manifest)
        folder._made = made
        try:
            folder.save()
        except RunFolderError:
            folder.discard()
            raise
        return folder

    @classmethod
    def glance(cls, path: Path | str) -> RunFolder:
        """The folder with its manifest as it is there, without a look at its records: for lists of many. RunFolderError as `open`."""
        return cls(Path(path), _manifest(Path(path)))

    @classmethod
    def open(cls, path: Path | str) -> RunFolder:
        """Opens a run folder to read it. One that was cut off is marked so and read from its logs; nothing is written: that is
        `complete`.

        Raises:
            RunFolderError: no such folder, an empty one, no manifest, or one of another version.
        """
        path = Path(path)
        folder = cls(path, _manifest(path))
        folder._to_check = True
        running = folder.manifest["status"] == "running"
        if running and folder._owner_lives():
            return folder
        if running:
            folder.manifest |= {"status": "cut off", "valid": False}
            folder.manifest.setdefault("reasons", []).append(
                "the run was cut off; everything written until then is kept"
            )
        folder.read_logs()
        return folder

    def read_logs(self) -> None:
        """From now on reads records that are not yet Parquet from the logs, until `collect`. RunFolderError for what is no log."""
        self._in_logs = [name for name in self._logs.names() if not (self.path / f"{name}.parquet").exists()]
        for name in self._in_logs:
            self._note(name, self._logs.meta(name))

    def complete(self) -> None:
        """Makes Parquet of what a cut-off run left, and writes what `open` found. RunFolderError where that cannot be written."""
        self.collect()
        self.save()

    def has(self, name: str) -> bool:
        """Whether there are records of that name; see `frame`."""
        return name in self._in_logs or (self.path / f"{name}.parquet").exists()

    def rows(self, name: str) -> int:
        """How many `parts` has at most."""
        path = self.path / f"{name}.parquet"
        return row_count(path) if path.exists() else self._logs.rows(name) if name in self._in_logs else 0

    def has_records(self) -> bool:
        """Whether anything was recorded of the load, or a worker left a complaint."""
        complaint = self.path / "log.txt"
        recorded = any((self.path / name).exists() for name in ("requests.rec", "requests.parquet"))
        return recorded or (complaint.exists() and complaint.stat().st_size > 0)

    def discard(self) -> None:
        """Removes the folder and the parents that were made for it."""
        shutil.rmtree(self.path, ignore_errors=True)
        for parent in self._made:
            with suppress(OSError):
                parent.rmdir()

    @property
    def sample_every(self) -> int:
        """How many requests a row of `requests.parquet` stands for: 1, or more where the record limit was reached."""
        places = (self.manifest.get("generator"), self.manifest.get("records", {}).get("requests"))
        return next((int(place["sample_every"]) for place in places if place and place.get("sample_every")), 1)

    def save(self) -> None:
        """Writes the manifest, whole or not at all; of a run that has ended with rows and hash of each record file."""
        if self.manifest.get("status") != "running":
            self.manifest["files"] = account(self.path)
        try:
            text = json.dumps(self.manifest, indent=1, sort_keys=True, default=str) + "\n"
            write_whole(self.path / "manifest.json", text)
        except OSError as error:
            raise cannot_write(error, self.path) from None

    def collect(self) -> None:
        """Turns the logs that are there into Parquet."""
        for name in self._logs.names():
            self._note(name, self._logs.convert(name))
        self._in_logs = []

    def _note(self, name: str, meta: dict[str, Any]) -> None:
        if name == "host":
            self.manifest["host"] = meta
        else:
            self.manifest.setdefault("records", {})[name] = meta

    def frame(self, name: str) -> pl.DataFrame | None:
        """The records `requests`, `app`, `host` or `metrics`; None where the run has none."""
        self.check()
        return self._held(name)

    def columns(self, name: str, wanted: Collection[str]) -> pl.DataFrame | None:
        """Those columns of records that are `wanted` and there; see `frame`."""
        self.check()
        return self._held(name, wanted)

    def parts(self, name: str, wanted: Collection[str]) -> Iterator[pl.DataFrame]:
        """The same some rows at a time; nothing where the run has no such records."""
        self.check()
        return self._parts(name, wanted)

    def _parts(self, name: str, wanted: Collection[str]) -> Iterator[pl.DataFrame]:
        path = self.path / f"{name}.parquet"
        if path.exists():
            yield from record_parts(path, wanted)
        elif name in self._in_logs:
            yield from self._logs.parts(name, wanted)

    def _held(self, name: str, wanted: Collection[str] | None = None) -> pl.DataFrame | None:
        path = self.path / f"{name}.parquet"
        if path.exists():
            return read_records(path, wanted)
        return pl.concat(self._logs.parts(name, wanted)) if name in self._in_logs else None

    def metrics(self) -> Metrics:
        """What `assess` made of the records. Raises as `check` does, and where there is none."""
        self.check()
        return Metrics.read(self.path / "metrics.parquet")

    def check(self) -> None:
        """Once for a folder that was opened: its records are those of the run, and can be.

        Raises:
            RunFolderError: a file differs from what the run recorded, is damaged, or has times that cannot be.
        """
        if not self._to_check:
            return
        check_files(self.path, self.manifest)
        requests, metrics = (self.path / f"{name}.parquet" for name in ("requests", "metrics"))
        for part in self._parts("requests", (*TIMES, "failure")):
            check_times(part, self.manifest, requests)
        if metrics.exists() and "files" not in self.manifest:
            held = self._held("requests", (*TIMES, "failure"))
            if held is not None:
                check_metrics(held, read_records(metrics), self.manifest, requests)
        self._to_check = False

    def is_being_recorded(self) -> bool:
        """Whether the process that made it is still at it."""
        return self.manifest.get("status") == "running" and self._owner_lives()

    def _owner_lives(self) -> bool:
        pid, started = self.manifest.get("pid"), self.manifest.get("pid_started")
        if not isinstance(pid, int) or pid == os.getpid():
            return False
        found = start_time(pid)
        return found is not None and started in (None, found)


def _manifest(path: Path) -> Manifest:
    file = path / "manifest.json"
    if not path.is_dir():
        found = f"{kind_of(path)}, no run folder" if path.exists() else "no such folder"
        raise RunFolderError(found, str(path), "give a folder that `sojourn measure` made")
    if not file.exists():
        kind = "empty folder" if not any(path.iterdir()) else "no manifest.json"
        raise RunFolderError(kind, str(path), "give a folder that `sojourn measure` made")
    try:
        found = parse_json(read_text(file, DAMAGED, most_bytes=MOST_JSON_BYTES, error=RunFolderError))
    except RunFolderError:
        raise
    except ValueError as error:
        found = f" ({error.msg})" if isinstance(error, json.JSONDecodeError) else ""
        raise RunFolderError(f"not a manifest{found}", str(file), DAMAGED) from None
    return read_manifest(found, file)


def run_folders(paths: list[Path]) -> list[Path]:
    """The run folders among and below `paths`, in order of name.

    Raises:
        RunFolderError: there is none.
    """
    found: list[Path] = []
    for path in paths:
        if (path / "manifest.json").exists() or not path.is_dir():
            found.append(path)
        else:
            found += sorted(file.parent for file in path.rglob("manifest.json"))
    if not found:
        where = ", ".join(map(str, paths))
        raise RunFolderError("no run folder", where, "give a folder that `sojourn measure` or `sojourn study` made")
    return found


def without_manifest(paths: Sequence[Path]) -> list[str]:
    """The folders among and below `paths` that have records of a run and no manifest, each with what is missing."""
    records = {file.parent for path in paths for name in RECORDS for file in path.rglob(name)}
    return [f"{folder}: no manifest.json, so it is not a run folder" for folder in sorted(records)
            if not (folder / "manifest.json").exists()]  # fmt: skip


def clock_times() -> dict[str, Any]:
    """The two clocks at this moment: wall clock for people, CLOCK_MONOTONIC for the records."""
    return {"wall": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "monotonic_s": time.monotonic()}
