"""`Model`: what a user writes. `Model.network` is the same thing as arrays, which is what methods and simulator take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.model.components import Choice, CustomerClass, Region, Station
from sojourn.model.distribution_registry import Distribution, Exponential
from sojourn.model.distribution_types import as_tuples
from sojourn.model.network_arrays import Network

TimesByStation = Mapping[str, Mapping[str, float | Distribution]]
Routing = Mapping[str, Mapping[str, Mapping[str, float] | Choice]]


@dataclass(frozen=True)
class Model:
    """Stations, classes, and one of: `demands_s`; `service_s` with `visits`; `service_s` with `routing`.

    `demands_s[station][class]` is the total over all visits, `service_s[station][class]` of one visit: a mean in s
    (exponential) or a distribution. `visits[station][class]` defaults to 1 where there is a time.
    `routing[class][from][to]` is a probability, or `routing[class][from]` is a `Choice`. `source` and `exit` are where
    an open class comes in and leaves, `think` where a closed one thinks; "station/class" as `to` changes the class.
    Raises ModelError, which names the value, the place and the remedy.
    """

    stations: Sequence[Station]
    classes: Sequence[CustomerClass]
    demands_s: TimesByStation = field(default_factory=dict)
    service_s: TimesByStation = field(default_factory=dict)
    visits: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    routing: Routing = field(default_factory=dict)
    regions: Sequence[Region] = ()
    name: str = ""
    # of a model that is fitted: factor of the runs → path, or paths, of what it changes here; station → what was watched of it
    factors: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    observed: Mapping[str, str | Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from sojourn.model.check import check

        for name in ("stations", "classes", "regions"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("factors", "observed"):
            table = getattr(self, name)
            if isinstance(table, Mapping):
                object.__setattr__(self, name, {key: as_tuples(value) for key, value in table.items()})
        for name in ("demands_s", "service_s", "visits", "routing"):
            object.__setattr__(self, name, _plain(getattr(self, name)))
        check(self)

    @cached_property
    def network(self) -> Network:
        """The arrays that methods and simulator work on; made once."""
        from sojourn.model.lowering import lower

        return lower(self)

    @staticmethod
    def read(path: Path | str) -> Model:
        """The model of a TOML file; ModelError names file, line, key, value and remedy."""
        from sojourn.model.toml_file import read

        return read(path)

    @staticmethod
    def parse(text: str, place: str = "model") -> Model:
        """The model that a TOML text is; `place` stands for its file in errors."""
        from sojourn.model.toml_file import parse

        return parse(text, place)

    def to_toml(self) -> str:
        """The text of its file; `Model.parse` gives an equal model back."""
        from sojourn.model.toml_file import to_toml

        return to_toml(self)

    def write(self, path: Path | str) -> None:
        """Writes the file that `Model.read` reads."""
        from sojourn.model.toml_file import write

        write(self, path)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "network"}  # made again when asked for

    def station(self, name: str) -> Station:
        return next(s for s in self.stations if s.name == name)

    def customer_class(self, name: str) -> CustomerClass:
        return next(c for c in self.classes if c.name == name)


def as_model(it: Model | Path | str) -> Model:
    """The model itself, or that of a file. InputError for anything else."""
    if isinstance(it, str | Path):
        return Model.read(it)
    if not isinstance(it, Model):
        raise InputError(f"a {type(it).__name__}", "model", "give a Model, or the path of a model file")
    return it


def as_distribution(value: float | Distribution) -> Distribution:
    """A number is the mean of an exponential."""
    return value if isinstance(value, Distribution) else Exponential(float(value))


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain(value) if isinstance(value, Mapping) else value for key, value in table.items()}
