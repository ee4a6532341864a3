"""Runs of one series in a folder: those that are there are kept where they are like those that are asked for now."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sojourn.errors import InputError, RunFolderError
from sojourn.files.reading import MOST_TABLE_BYTES, read_bytes
from sojourn.runs.run_folder import RunFolder

MACHINE = ("kernel", "architecture", "cores", "sojourn")
# what may differ between the runs of a series: its level, and the schedule
LEVELS = {"rate_per_s", "users", "seed", "start_at_s"}
MOST_TOLD = 4


def contents(load: dict[str, Any]) -> dict[str, str]:
    """The SHA-256 of each file that is sent as a body; empty for one that cannot be read, which the generator tells."""
    targets = [target for lane in load["lanes"] for target in lane["targets"]]
    files = {target["body"]["file"] for target in targets if "file" in target.get("body", {})}
    return {name: _sum(Path(name)) for name in sorted(files)}


def _sum(path: Path) -> str:
    try:
        return hashlib.sha256(read_bytes(path, "give a file to send", most_bytes=MOST_TABLE_BYTES)).hexdigest()
    except InputError:
        return ""


# in the manifest: what of its load must be alike, where that is not the generator's own configuration
SERIES_LOAD = "series_load"


def kept(
    where: Path, runs: dict[str, dict[str, Any]], like: dict[str, Any], others: bool = False
) -> dict[str, RunFolder]:
    """The complete runs in `where` among `runs` (name → the generator's configuration). Runs that were cut off are
    removed, to be measured again. `like`: manifest of a run without its load. `others`: runs of other names may be there,
    under other loads.

    Raises:
        RunFolderError: `where` is another user's, has something else, or runs under other conditions; it says which.
    """
    if not where.exists():
        return {}
    there = sorted(file.parent for file in where.glob("*/manifest.json")) if where.is_dir() else []
    # names with a dot are what a run that is under way keeps beside its folder
    if not there and (not where.is_dir() or any(not path.name.startswith(".") for path in where.iterdir())):
        raise RunFolderError("the folder contains other things than runs", where, "choose another --out")
    if (owner := where.stat().st_uid) != os.geteuid():
        raise RunFolderError(f"it belongs to user {owner}", where, "choose another --out")
    folders = {path.name: RunFolder.open(path) for path in there}
    first = next(iter(runs.values()))
    for name, folder in folders.items():
        load = runs.get(name, folder.manifest["load"] if others else first)
        if differing := differences(folder.manifest, {**like, "load": load}):
            said = "; ".join(differing[:MOST_TOLD])
            remedy = "measure under the same conditions as there, or choose another --out"
            raise RunFolderError(f"a run under other conditions: {said}", folder.path, remedy)
    for folder in folders.values():
        if folder.path.name in runs and folder.manifest["status"] != "complete":
            folder.discard()
    return {name: one for name, one in folders.items() if name in runs and one.manifest["status"] == "complete"}


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """What is not alike between a run that is there and one that is asked for, in words."""
    old, new = conditions(there), conditions(here)
    return [
        f"{key} is {old.get(key, 'not said')} there and {new.get(key, 'not said')} here"
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]


def conditions(manifest: Mapping[str, Any]) -> dict[str, str]:
    """What must be alike in all runs of a series, by name: load but for level and schedule, machine, placement."""
    machine = {key: manifest.get("machine", {}).get(key) for key in MACHINE}
    load = manifest.get(SERIES_LOAD) or manifest["load"]
    parts = {"load": _without_level(load), "machine": machine, **(manifest.get("conditions") or {})}
    return dict(_flat("", json.loads(json.dumps(parts))))


def _without_level(load: Mapping[str, Any]) -> dict[str, Any]:
    """In a closed loop without what follows from its number of users: the most connections, and where each client has one all of them."""
    each_has_one = "kv" in load or "messages" in load
    follow = {"connections_max", "connections"} if each_has_one else {"connections_max"}
    lanes = [
        {key: value for key, value in lane.items() if key not in follow} if "closed" in lane else lane
        for lane in load.get("lanes", ())
    ]
    return {**load, "lanes": lanes}


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            if key not in LEVELS:
                yield from _flat(f"{name}.{key}" if name else key, inner)
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        for number, inner in enumerate(value):
            yield from _flat(f"{name}[{number}]", inner)
    else:
        yield name, json.dumps(value)
