"""`ModelData`: stations, classes and tables of a model as its user gave them; `Model` is the same, checked, with its arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sojourn.model.components import Choice, CustomerClass, Region, SharedCores, Station
from sojourn.model.distribution_registry import Distribution, Exponential
from sojourn.model.distribution_types import as_tuples
from sojourn.model.formulas import has_texts, resolved
from sojourn.model.parameters import NumberByFactor, check_parameters, parameter_values

TimesByStation = Mapping[str, Mapping[str, float | str | Distribution]]  # a text is a formula
Routing = Mapping[str, Mapping[str, Mapping[str, float] | Choice]]


@dataclass(frozen=True)
class ModelData:
    """See `Model`."""

    stations: Sequence[Station]
    classes: Sequence[CustomerClass]
    demands_s: TimesByStation = field(default_factory=dict)
    service_s: TimesByStation = field(default_factory=dict)
    visits: Mapping[str, Mapping[str, float | str]] = field(default_factory=dict)
    routing: Routing = field(default_factory=dict)
    regions: Sequence[Region] = ()
    shared_cores: Sequence[SharedCores] = ()
    name: str = ""
    # of a model that is fitted: factor of the runs → path, or paths, of what it changes here; station → what was watched of it
    factors: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    observed: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    # name → number, unknown, formula of others or `NumberByFactor`: what formulas in place of numbers are made of
    parameters: Mapping[str, float | str | NumberByFactor] = field(default_factory=dict)
    # factor → value: the runs that this is a model of; others are not fitted, and not predicted
    where: Mapping[str, float | str | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("stations", "classes", "regions", "shared_cores"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("factors", "observed"):
            table = getattr(self, name)
            if isinstance(table, Mapping):
                object.__setattr__(self, name, {key: as_tuples(value) for key, value in _flat(table).items()})
        for name in ("demands_s", "service_s", "visits", "routing"):
            object.__setattr__(self, name, _plain(getattr(self, name)))
        check_parameters(self.parameters)
        if self.parameters or has_texts(self.__dict__):
            for name, value in resolved(self.__dict__, self.parameter_values).items():
                object.__setattr__(self, name, value)

    @cached_property
    def parameter_values(self) -> dict[str, float]:
        """The number that each parameter has now."""
        return parameter_values(self.parameters)

    @cached_property
    def _by_name(self) -> dict[str, Station]:
        return {s.name: s for s in reversed(self.stations)}

    def is_of(self, factors: Mapping[str, Any]) -> bool:
        """Whether this is a model of a run with these factors; one that is not said is as it must be."""
        return all(factors.get(name, value) == value for name, value in self.where.items())

    def station(self, name: str) -> Station:
        return self._by_name[name]

    def customer_class(self, name: str) -> CustomerClass:
        return next(c for c in self.classes if c.name == name)


def as_distribution(value: float | str | Distribution) -> Distribution:
    """A number is the mean of an exponential."""
    return value if isinstance(value, Distribution) else Exponential(float(value))


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of tables inside under their path: `cpu.leading = "cores"` in a file is such a table."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            found |= {f"{key}.{inner}": one for inner, one in value.items()}
        else:
            found[key] = value
    return found


def _plain(table: Mapping[str, object]) -> dict[str, object]:
    return {key: _plain(value) if isinstance(value, Mapping) else value for key, value in table.items()}
