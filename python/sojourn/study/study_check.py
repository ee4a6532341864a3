"""`sojourn study --check-only`: the file, its system and its models judged as before a run, and what would be run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sojourn.model import Model
from sojourn.model.unknown_parameters import unknowns
from sojourn.study.checked_study import CheckedStudy, read_plan
from sojourn.study.fit_templates import model_files
from sojourn.study.study_points import SHARE
from sojourn.study.study_run import other_files
from sojourn.study.system import Point
from sojourn.units import seconds as duration


def check_study(path: Path, only: tuple[str, ...] = (), **options: Any) -> list[str]:
    """Lines of what would be done, by the options of `run_study`; nothing is started, and nothing is written.

    Raises:
        StudyError, InputError, ModelError: what the study itself would raise before its first run.
    """
    further = (
        other_files(
            path, options.get("quick", False), options.get("seed"), only, options.get("draw"), options.get("stack")
        )
        if only
        else {}
    )
    plan = read_plan(path, only=tuple(name for name in only if name not in further), **options)
    lines = [f"{path}: no error found", *_lines(plan)]
    return lines + [f"{file}: no error found" for file in further.values()]


def _lines(plan: CheckedStudy) -> Iterator[str]:
    for word, points in (("measured", plan.measured), ("predicted, then run", plan.predicted)):
        for section, own in _by_section(points).items():
            yield f"{section}: {_count(len(own), 'run')} {word}"
    shares = {p.section for p in (*plan.measured, *plan.predicted) if SHARE in p.factors}
    if shares:
        yield f"and closed loops that find where {', '.join(sorted(shares))} saturates"
    seconds = getattr(getattr(plan.system, "load", None), "duration_s", None)
    if plan.system.alone and isinstance(seconds, int | float):
        whole = seconds * (len(plan.measured) + len(plan.predicted))
        told = f"{whole / 60:.0f} min" if whole >= 120 else duration(whole)
        yield f"load on the system: {told} in total, without starting and warming up"
    for file in model_files(plan.template):
        free = list(unknowns(Model.read(file)))
        named = f" ({', '.join(free)})" if free else ""
        yield f"{file}: {_count(len(free), 'unknown')}{named}, solved at all of these points"
    yield from (f"not shown here: {reason}" for reason in plan.not_shown)


def _by_section(points: list[Point]) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    for point in points:
        found.setdefault(point.section, []).append(point)
    return found


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
