"""Whether a manifest has the shape that its readers take: kinds of the keys that they use, and numbers that can be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sojourn.errors import RunFolderError

REMEDY = "the file is damaged; run the measurement again"
LONGEST_S = 1e9  # of a run, 30 years: beyond it is no time
TABLES = (
    "factors", "load", "generator", "records", "checks", "placement", "pids", "machine", "service", "conditions", "host", "kv",
    "storage", "lab", "observer", "at_rest", "cpu_time", "start", "end", "resources", "servers", "demands_s", "demand", "files",
)  # fmt: skip
ALWAYS = (
    "factors",
    "load",
    "records",
    "checks",
    "machine",
    "pids",
    "conditions",
    "reasons",
)  # where they are, they are no null
LISTS = ("reasons", "warnings", "agents", "objectives", "argv", "classes")
TEXTS = ("name", "model", "status", "section", "testbed")
STATUS = ("running", "complete", "cut off")
NUMBERS = ("pid", "warm_up_s", "repetition", "ping")
TIMES = (("load", "duration_s"), ("conditions", "duration_s"), ("generator", "duration_s"))
PLAIN = (
    ("generator", "sample_every"), ("generator", "offered_per_s"), ("checks", "failed share"), ("checks", "others"),
    ("load", "timeout_s"), ("host", "interval_s"), ("cpu_time", "over_s"), ("observer", "own_share"), ("placement", "observer"),
    ("factors", "rate_per_s"), ("factors", "users"), ("factors", "think_s"),
)  # fmt: skip
LISTED = (("generator", "lanes", dict), ("generator", "in_flight", list), ("generator", "notes", str), ("placement", "server", int),
          ("placement", "client", int), ("placement", "interrupts", int), ("agents", "", dict))  # fmt: skip
CLOCKS = (("generator", "start_s"), ("generator", "end_s"), ("start", "monotonic_s"), ("end", "monotonic_s"))


def check_shape(manifest: Mapping[str, Any], file: Path) -> None:
    """RunFolderError naming the first key whose value is of another kind, or cannot be."""
    found = next(_wrong(manifest), None)
    if found:
        raise RunFolderError(f"{found[1]!r:.60}", f"{file}: {found[0]}", f"{found[2]}: {REMEDY}")


def _wrong(manifest: Mapping[str, Any]) -> Any:
    for keys, kind, said in ((TABLES, dict, "a table"), (LISTS, list, "a list"), (TEXTS, str, "text")):
        for key in keys:
            if not isinstance(manifest.get(key), kind | None):
                yield key, manifest[key], f"give {said}"
    if manifest.get("status") not in STATUS:
        yield "status", manifest.get("status"), f"one of {', '.join(STATUS)}"
    for key in ALWAYS:
        if manifest.get(key, {}) is None:
            yield key, None, "leave it out"
    for key in NUMBERS:
        if not _number(manifest.get(key, 0), None):
            yield key, manifest[key], "give a number"
    for key in ("reasons", "warnings"):
        if not all(isinstance(one, str) for one in manifest.get(key) or ()):
            yield key, manifest[key], "give texts"
    yield from _loads(manifest.get("load") or {})
    yield from _times(manifest)
    yield from _listed(manifest)
    for name, one in (manifest.get("files") or {}).items():
        if not (isinstance(one, dict) and isinstance(one.get("sha256"), str) and isinstance(one.get("bytes"), int)):
            yield f"files.{name}", one, "give bytes and sha256"
        if Path(name).name != name:
            yield f"files.{name}", name, "give a name in the folder"
    for name, one in (manifest.get("records") or {}).items():
        if not isinstance(one, dict) or not _number(one.get("sample_every", 1), 1):
            yield f"records.{name}", one, "give a table"
            continue
        for key in ("classes", "failures", "pages"):
            if not _all(one.get(key), str):
                yield f"records.{name}.{key}", one[key], "give a list of texts"
    for name, one in (manifest.get("factors") or {}).items():
        if isinstance(one, dict | list) or (isinstance(one, float) and not math.isfinite(one)):
            yield f"factors.{name}", one, "give a number or a text"


def _loads(load: Mapping[str, Any]) -> Any:
    lanes = load.get("lanes", [])
    if not isinstance(lanes, list):
        yield "load.lanes", lanes, "give a list"
        return
    for number, lane in enumerate(lanes):
        if not isinstance(lane, dict) or not isinstance(lane.get("closed"), dict | None):
            yield f"load.lanes.{number}", lane, "give a table"
        elif "targets" in lane and (lane["targets"] is None or not _all(lane["targets"], dict)):
            yield f"load.lanes.{number}.targets", lane["targets"], "give tables"
        elif lane.get("arrivals") and not isinstance(lane["arrivals"], dict):
            yield f"load.lanes.{number}.arrivals", lane["arrivals"], "give a table"
        elif not all(_number(lane.get(key) or 0, 0) for key in ("connections", "connections_max")):
            yield f"load.lanes.{number}.connections", lane.get("connections"), "give a number"
        elif lane.get("closed") and not _number(lane["closed"].get("users"), 0):
            yield f"load.lanes.{number}.closed.users", lane["closed"].get("users"), "give a number"


def _listed(manifest: Mapping[str, Any]) -> Any:
    """Lists of things of one kind, and numbers."""
    for part, key, kind in LISTED:
        value = (manifest.get(part) or {}).get(key) if key else manifest.get(part)
        if not _all(value, kind) or (value is None and key in (manifest.get(part) or {})):
            yield f"{part}.{key}", value, "give a list, of one kind"
    for part, key in PLAIN:
        value = (manifest.get(part) or {}).get(key)
        if value is not None and not _number(value, None):
            yield f"{part}.{key}", value, "give a number"
    for number, lane in enumerate((manifest.get("generator") or {}).get("lanes") or ()):
        for key in ("cpu_s", "wall_s"):
            if key in lane and not _number(lane[key], None):
                yield f"generator.lanes.{number}.{key}", lane[key], "give seconds"


def _all(value: Any, kind: type) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(one, kind) for one in value))


def _times(manifest: Mapping[str, Any]) -> Any:
    for part, key in TIMES:
        if (value := (manifest.get(part) or {}).get(key)) is not None and not _number(value, 0, LONGEST_S):
            yield f"{part}.{key}", value, f"seconds from 0 to {LONGEST_S:g}"
    for part, key in CLOCKS:
        if (value := (manifest.get(part) or {}).get(key)) is not None and not _number(value, None, LONGEST_S):
            yield f"{part}.{key}", value, "give seconds"
    if (window := manifest.get("window_s")) is not None:
        plain = isinstance(window, list) and len(window) == 2 and all(_number(one, None, LONGEST_S) for one in window)
        if not plain or window[0] > window[1]:
            yield "window_s", window, "give the start and the end, s"


def _number(value: Any, least: float | None, most: float = math.inf) -> bool:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return (
        known and value >= -LONGEST_S and (least is None or value >= least) and value <= most and math.isfinite(value)
    )
