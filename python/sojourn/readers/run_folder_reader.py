"""Run folders of sojourn itself as observations: response times run from when a request was due."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sojourn.errors import InputError
from sojourn.readers.observation import Observation, Requests
from sojourn.runs.run_folder import RunFolder, run_folders

NAME = "sojourn"


def read_folders(path: Path) -> list[Observation]:
    """Each run below `path`. Raises RunFolderError for none."""
    return [_one(folder) for folder in run_folders([path])]


def _one(path: Path) -> Observation:
    folder = RunFolder.open(path)
    frame = folder.frame("requests")
    if frame is None or frame.is_empty():
        raise InputError("no requests.parquet", path, "give the run folder with its records")
    factors: dict[str, Any] = folder.manifest.get("factors", {})
    users, think, rate = (_number(factors.get(name)) for name in ("users", "think_s", "rate_per_s"))
    start, end = frame["intended_s"].to_numpy(), frame["done_s"].to_numpy()
    weight = frame["weight"].to_numpy() if "weight" in frame.columns else np.ones(start.size)
    kept = np.isfinite(start) & np.isfinite(end) & (end >= start)
    ok = frame["failure"].to_numpy() == 0
    whole = bool((weight == 1).all())
    requests = Requests(start[kept], (end - start)[kept], ok[kept], int((~kept).sum())) if whole else None
    length = float(end[kept].max() - start[kept].min()) or None
    return Observation(
        str(path), NAME, version=str(folder.manifest.get("version", "")) or None, open_loop=users is None, users=users, think_s=think,
        asked_per_s=rate if users is None else None, length_s=length, requests=requests, completed=int(weight[kept & ok].sum()),
        failed=int(weight[kept & ~ok].sum()), mean_s=float(np.average((end - start)[kept], weights=weight[kept])), stamp_s=1e-9,
        throughput_per_s=float(weight[kept].sum()) / length if length else None,
    )  # fmt: skip


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
