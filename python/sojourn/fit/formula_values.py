"""Formulas of a model whose parameters are unknown: their values for many values of the unknowns, put into networks.

A parameter stands in the model through the formulas that need it, by itself or by others of `[parameters]`. Each formula is computed
for all rows of values at once, and put into a network where it stands; where that changes more than one entry of the arrays the model
is lowered again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.arithmetic import Arithmetic
from sojourn.model import Exponential, Model, Network
from sojourn.model.formulas import FormulaBase, RatesFormula, formulas_of
from sojourn.model.network_points import DEPENDENT, NetworkPoints, NumberPlace
from sojourn.model.parameters import BUSY, PRESENT, MeasuredParameter, formula_text
from sojourn.model.unknown_parameters import Unknown
from sojourn.solve.parameter_variation import Edit, NumberEdit

Array = NDArray[np.float64]
Change = Array | dict[str, Array]
PART = "parameters."


@dataclass(frozen=True)
class FormulaTarget:
    """One formula: what it needs of the parameters, and how its value goes into a network; `put` None: by the model."""

    path: str
    formula: FormulaBase
    needs: frozenset[str]
    put: Edit | None


class FormulaValues:
    """Of `model`, which is `configured` in each configuration."""

    def __init__(self, model: Model, configured: Sequence[Model], edits: Callable[[Model, str], Edit | None]) -> None:
        self.model = model
        self.given = [one.parameter_values for one in configured]
        self.networks = [one.network for one in configured]
        self.order = _in_order(model)
        self.unknown = [name for name, value in model.parameters.items() if isinstance(value, Unknown)]
        needs = needed_parameters(model)
        self.targets = [
            FormulaTarget(path, formula, own, _put_in(model, path, formula, edits))
            for path, formula in (formulas_of(model.__dict__) if self.unknown else ())
            if (own := frozenset().union(*(needs.get(n, frozenset()) for n in formula.arithmetic.names)))
        ]
        self.changed = [name for name in needs if needs[name]]

    def lowered(self, path: str) -> bool:
        """Whether a value of this parameter is put in by the model."""
        return any(path.removeprefix(PART) in t.needs and t.put is None for t in self.targets)

    def parameters(self, values: Mapping[str, Array], configuration: int) -> dict[str, Any]:
        """All parameters, those that change as one value a row; `values`: of unknown ones, by name."""
        found: dict[str, Any] = {**self.given[configuration], **values}
        for name, arithmetic in self.order:
            if name in self.changed:
                found[name] = arithmetic.value(found)
        return found

    def changes(self, values: Mapping[str, Array], configuration: int, rows: int) -> list[Change]:
        """By target, what is put into the network of each row; of a time that depends on the load its parameters."""
        found = self.parameters(values, configuration)
        each: list[Change] = []
        for target in self.targets:
            if target.formula.of_load:
                names = [n for n in target.formula.arithmetic.names if n != BUSY]
                each.append({n: np.broadcast_to(np.asarray(found[n], float), (rows,)) for n in names})
            elif isinstance(target.formula, RatesFormula):
                columns = {
                    n: np.asarray(v, float).reshape(-1, 1)
                    for n, v in found.items()
                    if n in target.formula.arithmetic.names
                }
                most = len(self.networks[configuration].rates[_station(self.networks[configuration], target.path)])
                rates = target.formula.arithmetic.value({**columns, PRESENT: np.arange(1.0, most + 1)})
                each.append(np.broadcast_to(rates, (rows, most)))
            else:
                each.append(np.broadcast_to(target.formula.arithmetic.value(found), (rows,)))
        return each

    def in_arrays(self, points: NetworkPoints) -> bool:
        """Whether all of them are numbers in the arrays of networks."""
        return all(
            t.formula.of_load or (isinstance(t.put, NumberEdit) and points.takes(t.put.place)) for t in self.targets
        )

    def put_all(self, points: NetworkPoints, changes: Sequence[Sequence[Change]]) -> NetworkPoints:
        """Into all points, `changes` of each configuration; these run fastest."""
        for number, target in enumerate(self.targets):
            own = [each[number] for each in changes]
            if isinstance(target.put, NumberEdit):
                points = target.put.every(points, np.stack([np.asarray(one) for one in own], axis=1).ravel())
                continue
            at = _dependent(self.model, target.path)
            for name in own[0] if at is not None and isinstance(own[0], dict) else ():
                column = np.stack([one[name] for one in own if isinstance(one, dict)], axis=1).ravel()
                points = points.put(NumberPlace(DEPENDENT, (at or 0,), name), column)
        return points

    @property
    def measured(self) -> dict[str, MeasuredParameter]:
        """Parameters that are formulas and were measured."""
        return {n: v for n, v in self.model.parameters.items() if isinstance(v, MeasuredParameter) and v.formula}

    def seen(self, values: Mapping[str, Array], which: Sequence[int], rows: int) -> dict[tuple[str, str, str], Array]:
        """Of these the values in each row and configuration, rows outermost, by key."""
        if not self.measured:
            return {}
        found = [self.parameters(values, i) for i in which]
        return {
            (f"{PART}{name}", "", "parameter"): np.stack(
                [np.broadcast_to(np.asarray(one[name], float), (rows,)) for one in found], axis=1
            ).ravel()
            for name in self.measured
        }

    def put(self, network: Network, changes: Sequence[Change], row: int) -> Network:
        for target, values in zip(self.targets, changes, strict=True):
            if target.put is not None:
                one = {n: float(c[row]) for n, c in values.items()} if isinstance(values, dict) else values[row]
                network = target.put(network, one if isinstance(one, dict) or one.ndim else one.item())
        return network

    def weight(self, name: str, path: str, configuration: int) -> float:
        """By how much the number at `path` grows with the parameter `name`, the other unknowns being 0; 0 where it does not."""
        target = next((t for t in self.targets if t.path == path and name in t.needs), None)
        if target is None:
            return 0.0
        none = {n: np.zeros(1) for n in self.unknown}
        with np.errstate(all="ignore"):
            off, on = (
                float(
                    np.ravel(
                        target.formula.arithmetic.value({**self.parameters(v, configuration), BUSY: 0.0, PRESENT: 1.0})
                    )[0]
                )
                for v in (none, {**none, name: np.ones(1)})
            )
        return on - off if np.isfinite(on - off) and on > off else 0.0


def _in_order(model: Model) -> list[tuple[str, Arithmetic]]:
    """Parameters that are formulas, each after those that it needs: as `parameter_values` finds them."""
    texts = [(name, formula_text(model.parameters[name])) for name in model.parameter_values]
    return [(name, Arithmetic.read(text)) for name, text in texts if text]


def needed_parameters(model: Model) -> dict[str, frozenset[str]]:
    """Parameter → unknown parameters behind it."""
    found = {n: frozenset([n]) if isinstance(v, Unknown) else frozenset() for n, v in model.parameters.items()}
    for name, arithmetic in _in_order(model):
        found[name] = frozenset().union(*(found[n] for n in arithmetic.names))
    return found


def _put_in(model: Model, path: str, formula: FormulaBase, edits: Callable[[Model, str], Edit | None]) -> Edit | None:
    if isinstance(formula, RatesFormula):
        station = _station(model.network, path)
        return lambda network, rates: _with_rates(network, station, rates)
    return _dependent_time(model, path) if formula.of_load else edits(model, path)


def _station(network: Network, path: str) -> int:
    return network.stations.index(path.removeprefix("stations.").removesuffix(".rates_per_s"))


def _with_rates(network: Network, station: int, rates: Array) -> Network:
    service_s, one = network.service_s.copy(), Exponential(1 / float(rates[0]))
    service_s[station] = one.mean
    row = tuple(one for _ in network.classes)
    service = (*network.service[:station], row, *network.service[station + 1 :])
    return network.altered(rates={**network.rates, station: rates}, service_s=service_s, service=service)


def _dependent_time(model: Model, path: str) -> Edit | None:
    """Puts other parameters under the formula of a time that depends on u."""
    number = _dependent(model, path)
    if number is None:
        return None
    return lambda network, given: network.altered(dependent_times=_replaced(network.dependent_times, number, given))


def _dependent(model: Model, path: str) -> int | None:
    """The number of the time that depends on u at a path."""
    _, _, rest = path.partition(".")
    for number, time in enumerate(model.network.dependent_times):
        station, cls = model.network.stations[time.station], model.network.classes[time.cls]
        if rest in (f"{station}.{cls}", f"{station}.{cls}.mean"):
            return number
    return None


def _replaced(times: tuple[Any, ...], number: int, given: Mapping[str, float]) -> tuple[Any, ...]:
    return (*times[:number], replace(times[number], given=given), *times[number + 1 :])
