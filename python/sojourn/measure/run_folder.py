"""A run folder: a manifest and records, complete or marked as cut off.

    manifest.json     what was run, where, when, with what, and the verdict
    requests.parquet  one row a request            latency.hlog    HdrHistogram log, one histogram a second
    host.parquet      counters as read             app.parquet     what the service says of itself
    metrics.parquet   the Metrics made from these

While a run is going on, records are append-only logs (`*.rec`, `host.ndjson`); `RunFolder.close` turns them into
Parquet. `RunFolder.open` does the same for a run that was cut off, so that nothing written is lost.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import RunFolderError
from sojourn.file_kind import kind_of
from sojourn.lab.cleanup_registry import start_time
from sojourn.measure.host_samples import read_samples
from sojourn.measure.record_logs import cannot_write, log_to_parquet, write_parquet

FORMAT, VERSION = "sojourn-run", 1
LOGS = {"requests": "requests.rec", "app": "app.rec"}
RECORDS = ("requests.rec", "requests.parquet", "metrics.parquet", "host.parquet")


class RunFolder:
    """A run folder at `path`; make one with `create`, read one with `open`."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        self._made: list[Path] = []

    @classmethod
    def create(cls, path: Path, what: dict[str, Any]) -> RunFolder:
        """Makes the folder and a manifest that says `running`.

        Raises:
            RunFolderError: it exists already, or cannot be made.
        """
        made = [parent for parent in path.parents if not parent.exists()]
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            raise RunFolderError("the folder exists", str(path), "choose another --out, or remove it") from None
        except OSError as error:
            raise cannot_write(error, path) from None
        folder = cls(path, {"format": FORMAT, "version": VERSION, "status": "running", **what})
        folder._made = made
        try:
            folder.save()
        except RunFolderError:
            folder.discard()
            raise
        return folder

    @classmethod
    def open(cls, path: Path | str) -> RunFolder:
        """Opens a run folder; one that was cut off is completed from its logs and marked so.

        Raises:
            RunFolderError: no such folder, an empty one, no manifest, or one of another version.
        """
        path = Path(path)
        folder = cls(path, _manifest(path))
        running = folder.manifest["status"] == "running"
        if running and folder._owner_lives():
            return folder
        if running:
            folder.manifest |= {"status": "cut off", "valid": False}
            folder.manifest.setdefault("reasons", []).append("the run was cut off; what was written until then is kept")
        if running or any((path / log).exists() for log in LOGS.values()):
            folder.collect()
            folder.save()
        return folder

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
        """Writes the manifest, whole or not at all."""
        temporary = self.path / "manifest.tmp"
        try:
            temporary.write_text(json.dumps(self.manifest, indent=1, sort_keys=True, default=str) + "\n")
            temporary.replace(self.path / "manifest.json")
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise cannot_write(error, self.path) from None

    def collect(self) -> None:
        """Turns the logs that are there into Parquet."""
        for name, log in LOGS.items():
            if (self.path / log).exists():
                meta = log_to_parquet(self.path / log, self.path / f"{name}.parquet")
                self.manifest.setdefault("records", {})[name] = meta
        samples = self.path / "host.ndjson"
        if samples.exists():
            frame, header = read_samples(samples)
            write_parquet(frame, self.path / "host.parquet")
            self.manifest["host"] = header
            samples.unlink()

    def frame(self, name: str) -> pl.DataFrame | None:
        """The records `requests`, `app`, `host` or `metrics`; None where the run has none."""
        path = self.path / f"{name}.parquet"
        if not path.exists():
            return None
        try:
            return pl.read_parquet(path)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise RunFolderError(
                str(error)[:120], str(path), "the file is damaged; run the measurement again"
            ) from None

    def _owner_lives(self) -> bool:
        pid, started = self.manifest.get("pid"), self.manifest.get("pid_started")
        if not isinstance(pid, int) or pid == os.getpid():
            return False
        found = start_time(pid)
        return found is not None and started in (None, found)


def _manifest(path: Path) -> dict[str, Any]:
    file = path / "manifest.json"
    if not path.is_dir():
        found = f"{kind_of(path)}, no run folder" if path.exists() else "no such folder"
        raise RunFolderError(found, str(path), "give a folder that `sojourn measure` made")
    if not file.exists():
        kind = "empty folder" if not any(path.iterdir()) else "no manifest.json"
        raise RunFolderError(kind, str(path), "give a folder that `sojourn measure` made")
    try:
        manifest: dict[str, Any] = json.loads(file.read_text())
        version = (manifest["format"], manifest["version"])
        manifest.setdefault("status", "complete")
    except (ValueError, KeyError, TypeError):
        raise RunFolderError("not a manifest", str(file), "the file is damaged; run the measurement again") from None
    if version != (FORMAT, VERSION):
        raise RunFolderError(
            f"{version[0]} version {version[1]}", str(file), f"this program reads {FORMAT} version {VERSION}"
        )
    return manifest


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
    return [f"{folder}: no manifest.json, so it is no run folder" for folder in sorted(records)
            if not (folder / "manifest.json").exists()]  # fmt: skip


def now() -> dict[str, Any]:
    """The two clocks at this moment: wall clock for people, CLOCK_MONOTONIC for the records."""
    return {"wall": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "monotonic_s": time.monotonic()}
