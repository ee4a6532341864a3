"""Predictions, written and hashed before their runs start, and read back from what was written.

`predictions.json` has them, `fitted.toml` the best model and `fitted-NAME.toml` its rivals; `predictions.sha256` the SHA-256 of
each as `sha256sum -c` takes it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from sojourn.errors import StudyError
from sojourn.files.reading import read_json
from sojourn.files.writing import write_whole
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.runs.run_folder import clock_times
from sojourn.study.checked_study import CheckedStudy
from sojourn.study.fit_templates import FittedProtocol, FitTemplate, RivalModels
from sojourn.study.model_check import changes_something
from sojourn.study.study_folder import PREDICTIONS as FILE
from sojourn.study.study_points import SHARE, at_rate
from sojourn.study.system import Point

SUM, FITTED = "predictions.sha256", "fitted.toml"
NO_WIDTH = 1e-6  # of an interval, relative
KEPT = ("station", "class", "metric", "value", "low", "high", "status", "in_validated_range")
Prediction: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, Any]


def written(folder: Path) -> Prediction | None:
    """What was predicted, None where nothing was yet.

    Raises:
        StudyError: a file is no longer what was written.
    """
    file = folder / FILE
    if not file.exists():
        return None
    lines = (folder / SUM).read_text().splitlines() if (folder / SUM).exists() else []
    sums = {name: number for number, name in (line.split() for line in lines)}
    found: Prediction = read_json(file, "run the study with another --out folder", error=StudyError)
    for name in (FILE, *found.get("files", {FITTED: FITTED}).values()):
        if sums.get(name) != _sum(folder / name):
            raise StudyError(
                f"{name} is not what was written before the runs",
                str(folder),
                "run the study with another --out folder",
            )
    return found


def read_rivals(folder: Path, found: Prediction, template: FitTemplate) -> RivalModels:
    """The models that were written with it."""
    fitted = {name: template.read(folder / file) for name, file in found["files"].items()}
    return RivalModels(fitted, found["best"], found["why"], tuple(found.get("notes", ())))


def write(folder: Path, rivals: RivalModels, plan: CheckedStudy) -> Prediction:
    """Predicts every configuration of `[[predict]]` by every rival, and writes it with the fitted models.

    Raises:
        StudyError: one of them has been run already.
    """
    assert plan.study.fit is not None
    level = plan.study.fit.level
    points = [_at_rate(point, rivals.first, level) for point in _once(plan)]
    runs = folder / "runs"
    for point in points:
        if (runs / point.name).exists():
            raise StudyError(f"{point.name} was run before it was predicted", str(folder), "use another --out")
    each = [
        {
            "section": p.section,
            "factors": dict(p.factors),
            "rows": predicted_rows(rivals.first, p, level),
            "rivals": {n: predicted_rows(f, p, level) for n, f in rivals.fitted.items() if n != rivals.best},
        }
        for p in points
    ]
    files = _files(rivals)
    for name, file in files.items():
        rivals.fitted[name].write(folder / file)
    found = {
        "written": clock_times()["wall"], "level": level, "best": rivals.best, "why": rivals.why, "notes": list(rivals.notes),
        "files": files, "configurations": each,
    }  # fmt: skip
    write_whole(folder / FILE, json.dumps(found, indent=1, allow_nan=False) + "\n")
    write_whole(folder / SUM, "".join(f"{_sum(folder / name)}  {name}\n" for name in (FILE, *files.values())))
    return found


def predicted_points(found: Prediction, plan: CheckedStudy) -> list[Point]:
    """The runs of `[[predict]]`, in the order of the plan, with the rates that were written for their shares."""
    rates = [Point(one["section"], one["factors"]) for one in found["configurations"]]
    return [_written(point, rates, index) for point, index in _numbered(plan)]


def _written(point: Point, written_points: list[Point], index: int) -> Point:
    return Point(point.section, written_points[index].factors, point.repetition)


def _numbered(plan: CheckedStudy) -> Iterable[tuple[Point, int]]:
    once = [(p.section, dict(p.factors)) for p in _once(plan)]
    return [(point, once.index((point.section, dict(point.factors)))) for point in plan.predicted]


def predicted_rows(fitted: FittedProtocol, point: Point, level: float) -> list[Row]:
    """What is predicted for a new run of a point: by station, class and metric a value, low and high, and a status.

    Raises:
        StudyError: a factor has a value that no run had, and changes nothing in the model.
    """
    _works(fitted, point)
    frame = fitted.predict(dict(point.factors), level).frame
    rows = ({key: row.get(key) for key in KEPT} for row in frame.iter_rows(named=True) if row.get("q") is None)
    return [_honest(row) for row in rows]


def _honest(row: Row) -> Row:
    """Without an interval that has no width: nothing told the spread."""
    if row["low"] is None or is_interval(row["low"], row["high"]):
        return row
    return row | {"low": None, "high": None, "status": "no_interval" if row["status"] == "ok" else row["status"]}


def is_interval(low: float | None, high: float | None) -> bool:
    """Whether it is more than a point."""
    return low is not None and (high is None or high - low > NO_WIDTH * abs(high))


def _works(fitted: FittedProtocol, point: Point) -> None:
    if isinstance(fitted, FittedModelData):  # a template knows its factors by itself
        own = fitted.at(point.factors)
        changes_something([model.model for _, model in own.weighted], own.configurations, point)


def saturation_rate(fitted: FittedProtocol, factors: Mapping[str, Any], level: float) -> float | None:
    """The predicted saturation rate of a configuration, 1/s."""
    known = {name: value for name, value in factors.items() if name != SHARE}
    rows = fitted.predict({**known, "rate_per_s": 1.0}, level).frame.iter_rows(named=True)
    return next((row["value"] for row in rows if row["metric"] == "saturation_rate"), None)


def _at_rate(point: Point, fitted: FittedProtocol, level: float) -> Point:
    if SHARE not in point.factors:
        return point
    rate = saturation_rate(fitted, point.factors, level)
    if rate is None:
        raise StudyError(
            f"{point.section}: the model has no saturation rate", "[[predict]]", "give rate_per_s instead of share"
        )
    return at_rate(point, rate)


def _once(plan: CheckedStudy) -> list[Point]:
    """Each configuration in the order of the file."""
    order = [part.name for part in plan.study.predict]
    first = [point for point in plan.predicted if point.repetition == 1]
    place = {name: k for k, name in enumerate(order)}
    return sorted(
        first, key=lambda p: (place.get(p.section, len(order)), [str(v).rjust(24) for v in p.factors.values()])
    )


def _files(rivals: RivalModels) -> dict[str, str]:
    """A file for each: names that become the same on disk are numbered."""
    files = {rivals.best: FITTED}
    for name in (name for name in rivals.fitted if name != rivals.best):
        stem = "fitted-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        names = (stem + ".toml" if k == 1 else f"{stem}-{k}.toml" for k in count(1))
        files[name] = next(file for file in names if file not in files.values())
    return {name: files[name] for name in rivals.fitted}


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
