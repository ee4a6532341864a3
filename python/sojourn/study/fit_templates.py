"""What is fitted: model files with unknowns, `auto`, or a template by name; always one or more rivals, judged on the same points.

A template is any object with `fit` and `read`. TEMPLATES has those that come with us, name → "module:object".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sojourn.errors import StudyError
from sojourn.file_errors import meant
from sojourn.fit.fit_runs import observe_runs
from sojourn.fit.fitted import ParameterEstimate
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_fit import fit_model
from sojourn.fit.model_selection import choose_model
from sojourn.model import Model
from sojourn.runs.run_folder import RunFolder
from sojourn.study.named_objects import named
from sojourn.study.study_file import at
from sojourn.table import Metrics

AUTO = "auto"
TEMPLATES: dict[str, str] = {
    "kv": "sojourn.study.kv.template:TEMPLATE",
    "messages": "sojourn.study.messages.template",
    "ntier": "sojourn.study.ntier.template",
    "two-class": "sojourn.study.web.two_class:TEMPLATE",
}


class FittedProtocol(Protocol):
    """A model with the values found. `estimates` at `level`; `model_error`: relative, from configurations left out, None where unknown;
    `message`: what a reader must know of it. One may have `knows(factors)` too: whether a run of another section can be predicted."""

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


class FitTemplate(Protocol):
    """Makes rivals of runs. One may have `conditions(folder)` too: what its models take beside the factors of a run, such as how fast
    the cores were; by name, to be put among the factors of `predict`."""

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        """Raises FitError where the runs do not carry it, InputError for an option."""
        ...

    def read(self, path: Path) -> FittedProtocol:
        """From `write`."""
        ...


def conditions_of(template: FitTemplate, folder: RunFolder) -> Mapping[str, float]:
    """See `FitTemplate`; nothing where it has no such method."""
    found: Mapping[str, float] = getattr(template, "conditions", lambda _: {})(folder)
    return found


@dataclass(frozen=True)
class ModelFilesTemplate:
    """Model files with unknowns; of several the one with the least error on configurations left out is the best."""

    paths: tuple[Path, ...]

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        _no_options(options)
        seen = observe_runs(runs)
        found = {path.stem: fit_model(seen, Model.read(path), seed=seed) for path in self.paths}
        errors = {name: one.model_error for name, one in found.items()}
        known = {name: error for name, error in errors.items() if error is not None}
        best = min(known, key=lambda name: known[name], default=next(iter(found)))
        why = "least error on configurations left out" if known else f"{best} is the first: no error of them is known"
        return RivalModels(found, best, why if len(found) > 1 else "")

    def read(self, path: Path) -> FittedModel:
        return FittedModel.read(path)


class AutoTemplate:
    """The candidates that the resources of the runs suggest."""

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        _no_options(options)
        chosen = choose_model(observe_runs(runs), seed=seed)
        return RivalModels({AUTO: chosen.best}, AUTO, chosen.why)

    def read(self, path: Path) -> FittedModel:
        return FittedModel.read(path)


def _no_options(options: Mapping[str, Any]) -> None:
    if options:
        raise StudyError(f"fit.options: {next(iter(options))}", "[fit]", "leave it out: a model file has none")


def template_of(model: str | tuple[str, ...], folder: Path, file: Path) -> FitTemplate:
    """What `[fit] model` names.

    Raises:
        StudyError: no such file, no such template.
    """
    if model == AUTO:
        return AutoTemplate()
    names = (model,) if isinstance(model, str) else model
    if isinstance(model, str) and (model in TEMPLATES or ".py:" in model):
        template: FitTemplate = named(model, TEMPLATES, folder, "fit.model", at(file, ("fit", "model")))
        return template
    for name in names:
        if not (folder / name).is_file():
            known = [*(path.name for path in sorted(folder.glob("*.toml")) if path != file), AUTO, *TEMPLATES]
            raise StudyError(
                f"fit.model = {name!r}: no such file",
                at(file, ("fit", "model")),
                f"give a model file: {meant(name, known)}",
            )
    if len({Path(name).stem for name in names}) < len(names):
        raise StudyError(f"fit.model = {list(names)}", str(file), "give files with names that differ")
    for name in names:
        Model.read(folder / name)  # what is wrong with it is told before anything is run
    return ModelFilesTemplate(tuple(folder / name for name in names))
