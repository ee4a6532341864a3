"""A study file, checked against its system before anything is started: what is run, fitted, predicted and analysed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.cases import known, path_of
from sojourn.errors import InputError, StudyError
from sojourn.file_errors import meant
from sojourn.study.analysis import check_options, function
from sojourn.study.file_schema import StudyFile, StudySection
from sojourn.study.fit_templates import FitTemplate, fit_template, model_files
from sojourn.study.kinds import SYSTEMS
from sojourn.study.model_check import check_models
from sojourn.study.named_objects import named
from sojourn.study.run_order import spread
from sojourn.study.study_file import at, checked, fingerprint, read_data, study_file
from sojourn.study.study_points import SATURATION, drawn, section_points
from sojourn.study.system import Point, System
from sojourn.study.wanted_parts import CHOOSE, COMMAND_LINE, DRAW, FIT, PREDICT, known_parts, wanted_parts

PATH, STACK = "path", "stack"
TAKEN = (FIT, CHOOSE, PREDICT, DRAW, SATURATION)


@dataclass(frozen=True)
class CheckedStudy:
    """A checked study: its file, the system that it names, what is run first, and what is predicted before it is run.
    `parts`: names of sections, predictions, `fit`, `choose` and analyses that are wanted."""

    study: StudyFile
    fingerprint: str
    of_runs: str  # the same where runs are made alike
    system: System
    measured: list[Point]
    predicted: list[Point]
    seed: int
    folder: Path  # what paths of the file are relative to
    parts: tuple[str, ...]
    not_shown: tuple[str, ...] = ()  # what of the file cannot be run here, and why
    template: FitTemplate | None = None
    quick: bool = False

    @property
    def times(self) -> int:
        """Repetitions where a section says nothing."""
        return self.study.quick.repetitions if self.quick else self.study.repetitions

    @property
    def fitted_sections(self) -> tuple[str, ...]:
        assert self.study.fit is not None
        return self.study.fit.sections or tuple(part.name for part in self.study.section)

    def section(self, name: str) -> StudySection:
        return next(part for part in (*self.study.section, *self.study.predict) if part.name == name)

    def is_fitted(self, section: str, factors: Any) -> bool:
        """Whether a run takes part in the fit, or is held out."""
        fit = self.study.fit
        if fit is None or section not in self.fitted_sections:
            return False
        return not any(factors.get(name) in values for name, values in fit.hold_out.items())


def read_plan(
    path: Path, *, quick: bool = False, seed: int | None = None, only: Sequence[str] = (), draw: int | None = None,
    system_options: Mapping[str, Any] | None = None, paths: Sequence[str] = (), repetitions: int | None = None,
    stack: str | None = None,
) -> CheckedStudy:  # fmt: skip
    """Reads and checks the study in `path`; `only` names parts, `draw` says how many configurations `[draw]` adds,
    `system_options` take the place of those in `[system]`, `paths` that of the levels of the factor path, `repetitions` that of
    the study's, where a section has none of its own, and `stack` that of the option of this name in `[system]`.

    Raises:
        StudyError, InputError: with the key, the value and the remedy.
    """
    file = study_file(path)
    data = read_data(file, seed)
    if system_options is not None:
        data["system"] = {**data.get("system", {}), **system_options}
    _asked(data, paths, repetitions)
    if stack is not None:
        data["system"] = {**data.get("system", {}), STACK: stack}
    drawn_system = system_options is not None
    study: StudyFile = checked(StudyFile, _lengths(data, quick, drawn_system), file)
    made = named(
        str(study.system.get("kind")),
        known("system_classes", SYSTEMS),
        file.parent,
        "system.kind",
        at(file, ("system", "kind")),
    )
    if stack is not None and STACK not in made.options_type.model_fields:
        raise StudyError(
            stack, "--stack", f"leave it out: a system of kind {study.system.get('kind')} has no choice of software"
        )
    load = checked(made.load_type, study.load, file, "load.")
    options = checked(made.options_type, study.system, file, "system.")
    _consistent(study, file)
    wanted = wanted_parts(study, only, draw, quick)
    own_times = study.draw.repetitions if drawn_system and study.draw else None
    times = study.quick.repetitions if quick else own_times or study.repetitions
    try:
        system: System = made(options, load, file.parent)
        if study.topology_probe and not system.alone:
            raise StudyError("true", "topology_probe", "leave this out: the system is simulated")
        sections = [part for part in study.section if part.name in wanted]
        asked = [part for part in study.predict if part.name in wanted]
        measured, predicted = (
            [point for part in parts for point in section_points(part, system, times, quick)]
            for parts in (sections, asked)
        )
        if draw is not None and study.draw is not None and study.draw.vary:
            predicted += drawn(study.draw, draw, load.seed, system)
    except InputError as error:
        if type(error) not in (InputError, StudyError) or error.place == COMMAND_LINE:
            raise
        raise StudyError(error.value, f"{_place(error, study, file)}: {error.place}", error.remedy) from None
    measured, predicted, not_shown = _possible(measured, predicted, system, file)
    _blind(measured, predicted, file)
    template = fit_template(study.fit, file.parent, file) if study.fit else None
    for number, part in enumerate(study.analysis):
        function(part.name, file.parent, at(file, ("analysis", number, "name")))
        check_options(part.name, file.parent, part.options, system.factors)
    mark = fingerprint(
        study, f"{'quick' if quick else ''}{draw or ''}{_files(study, file.parent)}{_some(asked, study)}"
    )
    order = [spread(points, load.seed) for points in (measured, predicted)]
    alike = study.model_dump_json(include={"name", "system", "load", "topology_probe", "draw"})
    of_runs = hashlib.sha256(f"{alike}{'quick' if quick else ''}{draw or ''}{_class(study, file.parent)}".encode())
    plan = CheckedStudy(
        study,
        mark,
        of_runs.hexdigest()[:16],
        system,
        order[0],
        order[1],
        load.seed,
        file.parent,
        wanted,
        not_shown,
        template,
        quick,
    )
    if (files := model_files(template)) and FIT in wanted:
        fitted = [point for point in measured if plan.is_fitted(point.section, point.factors)]
        check_models(files, system, fitted, predicted)
    return plan


def _place(error: InputError, study: StudyFile, file: Path) -> str:
    """File and line of what an error of the system tells of: of a table, as in `[system] url`, or of a section, by its name."""
    words = re.findall(r"[A-Za-z_]\w*", f"{error.place} {error.value}")
    for table in ("section", "predict"):
        for number, part in enumerate(getattr(study, table)):
            if str(error.place).partition(":")[0] == part.name:
                return at(file, (table, number, *reversed(words)))
    return at(file, tuple(re.findall(r"[\w-]+", str(error.place))))


def _possible(
    measured: list[Point], predicted: list[Point], system: System, file: Path
) -> tuple[list[Point], list[Point], tuple[str, ...]]:
    """Without the points that this machine cannot run.

    Raises:
        StudyError: none is left.
    """
    reasons = {point.name: system.why_not(point.factors) for point in (*measured, *predicted)}
    lacking = [f"{p.section}: {reasons[p.name]}" for p in (*measured, *predicted) if reasons[p.name]]
    not_shown = tuple(dict.fromkeys([*system.not_shown, *lacking]))
    kept = [[point for point in points if not reasons[point.name]] for points in (measured, predicted)]
    if measured and not kept[0]:
        raise StudyError(f"nothing can be measured here: {not_shown[-1]}", str(file), "run it on another machine")
    return kept[0], kept[1], not_shown


def _files(study: StudyFile, folder: Path) -> str:
    """SHA-256 of what the file names and the runs or the fit depend on: model files, a class of the user's own; empty without."""
    model = study.fit.model if study.fit else ()
    return _contents([model] if isinstance(model, str) else model, folder) + _class(study, folder)


def _class(study: StudyFile, folder: Path) -> str:
    """Of what the runs alone depend on."""
    return _contents([str(study.system.get("kind")), str(study.system.get("model", ""))], folder)


def _contents(names: Iterable[str], folder: Path) -> str:
    paths = [
        folder / f"{name.partition('.py:')[0]}.py" if ".py:" in name else path_of(name, folder)
        for name in names
        if name
    ]
    found = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()]
    return "".join(found)


def _some(asked: list[StudySection], study: StudyFile) -> str:
    """Which predictions are wanted, where these are some and not all: they are written down together."""
    return ",".join(part.name for part in asked) if 0 < len(asked) < len(study.predict) else ""


def _lengths(data: dict[str, Any], quick: bool, drawn_system: bool) -> dict[str, Any]:
    """How long runs are, by `[quick]` or, of a drawn system, by `[draw]`."""
    own = data.get("quick") if quick else data.get("draw") if drawn_system else None
    if isinstance(own, dict):
        length = {"for": own["for"]} if own.get("for") is not None else {}
        load = own.get("load")
        data["load"] = {**data.get("load", {}), **length, **(load if isinstance(load, dict) else {})}
    return data


def _asked(data: dict[str, Any], paths: Sequence[str], repetitions: int | None) -> None:
    """What the command line says instead of the file.

    Raises:
        StudyError: no section goes through paths.
    """
    if repetitions is not None:
        data["repetitions"] = repetitions
        data["quick"] = {**data.get("quick", {}), "repetitions": repetitions}
    sections = [part for part in data.get("section", []) if isinstance(part, dict)]
    varied = [t["vary"] for part in sections for t in (part, part.get("quick", {})) if PATH in t.get("vary", {})]
    if paths and not varied:
        raise StudyError(
            ", ".join(paths), "--storage-paths", f"use a study with a section that varies {PATH}, or leave it out"
        )
    for levels in varied if paths else ():
        levels[PATH] = list(paths)


def _consistent(study: StudyFile, file: Path) -> None:
    names = [part.name for part in (*study.section, *study.predict)]
    if twice := {name for name in names if names.count(name) > 1}:
        raise StudyError(f"{sorted(twice)[0]!r} twice", str(file), "give each section and prediction a different name")
    if taken := set(names) & set(TAKEN):
        raise StudyError(f"a section named {sorted(taken)[0]!r}", str(file), "choose another name")
    if taken := set(study.studies) & set(known_parts(study)):
        raise StudyError(repr(sorted(taken)[0]), f"{file}: studies", "choose a name that no part of this study uses")
    for key in (PREDICT, CHOOSE):
        if getattr(study, key) and study.fit is None:
            raise StudyError(f"[[{key}]] without [fit]", str(file), 'add [fit] model = "FILE.toml", or "auto"')
    for name in study.fit.sections if study.fit else ():
        if name not in [part.name for part in study.section]:
            remedy = meant(name, [part.name for part in study.section])
            raise StudyError(f"fit.sections: {name!r}", at(file, ("fit", "sections")), remedy)


def _blind(measured: list[Point], predicted: list[Point], file: Path) -> None:
    run = [dict(point.factors) for point in measured]
    for point in predicted:
        if dict(point.factors) in run:
            remedy = "predict points that no section runs"
            raise StudyError(
                f"{point.section}: {dict(point.factors)} is measured before it is predicted", str(file), remedy
            )
