"""Run folders of sojourn itself as observations: response times run from when a request was due."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.errors import InputError
from sojourn.readers.observation import Observation, Requests
from sojourn.runs.run_folder import RunFolder, run_folders

NAME = "sojourn"
NEEDED = ("intended_s", "done_s", "failure")


def read_folders(path: Path) -> list[Observation]:
    """Each run below `path`. Raises RunFolderError for none."""
    return [_one(folder) for folder in run_folders([path])]


def _one(path: Path) -> Observation:
    folder = RunFolder.open(path)
    frame = folder.frame("requests")
    if frame is None or frame.is_empty() or not set(NEEDED) <= set(frame.columns):
        raise InputError("no requests.parquet", path, "give the run folder with its records")
    frame = frame.sort("intended_s")  # records are in order of their ends
    is_open, users, think, rate = _load(folder.manifest)
    start, end = frame["intended_s"].to_numpy(), frame["done_s"].to_numpy()
    weight = frame["weight"].to_numpy() if "weight" in frame.columns else np.ones(start.size)
    kept = np.isfinite(start) & np.isfinite(end) & (end >= start)
    if not kept.any():
        raise InputError("no request that came and was answered", path, "give a run that sent something")
    ok = frame["failure"].to_numpy() == 0
    whole = bool((weight == 1).all())
    requests = Requests(start[kept], (end - start)[kept], ok[kept], int((~kept).sum())) if whole else None
    length = float(end[kept].max() - start[kept].min()) or None
    return Observation(
        str(path), NAME, version=str(folder.manifest.get("version", "")) or None, open_loop=is_open, users=users, think_s=think,
        asked_per_s=rate if is_open else None, length_s=length, requests=requests, completed=int(weight[kept & ok].sum()),
        failed=int(weight[kept & ~ok].sum()), mean_s=float(np.average((end - start)[kept], weights=weight[kept])), stamp_s=1e-9,
        throughput_per_s=float(weight[kept].sum()) / length if length else None,
        valid=folder.manifest.get("valid"), invalid_reasons=tuple(folder.manifest.get("reasons") or ()),
    )  # fmt: skip


def _load(manifest: Mapping[str, Any]) -> tuple[bool | None, float | None, float | None, float | None]:
    """Whether requests came by a schedule, users, think time (s) and rate (1/s): as the factors say, and of a load that is not one of
    several (`sojourn load`) as its lanes do, all of one kind."""
    factors = manifest.get("factors") or {}
    users, think, rate = (_number(factors.get(name)) for name in ("users", "think_s", "rate_per_s"))
    if users is not None or rate is not None:
        return users is None, users, think, rate
    lanes = (manifest.get("load") or {}).get("lanes") or []
    closed = [lane["closed"] for lane in lanes if lane.get("closed")]
    if lanes and len(closed) == len(lanes):
        counts = [_number(one.get("users")) for one in closed]
        thinks = {_number((one.get("think") or {"mean": 0.0}).get("mean")) for one in closed}
        users = sum(n for n in counts if n is not None) if None not in counts else None
        return False, users, thinks.pop() if len(thinks) == 1 else None, None
    if lanes and all(lane.get("arrivals") is not None for lane in lanes):
        rates = [_number(lane["arrivals"].get("rate_per_s")) for lane in lanes]
        return True, None, None, sum(r for r in rates if r is not None) if None not in rates else None
    return None, None, None, None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
