"""How far a study is: its runs, the time that the rest takes, what was predicted and is not yet run. A study is only looked at:
nothing that its file names is imported or run."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl

from sojourn.errors import InputError, SojournError
from sojourn.files.reading import read_json
from sojourn.runs.run_folder import RunFolder
from sojourn.study.counted_values import CountedValues, asked_rows, is_misfit, judged_text, misses_first
from sojourn.study.evaluation import evaluated, is_prediction
from sojourn.units import USUAL_LEVEL

METRICS = {"response_time": "s", "throughput": "1/s", "saturation_rate": "1/s"}
MOST_RUNS, MOST_PREDICTIONS, MOST_LINES = 2000, 300, 20
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
    verdict = misses_first([_text(line) for line in _list(state.get("verdict"))])[:MOST_LINES]
    complete = [one for one in told if one["status"] == "complete"]
    live = not finished and _is_held(folder)
    left = max(planned - len(complete), 0) if planned else None
    return {
        "name": _name(state.get("plan")) or folder.name, "finished": finished, "live": live, "planned": planned,
        "complete": len(complete), "left_s": _left_s(complete, left) if left and live else None,
        "invalid": sum(one["valid"] is False for one in complete), "verdict": verdict, "misfits": sum(map(is_misfit, verdict)),
        "runs": told, **_predictions(folder, complete, inside),
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


def _predictions(folder: Path, complete: Sequence[Mapping[str, Any]], inside: Mapping[str, str]) -> dict[str, Any]:
    """What was predicted, as the study judges it: a row for each run and number, and for each number of a configuration that is not yet
    run; and the study's own count."""
    told = _table(folder / "predictions.json") if (folder / "predictions.json").is_file() else {}
    configurations = [_configuration(one) for one in _list(told.get("configurations"))[:MOST_PREDICTIONS]]
    wanted = [one for one in configurations if one is not None]
    runs = [RunFolder.glance(Path(inside[run["name"]])) for run in complete]
    factors = {run.path.name: run.manifest["factors"] for run in runs}
    rows = asked_rows(evaluated({"configurations": wanted}, runs), factors)
    level = _number(told.get("level")) or USUAL_LEVEL
    counted = CountedValues.of(rows)
    ran = [(run.manifest["section"], run.manifest["factors"]) for run in runs]
    later = [one for one in wanted if (one["section"], one["factors"]) not in ran]
    judged = [
        {"factors": factors[row["run"]], "metric": row["metric"], "value": row["predicted"], "low": row["low"], "high": row["high"],
         "unit": METRICS[row["metric"]], "measured": row["measured"], "valid": row["valid"], "inside": row["inside"],
         "judged": judged_text(row)}
        for row in rows.filter(pl.col("class") == "").iter_rows(named=True)
    ]  # fmt: skip
    return {
        "predictions": [*judged, *(row for one in later for row in _not_yet_run(one))], "configurations": len(wanted),
        "not_yet_run": len(later), "count": counted.to_dict(), "counted": counted.text(level),
    }  # fmt: skip


def _configuration(one: Any) -> dict[str, Any] | None:
    """As `evaluated` takes it; None for what is none."""
    if not isinstance(one, dict) or not isinstance(one.get("factors"), dict):
        return None
    rows = [
        {"station": "", "class": _text(row.get("class")), "metric": row["metric"], "status": _text(row.get("status")) or "ok",
         **{key: _number(row.get(key)) for key in ("value", "low", "high")}}
        for row in _list(one.get("rows"))
        if isinstance(row, dict) and row.get("metric") in METRICS and not row.get("station")
    ]  # fmt: skip
    return {"section": _text(one.get("section")), "factors": one["factors"], "rows": rows}


def _not_yet_run(one: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for row in one["rows"]:
        if not row["class"] and is_prediction(row, one["factors"]):
            yield {"factors": one["factors"], "metric": row["metric"], "value": row["value"], "low": row["low"], "high": row["high"],
                   "unit": METRICS[row["metric"]], "measured": None, "valid": None, "inside": None, "judged": "–"}  # fmt: skip


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
