"""Model files of `[fit]`, before any run is made: a resource that the system does not have, a factor that changes nothing, a
configuration that no method answers, unknowns that no planned run tells. A run costs minutes; each of these would be told only after
all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn.errors import FitError, InputError, StudyError
from sojourn.file_errors import meant
from sojourn.fit.meter_errors import INTERRUPTS
from sojourn.fit.model_evaluation import ModelEvaluator
from sojourn.fit.planned_runs import check_planned
from sojourn.model import Model
from sojourn.model.parameters import NumberByFactor
from sojourn.study.study_file import at
from sojourn.study.study_points import SHARE
from sojourn.study.system import Point, System

USUAL = {"rate_per_s", "users", "think_s"}  # of the only open or closed class, also where the model does not say so
Factors = Mapping[str, Any]


def check_models(files: Iterable[Path], system: System, fitted: Sequence[Point], predicted: Sequence[Point]) -> None:
    """Every model file against the runs that are fitted and the predictions that are planned.

    Raises:
        StudyError: with the model file, the section and the remedy.
    """
    known = _resources(system)
    for file in files:
        model = Model.read(file)
        if known is not None:
            _observed(model, known, file)
        known_runs, wanted = ([p for p in points if model.is_of(p.factors)] for points in (fitted, predicted))
        seen = [point.factors for point in known_runs]
        for point in wanted:
            changes_something([model], seen, point, f"{file}: ")
        _answered(model, known_runs, "section", file)
        _answered(model, wanted, "predict", file)
        _told(model, known_runs, file)


def _resources(system: System) -> Collection[str] | None:
    """None where a user's class knows them only in a run."""
    try:
        return tuple(system.resources)
    except Exception:
        return None


def _observed(model: Model, known: Collection[str], file: Path) -> None:
    for station, given in model.observed.items():
        for name in (given,) if isinstance(given, str) else given:
            if name.removesuffix(INTERRUPTS) not in known:
                place = f"{at(file, ('observed', station))}: observed.{station}"
                remedy = f"{meant(name, known)}: the left side names a station of the model, the right side a resource of the system"
                raise StudyError(f"the system has no resource {name!r}", place, remedy)


def changes_something(models: Sequence[Model], seen: Collection[Factors], point: Point, where: str = "") -> None:
    """StudyError where a factor of a prediction has a value that no run has, and no model says what it changes."""
    models = [model for model in models if model.is_of(point.factors)]
    own = [v.factor if isinstance(v, NumberByFactor) else name for m in models for name, v in m.parameters.items()]
    known = USUAL.union({SHARE}, own, *(model.factors for model in models))
    for name, value in point.factors.items():
        if name not in known and "." not in name and repr(value) not in {repr(one.get(name)) for one in seen}:
            remedy = f'add what it changes under [factors] of the model file: {name} = "stations.…"'
            raise StudyError(
                f"{name} = {value!r} changes nothing in the model", f"{where}[[predict]] {point.section}", remedy
            )


def _answered(model: Model, points: Sequence[Point], table: str, file: Path) -> None:
    """A method answers the model in each section, and one method all of them together."""
    sections = {point.section: [one for one in points if one.section == point.section] for point in points}
    for name, own in ({**sections, "": points} if points else {}).items():
        where = f"[[{table}]] {name}" if name else f"all [[{table}]] together"
        try:
            ModelEvaluator(model, [_without_share(point.factors) for point in own])
        except InputError as error:
            value = f"{error.place}: {error.value}"
            raise StudyError(value, f"{file}, with the factors of {where}", error.remedy) from None


def _told(model: Model, points: Sequence[Point], file: Path) -> None:
    """The runs can tell the unknowns of the model, at the loads that are known before."""
    if any(SHARE in point.factors for point in points):
        return
    try:
        check_planned(model, [_without_share(point.factors) for point in points])
    except FitError as error:
        raise StudyError(
            error.value, f"{file}, with the factors of all [[section]] that are fitted", error.remedy
        ) from None


def _without_share(factors: Factors) -> Factors:
    """The rate of a share is known later; that of the model stands for it. Paths of the model are not factors of the runs."""
    return {name: value for name, value in factors.items() if name != SHARE and "." not in name}
