"""What is fitted: model files with unknowns, `auto`, or a template by name; always one or more rivals, judged on the same points.

A template inherits `FitTemplate`; cases bring theirs by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from sojourn.cases import known, path_of
from sojourn.errors import InputError, ModelError, StudyError
from sojourn.file_errors import meant
from sojourn.fit.fit_runs import measured_value, observe_run, observe_runs
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_fit import fit
from sojourn.fit.model_selection import AUTO, choose_model
from sojourn.fit.parameter_estimate import ParameterEstimate
from sojourn.fit.rival_models import AVERAGED, by_runs, fit_rivals, read_rivals, rival_names
from sojourn.model import Model
from sojourn.model.parameters import ParameterFromRuns
from sojourn.runs.run_folder import RunFolder
from sojourn.study.file_schema import FitSection
from sojourn.study.named_objects import named
from sojourn.study.study_file import at
from sojourn.study.study_points import SATURATION
from sojourn.table import Metrics

FILES = "model files"  # of different runs, together


class FittedProtocol(Protocol):
    """A model with the values found. `estimates` at `level`; `model_error`: relative, of what `error_of` says, None where unknown;
    `message`: what a reader must know of it. `sojourn.fit.fitted_defaults` has what most say of `error_of` and `knows`."""

    error_of: ClassVar[str]

    @property
    def estimates(self) -> Mapping[str, ParameterEstimate]: ...
    @property
    def level(self) -> float: ...
    @property
    def model_error(self) -> float | None: ...
    @property
    def message(self) -> str: ...

    def predict(self, vary: Mapping[str, Any], level: float) -> Metrics:
        """For a new run with these factors: rows with station, class, metric, value, low, high, status; a value that is None and
        a status `unstable` where it saturates. Without low and high where no interval is known."""
        ...

    def knows(self, factors: Mapping[str, Any]) -> bool:
        """Whether a run of another section can be predicted."""
        ...

    def write(self, path: Path) -> None: ...


@dataclass(frozen=True)
class RivalModels:
    """Models of the same runs by name; `best`: the one that the verdict quotes, and `why`."""

    fitted: Mapping[str, FittedProtocol]
    best: str
    why: str = ""
    notes: tuple[str, ...] = ()

    @property
    def first(self) -> FittedProtocol:
        """The best."""
        return self.fitted[self.best]


def parts_of(name: str, fitted: FittedProtocol) -> dict[str, FittedProtocol]:
    """The models of different runs that a fit is made of, by name; else itself."""
    others = getattr(fitted, "models_of_other_runs", ())
    return {one.model.name: one for one in (fitted, *others)} if others else {name: fitted}


class FitTemplate(Protocol):
    """Makes rivals of runs; to be inherited."""

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        """Raises FitError where the runs do not carry it, InputError for an option."""
        ...

    def read(self, path: Path) -> FittedProtocol:
        """From `write`."""
        ...

    def conditions(self, folder: RunFolder) -> Mapping[str, float]:
        """What its models take beside the factors of a run, such as how fast the cores were; by name, to be put among the factors of
        `predict`."""
        return {}

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raises StudyError for an option that can be told to be wrong before the first run."""
        return

    def takes_saturation(self, options: Mapping[str, Any]) -> bool:
        """Whether closed loops that told the saturation rate of runs which are fitted are given to `fit`, too."""
        return False

    def used_anyway(self, runs: list[RunFolder]) -> tuple[str, ...]:
        """Of the runs of a fit the names of those that are not valid and that it uses."""
        return ()


@dataclass(frozen=True)
class ModelFilesTemplate(FitTemplate):
    """Model files with unknowns, and `auto`, by name. Several are averaged where the runs cannot tell them apart: the average is then
    the best, and each of them a rival."""

    names: tuple[str, ...]
    folder: Path

    @property
    def paths(self) -> list[Path]:
        """Of the files."""
        return [self.folder / name for name in self.names if name != AUTO]

    def check_options(self, options: Mapping[str, Any]) -> None:
        if options:
            raise StudyError(f"fit.options: {next(iter(options))}", "[fit]", "leave it out: a model file has none")

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        self.check_options(options)
        seen, models = observe_runs(runs), read_rivals(self.names, self.folder)
        if len(models) == 1:
            ((name, model),) = models.items()
            if isinstance(model, Model):
                return RivalModels({name: fit(seen, model, seed=seed)}, name)
            chosen = choose_model(seen, seed=seed)
            return RivalModels({name: chosen.best}, name, chosen.why)
        chosen = fit_rivals(seen, models, seed=seed)
        if chosen.best == chosen.fits.get(chosen.name):
            return RivalModels(chosen.fits, chosen.name, chosen.why)
        if chosen.best.models_of_other_runs:
            return RivalModels({FILES: chosen.best}, FILES, chosen.why)
        return RivalModels({AVERAGED: chosen.best, **chosen.fits}, AVERAGED, chosen.why)

    def read(self, path: Path) -> FittedModel:
        return FittedModel.read(path)

    def used_anyway(self, runs: list[RunFolder]) -> tuple[str, ...]:
        return observe_runs(runs).not_valid

    def conditions(self, folder: RunFolder) -> Mapping[str, float]:
        """Parameters that each run has for itself, as this one measured them."""
        run = observe_run(folder)
        found: dict[str, float] = {}
        for model in (Model.read(path) for path in self.paths):
            for name, given in model.parameters.items() if model.is_of(run.factors) else ():
                if isinstance(given, ParameterFromRuns) and given.one_value_per_run:
                    value = measured_value(run, given)
                    found |= {} if value is None else {name: value}
        return found


@dataclass(frozen=True)
class ComparedTemplate(FitTemplate):
    """The models of `own`, and those of `other` beside them."""

    own: FitTemplate
    other: FitTemplate

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        found = self.own.fit(runs, seed, options)
        beside = self.other.fit([run for run in runs if run.manifest.get("section") != SATURATION], seed, {})
        return replace(found, fitted={**beside.fitted, **found.fitted})

    def read(self, path: Path) -> FittedProtocol:
        try:
            return self.own.read(path)
        except InputError:
            return self.other.read(path)

    def conditions(self, folder: RunFolder) -> Mapping[str, float]:
        return {**self.other.conditions(folder), **self.own.conditions(folder)}

    def takes_saturation(self, options: Mapping[str, Any]) -> bool:
        return self.own.takes_saturation(options)

    def used_anyway(self, runs: list[RunFolder]) -> tuple[str, ...]:
        return self.own.used_anyway(runs)


def fit_template(part: FitSection, folder: Path, file: Path) -> FitTemplate:
    """What `[fit]` names.

    Raises:
        StudyError: no such file, no such template.
    """
    own = template_of(part.model, folder, file)
    own.check_options(part.options)
    return ComparedTemplate(own, template_of(part.against, folder, file)) if part.against else own


def model_files(template: FitTemplate | None) -> list[Path]:
    """The model files that it fits."""
    if isinstance(template, ComparedTemplate):
        return model_files(template.own) + model_files(template.other)
    return template.paths if isinstance(template, ModelFilesTemplate) else []


def template_of(model: str | tuple[str, ...], folder: Path, file: Path) -> FitTemplate:
    """What `[fit] model` names.

    Raises:
        StudyError: no such file, no such template.
    """
    names = (model,) if isinstance(model, str) else model
    templates = known("fit_templates", {})
    if isinstance(model, str) and (model in templates or ".py:" in model):
        template: FitTemplate = named(model, templates, folder, "fit.model", at(file, ("fit", "model")))
        return template
    for name in names:
        if name != AUTO and not path_of(name, folder).is_file():
            there = [*(path.name for path in sorted(folder.glob("*.toml")) if path != file), AUTO, *templates]
            raise StudyError(
                f"fit.model = {name!r}: no such file",
                at(file, ("fit", "model")),
                f"give a model file: {meant(name, there)}",
            )
    names = tuple(str(path_of(name, folder)) if ":" in name else name for name in names)
    try:
        rival_names(names)
        by_runs(read_rivals(names, folder))  # what is wrong with one is told before anything is run
    except ModelError:
        raise
    except InputError as error:
        raise StudyError(f"fit.model: {error.value}", at(file, ("fit", "model")), error.remedy) from None
    return ModelFilesTemplate(names, folder)
