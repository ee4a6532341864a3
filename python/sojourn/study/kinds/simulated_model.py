"""A model, simulated: its run folders look like those of a service, and what is true of it is known.

A factor is a path of the model (`stations.cpu.servers`), `rate_per_s` or `users` of its only open or closed class, or a
name that `[system.factors]` gives to a path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from sojourn.errors import InputError, ModelError
from sojourn.file_errors import meant
from sojourn.lab.backends import Environment, environment
from sojourn.model import Closed, Model, Open
from sojourn.runs.resources import MeasuredResource, add_resources
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_run import as_run
from sojourn.solve.parameter_variation import changed
from sojourn.study.kinds.time_values import Seconds
from sojourn.study.system import Factor, Point, System, Value
from sojourn.version import __version__

LEVELS: dict[str, tuple[type, str]] = {"rate_per_s": (Open, "rate_per_s"), "users": (Closed, "population")}


class VirtualOptions(BaseModel):
    """`[system]` of kind `virtual`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str = "virtual"
    model: str
    factors: dict[str, str] = Field(default_factory=dict)


class VirtualLoad(BaseModel):
    """`[load]`: simulated seconds a run (by default about 100 000 passes); who comes, the model says."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    duration_s: Seconds | None = Field(default=None, alias="for", gt=0)
    rate_per_s: float | None = Field(default=None, gt=0)
    users: int | None = Field(default=None, ge=1)
    every_s: Seconds = Field(default=0.1, alias="every", gt=0)
    seed: int = Field(default=1, ge=0)


class VirtualSystem(System):
    """A model that is simulated, in place of a service."""

    options_type: ClassVar[type[BaseModel]] = VirtualOptions
    load_type: ClassVar[type[BaseModel]] = VirtualLoad
    alone: ClassVar[bool] = False

    def __init__(self, options: VirtualOptions, load: VirtualLoad, base_folder: Path) -> None:
        self.options, self.load, self.base_folder = options, load, base_folder
        self.factors  # noqa: B018  (a path that the model has not is an error now)

    @cached_property
    def model(self) -> Model:
        return Model.read(self.base_folder / self.options.model)

    @cached_property
    def paths(self) -> dict[str, str]:
        """Factor → path, of those that have a name of their own."""
        found = dict(self.options.factors)
        for name, (kind, key) in LEVELS.items():
            classes = [cls.name for cls in self.model.classes if isinstance(cls, kind)]
            if len(classes) == 1 and name not in found:
                found[name] = f"classes.{classes[0]}.{key}"
        return found

    @property
    def factors(self) -> dict[str, Factor]:
        return {name: Factor(default=self._now(path, f"[system.factors] {name}")) for name, path in self.paths.items()}

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        levels = {
            name: value for name in LEVELS if (value := getattr(self.load, name)) is not None and name in self.paths
        }
        found: dict[str, Value] = {name: factor.default for name, factor in self.factors.items()}
        for name, value in {**levels, **given}.items():
            if name not in self.paths and "." not in name:
                raise InputError(
                    f"factor {name!r}", place, f"{meant(name, self.paths)}, or a path as stations.NAME.servers"
                )
            default = self._now(self.paths.get(name, name), place)
            found[name] = Factor(default=default).checked(name, value, place)
        return found

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return {name: None for name, resource in self.behind(self.model).items()}

    def behind(self, model: Model) -> dict[str, MeasuredResource]:
        """The stations that have servers."""
        network = model.network
        queues = [k for k, kind in enumerate(network.kind) if kind == "queue"]
        return {
            network.stations[k]: MeasuredResource(float(network.servers[k]), station=network.stations[k])
            for k in queues
        }

    def at(self, factors: Mapping[str, Value]) -> Model:
        """The model with these factors."""
        return changed(self.model, {self.paths.get(name, name): value for name, value in factors.items()})

    def _now(self, path: str, place: str) -> Any:
        part, _, rest = path.partition(".")
        name, _, key = rest.rpartition(".")
        holder = {"classes": self.model.classes, "stations": self.model.stations}.get(part, ())
        found = next((getattr(one, key, None) for one in holder if one.name == name), None)
        if part in ("demands_s", "service_s", "visits"):
            found = getattr(self.model, part).get(name, {}).get(key)
        if not isinstance(found, int | float | str):
            try:
                changed(self.model, {path: found})  # says what paths there are
            except ModelError as error:
                raise InputError(error.value, place, error.remedy) from None
            raise InputError(f"{path} is no number", place, "vary a number of the model")
        return found

    def place(self) -> AbstractContextManager[Environment]:
        return environment("virtual")

    @contextmanager
    def open(self, place: Any = None) -> Iterator[VirtualSession]:
        yield VirtualSession(self)


@dataclass(frozen=True)
class VirtualSession:
    """Simulates points of it."""

    system: VirtualSystem

    def conditions(self, point: Point) -> dict[str, Any]:
        machine = {"kernel": "simulated", "sojourn": __version__}
        said = {"system": self.system.options.model_dump(), "model": self.system.model.to_toml()}
        return {"load": {"lanes": [{}]}, "machine": machine, "conditions": said}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        model, load = self.system.at(point.factors), self.system.load
        folder = as_run(model, out, seed, load.duration_s, load.every_s)
        about: Any = {**point.record(seed), **self.conditions(point)}
        folder.manifest |= about
        add_resources(folder, self.system.behind(model), point.factors)
        return folder
