"""How far a study is: its runs, the time that the rest takes, what was predicted and is not yet run. A study is only looked at:
nothing that its file names is imported or run."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from sojourn.errors import InputError, SojournError
from sojourn.files.reading import read_json
from sojourn.runs.run_folder import RunFolder
from sojourn.ui.run_answers import rows

METRICS = ("response_time", "throughput")
MOST_RUNS, MOST_PREDICTIONS = 2000, 300
LAST_GAPS, INTERRUPTED_S = 3, 600.0  # between runs, that count for the time left; from where on nobody was at the study
REMEDY = "give the folder of a study"


def progress(path: str, inside: Mapping[str, str]) -> dict[str, Any]:
    """`inside`: run of the study → its path, each checked to lie in the folder. `live`: whether a process is at it."""
    folder = Path(path)
    state = _table(folder / "study.json")
    runs = [_run(name, Path(where)) for name, where in list(inside.items())[:MOST_RUNS]]
    told = [one for one in runs if one is not None]
    planned = state.get("planned")
    planned = int(planned) if isinstance(planned, int) and 0 < planned < 1_000_000 else None
    finished = state.get("finished") is True
    complete = [one for one in told if one["status"] == "complete"]
    live = not finished and _is_held(folder)
    left = max(planned - len(complete), 0) if planned else None
    return {
        "name": _name(state.get("plan")) or folder.name, "finished": finished, "live": live, "planned": planned,
        "complete": len(complete), "left_s": _left_s(complete, left) if left and live else None,
        "invalid": sum(one["valid"] is False for one in complete), "verdict": [_text(line) for line in _list(state.get("verdict"))][:20],
        "runs": told, "predictions": _predictions(folder, complete, inside),
    }  # fmt: skip


def _left_s(complete: Sequence[Mapping[str, Any]], runs: int) -> float | None:
    """`runs` times the mean of a run and of what lay between the last ones (services that start, waits for a quiet machine, fits)."""
    times = sorted(one["times_s"] for one in complete if one["times_s"] is not None)
    if not times:
        return None
    gaps = [later[0] - earlier[1] for earlier, later in pairwise(times)]
    between = [gap for gap in gaps if 0 <= gap < INTERRUPTED_S][-LAST_GAPS:]
    return runs * (fmean(end - start for start, end in times) + (fmean(between) if between else 0.0))


def _is_held(folder: Path) -> bool:
    """Whether a study is running in it: it holds a lock on its folder."""
    try:
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(file)


def _run(name: str, path: Path) -> dict[str, Any] | None:
    try:
        manifest = RunFolder.glance(path).manifest
    except SojournError:
        return None
    start, end = ((one or {}).get("monotonic_s") for one in (manifest.get("start"), manifest.get("end")))
    known = start is not None and end is not None and end >= start
    return {
        "name": name, "status": manifest.get("status", ""), "valid": manifest.get("valid"), "section": manifest.get("section", ""),
        "factors": manifest.get("factors", {}), "times_s": (start, end) if known else None, "reasons": manifest.get("reasons", [])[:3],
    }  # fmt: skip


def _predictions(
    folder: Path, complete: Sequence[Mapping[str, Any]], inside: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Each predicted configuration: its numbers with intervals, and the mean of what its runs measured, None where it is not yet run."""
    if not (folder / "predictions.json").is_file():
        return []
    found = []
    for one in _list(_table(folder / "predictions.json").get("configurations"))[:MOST_PREDICTIONS]:
        if not isinstance(one, dict):
            continue
        factors = one.get("factors") if isinstance(one.get("factors"), dict) else {}
        measured = [
            run["name"] for run in complete if (run["section"], run["factors"]) == (one.get("section"), factors)
        ]
        told = rows({name: inside[name] for name in measured}, [])["rows"]
        keys = {"response_time": "response_s", "throughput": "throughput_per_s"}
        numbers = []
        for row in _list(one.get("rows")):
            if (
                isinstance(row, dict)
                and row.get("metric") in METRICS
                and not row.get("station")
                and not row.get("class")
            ):
                own = [run[keys[row["metric"]]] for run in told if run.get(keys[row["metric"]]) is not None]
                numbers.append(
                    {"metric": row["metric"], **{k: _number(row.get(k)) for k in ("value", "low", "high")},
                     "unit": "s" if row["metric"] == "response_time" else "1/s", "measured": fmean(own) if own else None}
                )  # fmt: skip
        found.append(
            {"section": _text(one.get("section")), "factors": factors, "runs": len(measured), "numbers": numbers}
        )
    return found


def _table(file: Path) -> dict[str, Any]:
    found = read_json(file, REMEDY)
    if not isinstance(found, dict):
        raise InputError("no table", file.name, REMEDY)
    return found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def looked(path: str, inside: Mapping[str, str]) -> dict[str, Any]:
    """An error of ours as a last word, for events."""
    try:
        return progress(path, inside)
    except (SojournError, OSError, json.JSONDecodeError) as error:
        return {"live": False, "error": {"value": str(error), "place": "", "remedy": REMEDY, "line": None}}


def _name(plan: Any) -> str:
    return _text(plan.get("name")) if isinstance(plan, dict) else ""
