"""Factors of runs as numbers of a model: `[factors]` of its file, and what is meant without saying: a rate, users.

    [factors]
    workers = "stations.cpu.servers"
    threads = ["stations.pool.size", "stations.cpu.servers = threads / 4"]

A text is a path, or a path and what is put there: numbers, factors, + - * / and brackets. An empty list says that a factor changes
nothing in the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.arithmetic import Arithmetic
from sojourn.errors import FitError, InputError, ModelError
from sojourn.model import Closed, Model, Open
from sojourn.model.parameters import NumberByFactor
from sojourn.model.unknown_parameters import WHOLE, ModelDraft


@dataclass(frozen=True)
class FactorMapping:
    """What one factor of the runs does to the model."""

    name: str
    path: str
    value: Arithmetic

    def result(self, given: Mapping[str, Any]) -> Any:
        """What is put there, from the factors of a configuration; true and false are 1 and 0. Raises FitError for a factor that is
        not there."""
        for name in self.value.names:
            if name not in given:
                remedy = f"use {', '.join(given) or 'factors that the runs have'}"
                raise FitError(f"no factor {name}", f"factors.{self.name}", remedy)
        value = self.value.value(given)
        return int(value) if isinstance(value, bool) else value


def path_of(name: str) -> FactorMapping:
    """A path of the model that is a factor by itself."""
    return FactorMapping(name, name, Arithmetic.of_name(name))


def factors_of(model: Model, configurations: Sequence[Mapping[str, Any]]) -> list[FactorMapping]:
    """Everything that the configurations change. Raises FitError for a factor that varies and has no path."""
    names = list(dict.fromkeys(name for c in configurations for name in c))
    found = [_factor(name, text) for name in names for text in _texts(model, name)]
    for name in names:
        values = {repr(c.get(name)) for c in configurations}
        told = any(f.name == name for f in found) or name in model.where or model.factors.get(name) == ()
        if len(values) > 1 and not told:
            remedy = (
                f'add [factors] {name} = "stations.…" (a path of the model), or use {name} of [parameters] in a formula'
            )
            raise FitError(f"factor {name} varies between the runs and changes nothing in the model", "factors", remedy)
    return found


def _texts(model: Model, name: str) -> tuple[str, ...]:
    if name in model.factors:
        given = model.factors[name]
        return (given,) if isinstance(given, str) else tuple(given)
    stated = [f"parameters.{name}"] if name in model.parameters else []
    stated += [
        f"parameters.{n}.value"
        for n, v in model.parameters.items()
        if isinstance(v, NumberByFactor) and v.factor == name
    ]
    if stated:
        return tuple(stated)
    usual = {"rate_per_s": (Open, "rate_per_s"), "users": (Closed, "population"), "think_s": (Closed, "think_s")}
    if name not in usual:
        return ()
    kind, field = usual[name]
    own = [c for c in model.classes if isinstance(c, kind)]
    return (f"classes.{own[0].name}.{field}",) if len(own) == 1 else ()


def _factor(name: str, text: str) -> FactorMapping:
    path, equals, expression = (part.strip() for part in text.partition("="))
    try:
        value = Arithmetic.read(expression) if equals else Arithmetic.of_name(name)
    except ValueError as error:
        raise FitError(repr(text), f"factors.{name}", f"give PATH, or PATH = arithmetic of factors ({error})") from None
    return FactorMapping(name, path, value)


def is_known(model: Model, seen: Sequence[Mapping[str, Any]], factors: Mapping[str, Any]) -> bool:
    """Whether the model says something of a configuration: it is of it, has each factor, or the runs that it was fitted to (`seen`)
    had this value; and it has a number for each text."""
    mapped = factors_of(model, [factors])
    names = {one.name for one in mapped} | {*model.factors, *model.where}
    others = {name: value for name, value in factors.items() if name not in names}
    if not model.is_of(factors) or any(repr(v) not in {repr(one.get(n)) for one in seen} for n, v in others.items()):
        return False
    try:
        applied(model, mapped, factors)
    except InputError:
        return False
    return True


def applied(
    model: Model,
    factors: Sequence[FactorMapping],
    configuration: Mapping[str, Any],
    paths: Mapping[str, Any] | None = None,
) -> Model:
    """The model in one configuration, and with values at some paths, checked when all are there. Raises FitError for a factor whose
    path leads nowhere or whose value cannot be there, ModelError for such a path."""
    draft = ModelDraft(model)
    for path, value in (paths or {}).items():
        draft.put(path, value)
    there = [factor for factor in factors if factor.name in configuration]
    for factor in there:
        value = factor.result(configuration)
        if factor.path.rpartition(".")[2] in WHOLE:
            if isinstance(value, str):
                raise FitError(f"{factor.name} = {value!r}", f"factors.{factor.name}", "give a whole number")
            value = round(value)
        try:
            draft.put(factor.path, value)
        except ModelError as error:
            raise _of_factor(factor, factor.path, error) from None
    try:
        return draft.checked()
    except ModelError as error:
        place = str(error.place)
        found = next((f for f in there if f.path == place), None if paths else next(iter(there[-1:]), None))
        if found is None:
            raise
        raise _of_factor(found, place, error) from None


def _of_factor(factor: FactorMapping, place: str, error: ModelError) -> FitError | ModelError:
    if factor.name == factor.path:
        return error
    return FitError(f"{place}: {error.value}", f"factors.{factor.name}", error.remedy)


def path_example(model: Model, name: str) -> str:
    """Paths of the model that end with a name which is no factor; where there are none, the servers of its first queue."""
    paths = [f"stations.{station.name}.{name}" for station in model.stations if hasattr(station, name)]
    queue = next((station for station in model.stations if hasattr(station, "servers")), model.stations[0])
    return " or ".join(paths) or f"stations.{queue.name}.servers"
