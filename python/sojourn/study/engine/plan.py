"""What the file of a study of any system says, checked against that system before anything is started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_serializer, field_validator

from sojourn.errors import InputError, StudyError
from sojourn.study.engine.hidden import without_credentials
from sojourn.study.file import checked, fingerprint, read_data, study_file
from sojourn.study.points import spread
from sojourn.system import SYSTEMS, Point, System
from sojourn.units import levels

AUTO = "auto"


class Section(BaseModel):
    """`[[section]]` and `[[predict]]`: factors that are `set`, and those that go through all combinations."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern="^[A-Za-z0-9][A-Za-z0-9 _.-]{0,39}$")
    fixed: dict[str, Any] = Field(default_factory=dict, alias="set")
    vary: dict[str, list[Any]] = Field(default_factory=dict)
    repetitions: int | None = Field(default=None, ge=1, le=50)

    @field_validator("vary", mode="before")
    @classmethod
    def _ranges(cls, given: Any) -> Any:
        """`"50..350:50"` is a list, too."""
        if not isinstance(given, Mapping):
            return given
        return {name: levels(v, f"vary.{name}") if isinstance(v, str) else v for name, v in given.items()}


class FitSection(BaseModel):
    """`[fit]`: a model file with unknowns, or `auto`; from which sections; at which level predictions are."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    sections: tuple[str, ...] = ()
    level: float = Field(default=0.90, gt=0, lt=1)
    seed: int = Field(default=1, ge=0)


class Quick(BaseModel):
    """`[quick]`: what `--quick` changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    duration_s: str | float | None = Field(default=None, alias="for")
    repetitions: int = Field(default=1, ge=1, le=50)


class Study(BaseModel):
    """The file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern="^[a-z0-9][a-z0-9-]{0,40}$")
    title: str = ""
    repetitions: int = Field(default=1, ge=1, le=50)
    system: dict[str, Any]
    load: dict[str, Any] = Field(default_factory=dict)
    section: list[Section] = Field(min_length=1)
    fit: FitSection | None = None
    predict: list[Section] = Field(default_factory=list)
    quick: Quick = Field(default_factory=Quick)

    @field_serializer("system", "load")
    def _without_credentials(self, table: dict[str, Any]) -> dict[str, Any]:
        return without_credentials(table)


@dataclass(frozen=True)
class Plan:
    """A checked study: its file, the system that it names, what is run first, and what is predicted before it is run."""

    study: Study
    fingerprint: str
    system: System
    measured: list[Point]
    predicted: list[Point]
    seed: int
    folder: Path  # what paths of the file are relative to

    @property
    def fitted_sections(self) -> tuple[str, ...]:
        assert self.study.fit is not None
        return self.study.fit.sections or tuple(part.name for part in self.study.section)


def read_plan(path: Path, *, quick: bool = False, seed: int | None = None) -> Plan:
    """Reads and checks the study in `path`.

    Raises:
        StudyError, InputError: with the key, the value and the remedy.
    """
    file = study_file(path)
    study: Study = checked(Study, _quicker(read_data(file, seed), quick), file)
    kind = study.system.get("kind")
    if kind not in SYSTEMS:
        raise StudyError(f"system.kind = {kind!r}", str(file), f"use one of {', '.join(SYSTEMS)}")
    made = SYSTEMS[kind]
    load = checked(made.load_type, study.load, file, "load.")
    options = checked(made.options_type, study.system, file, "system.")
    _consistent(study, file)
    times = 1 if quick else study.repetitions
    try:
        system = made(options, load, file.parent)
        measured, predicted = (
            [point for part in parts for point in _points(part, system, times, quick)]
            for parts in (study.section, study.predict)
        )
    except InputError as error:
        if type(error) is not InputError:
            raise
        raise StudyError(error.value, f"{file}: {error.place}", error.remedy) from None
    _blind(measured, predicted, file)
    mark = fingerprint(study, "quick" if quick else "")
    order = [spread(points, load.seed) for points in (measured, predicted)]
    return Plan(study, mark, system, order[0], order[1], load.seed, file.parent)


def _quicker(data: dict[str, Any], quick: bool) -> dict[str, Any]:
    less = data.get("quick", {}).get("for") if isinstance(data.get("quick"), dict) else None
    if quick and less is not None:
        data["load"] = {**data.get("load", {}), "for": less}
    return data


def _points(part: Section, system: System, times: int, quick: bool) -> Iterable[Point]:
    place = f"{part.name}: set, vary"
    if both := part.fixed.keys() & part.vary.keys():
        raise StudyError(f"{sorted(both)[0]} in both", place, "give it in one of them")
    for values in product(*part.vary.values()):
        factors = system.settled({**part.fixed, **dict(zip(part.vary, values, strict=True))}, place)
        repetitions = times if quick or part.repetitions is None else part.repetitions
        yield from (Point(part.name, factors, k) for k in range(1, repetitions + 1))


def _consistent(study: Study, file: Path) -> None:
    names = [part.name for part in (*study.section, *study.predict)]
    if twice := {name for name in names if names.count(name) > 1}:
        raise StudyError(f"{sorted(twice)[0]!r} twice", str(file), "give each section and prediction a name of its own")
    if study.predict and study.fit is None:
        raise StudyError("[[predict]] without [fit]", str(file), 'add [fit] model = "FILE.toml", or "auto"')
    for name in study.fit.sections if study.fit else ():
        if name not in [part.name for part in study.section]:
            raise StudyError(f"fit.sections: {name!r}", str(file), "use names of [[section]]")
    if study.fit and study.fit.model != AUTO and not (file.parent / study.fit.model).is_file():
        raise StudyError(f"fit.model = {study.fit.model!r}: no such file", str(file), 'give a model file, or "auto"')


def _blind(measured: list[Point], predicted: list[Point], file: Path) -> None:
    known = [dict(point.factors) for point in measured]
    for point in predicted:
        if dict(point.factors) in known:
            remedy = "predict what no section runs"
            raise StudyError(
                f"{point.section}: {dict(point.factors)} is measured before it is predicted", str(file), remedy
            )
