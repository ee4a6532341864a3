"""What one run says, as numbers: its figures by metric, its condition, and why it does not count where it does not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import RunFolderError
from sojourn.runs.generator_lateness import only_late
from sojourn.runs.manifest import Manifest
from sojourn.runs.run_folder import RunFolder, run_folders
from sojourn.units import quantile_name

LOADS = ("rate_per_s", "users", "think_s")
UNITS = {"throughput": "1/s"}  # of all others: s
MORE_IS_BETTER = ("throughput",)
QUANTILES = {q: quantile_name(q) for q in (0.5, 0.9, 0.99)}
OF_RUN_FOLDERS = ("mean", *QUANTILES.values(), "throughput", "demand")  # and `demand NAME`, of what else was watched
BLOCK = re.compile(r"block-\d+")


@dataclass(frozen=True)
class RunValues:
    """A run: `values` by metric, above 0 (times in s, `throughput` in 1/s); `condition`: factor → level, loads among them; `block` of an
    interleaved series, the same name on both sides; `reasons` why it is not valid; `alike`: what else should be alike, in words."""

    name: str
    values: Mapping[str, float]
    condition: Mapping[str, Any] = field(default_factory=dict)
    block: str = ""
    reasons: tuple[str, ...] = ()
    alike: Mapping[str, str] = field(default_factory=dict)


def run_values(source: Path | str | RunFolder) -> RunValues:
    """Of a run folder: `mean`, `p50`, `p90`, `p99` of the response time from when a request was due, `throughput`, and where it was watched
    the CPU time of a request (`demand`) and other times that it takes (`demand NAME`).

    A run that is not valid because its generator was late counts where its mean is usable: lateness is one of the things by which
    runs differ. Raises RunFolderError where it cannot be read.
    """
    folder = source if isinstance(source, RunFolder) else RunFolder.open(source)
    manifest = folder.manifest
    reasons = () if manifest.get("valid") or only_late(manifest) else tuple(manifest.get("reasons") or ("not judged",))
    values = _measured(folder) if folder.has("metrics") else {}
    values |= _demands(manifest.get("demands_s") or {})
    known = {name: float(value) for name, value in values.items() if value is not None and value > 0}
    blocks = [part.name for part in folder.path.parents if BLOCK.fullmatch(part.name)]
    return RunValues(
        folder.path.name, known, condition_of(manifest), blocks[0] if blocks else "", reasons, _alike(manifest)
    )


def read_runs(sources: Sequence[Path | str | RunFolder]) -> list[RunValues]:
    """Of all run folders among and below `sources`. RunFolderError where there is none."""
    paths = [one.path if isinstance(one, RunFolder) else Path(one) for one in sources]
    for path in paths:
        if not path.exists():
            raise RunFolderError("no such folder", str(path), "give a folder that `sojourn measure` made")
    return [run_values(path) for path in run_folders(paths)]


def condition_of(manifest: Manifest) -> dict[str, Any]:
    """The factors of a run; of one that has none the load, as its lanes have it."""
    found = dict(manifest.get("factors") or {})
    if not any(name in found for name in LOADS):
        lanes = (manifest.get("load") or {}).get("lanes") or []
        rates = [(lane.get("arrivals") or {}).get("rate_per_s") for lane in lanes]
        users = [(lane.get("closed") or {}).get("users") for lane in lanes]
        if rates and all(rates):
            found["rate_per_s"] = sum(rates)
        if users and all(users):
            found["users"] = sum(users)
    return found


def _measured(folder: RunFolder) -> dict[str, float | None]:
    rows = folder.metrics().frame.filter(pl.col("class") == "")
    found: dict[str, float | None] = {}
    for row in rows.iter_rows(named=True):
        if row["metric"] == "service_demand":
            found[f"demand {row['station']}"] = row["value"]
        elif row["station"] != "":
            continue
        elif row["metric"] == "response_time":
            found["mean"] = row["value"]
        elif row["metric"] == "response_time_quantile" and row["q"] in QUANTILES:
            found[QUANTILES[row["q"]]] = row["value"]
        elif row["metric"] == "throughput":
            found["throughput"] = row["value"]
    return found


def _demands(told: Mapping[str, float]) -> dict[str, float | None]:
    """CPU time of all that was watched, which has another process id on each side; disks by name."""
    by_kind = {kind: [v for k, v in told.items() if k.startswith(f"{kind} ")] for kind in ("process", "cgroup")}
    cpu = told.get("processes") or sum(by_kind["process"]) or sum(by_kind["cgroup"])
    found: dict[str, float | None] = {"demand": cpu} if cpu else {}
    return found | {f"demand {name}": value for name, value in told.items() if name.startswith("disk ")}


def _alike(manifest: Manifest) -> dict[str, str]:
    """Of the load and the machine, what is neither its level nor whom it asks."""
    from sojourn.runs.run_series import conditions

    if "load" not in manifest:
        return {}
    return {
        name: value
        for name, value in conditions(manifest).items()
        if name.startswith(("load.", "machine.")) and ".targets[" not in name
    }
