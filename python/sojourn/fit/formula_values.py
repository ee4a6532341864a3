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
from sojourn.model.parameters import BUSY, PRESENT, ParameterFromRuns, formula_text
from sojourn.model.unknown_parameters import Unknown
from sojourn.solve.parameter_variation import Edit, NumberEdit

Array = NDArray[np.float64]
Change = Array | dict[str, Array] | list[Array]
PART = "parameters."
TIMES = ("service_s", "think_s")  # of a network


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
        self.columns = self._columns()

    def lowered(self, path: str) -> bool:
        """Whether a value of this parameter is put in by the model."""
        return any(path.removeprefix(PART) in t.needs and t.put is None for t in self.targets)

    def _columns(self) -> dict[str, Array]:
        """Parameters that are known and that a formula needs, by configuration."""
        order = [arithmetic for name, arithmetic in self.order if name in self.changed]
        read = {n for a in (*order, *(t.formula.arithmetic for t in self.targets)) for n in a.names}
        known = (read | set(self.measured)) - {BUSY, PRESENT} - set(self.changed)
        return {name: np.array([float(one[name]) for one in self.given]) for name in sorted(known)}

    def parameters(self, values: Mapping[str, Array], which: Sequence[int]) -> dict[str, Array]:
        """Those that formulas need, as rows x configurations, or 1 in place of either; `values`: of unknown ones, by name."""
        found = {name: column[None, which] for name, column in self.columns.items()}
        found |= {name: np.asarray(column)[:, None] for name, column in values.items()}
        for name, arithmetic in self.order:
            if name in self.changed:
                found[name] = np.asarray(arithmetic.value(found))
        return found

    def changes(self, values: Mapping[str, Array], which: Sequence[int], rows: int) -> list[Change]:
        """By target, what is put into each network, configurations fastest; of a time that depends on the load its parameters."""
        found, shape = self.parameters(values, which) if self.targets else {}, (rows, len(which))
        each: list[Change] = []
        for target in self.targets:
            own = {n: found[n] for n in target.formula.arithmetic.names if n not in (BUSY, PRESENT)}
            if target.formula.of_load:
                each.append({n: np.broadcast_to(column, shape).ravel() for n, column in own.items()})
            elif isinstance(target.formula, RatesFormula):
                each.append(self._rates(target, {n: np.broadcast_to(c, shape) for n, c in own.items()}, which, rows))
            else:
                each.append(np.broadcast_to(target.formula.arithmetic.value(own), shape).ravel())
        return each

    def _rates(self, target: FormulaTarget, own: Mapping[str, Array], which: Sequence[int], rows: int) -> list[Array]:
        """With 1, 2, … present, of as many as a configuration has."""
        each = []
        for c, configuration in enumerate(which):
            network = self.networks[configuration]
            present = np.arange(1.0, len(network.rates[_station(network, target.path)]) + 1)
            rates = target.formula.arithmetic.value({**{n: v[:, c : c + 1] for n, v in own.items()}, PRESENT: present})
            each.append(np.broadcast_to(rates, (rows, len(present))))
        return [of[row] for row in range(rows) for of in each]

    def in_arrays(self, points: NetworkPoints) -> bool:
        """Whether all of them are numbers in the arrays of networks."""
        return all(
            t.formula.of_load or (isinstance(t.put, NumberEdit) and points.takes(t.put.place)) for t in self.targets
        )

    def put_all(self, points: NetworkPoints, changes: Sequence[Change]) -> NetworkPoints:
        """Into all points. A search may come to where a formula of a time is below 0 or no number: there it takes no time."""
        for target, values in zip(self.targets, changes, strict=True):
            if isinstance(values, dict):
                number = _dependent(self.model, target.path)
                assert number is not None, "a formula of the load is a time"
                for name, column in values.items():
                    points = points.put(NumberPlace(DEPENDENT, (number,), name), column)
            elif isinstance(target.put, NumberEdit):
                each = np.asarray(values)
                if target.put.place.field in TIMES:
                    each = np.maximum(np.nan_to_num(each, nan=0.0), 0.0)
                points = target.put.every(points, each)
        return points

    @property
    def measured(self) -> dict[str, ParameterFromRuns]:
        """Parameters that are formulas and were measured."""
        return {n: v for n, v in self.model.parameters.items() if isinstance(v, ParameterFromRuns) and v.model_formula}

    def seen(self, values: Mapping[str, Array], which: Sequence[int], rows: int) -> dict[tuple[str, str, str], Array]:
        """Of these the values in each row and configuration, rows outermost, by key."""
        if not self.measured:
            return {}
        found, shape = self.parameters(values, which), (rows, len(which))
        return {
            (f"{PART}{name}", "", "parameter"): np.broadcast_to(found[name], shape).ravel() for name in self.measured
        }

    def put(self, network: Network, changes: Sequence[Change], at: int) -> Network:
        """Into the network of one row and configuration."""
        for target, values in zip(self.targets, changes, strict=True):
            if target.put is not None:
                one = {n: float(c[at]) for n, c in values.items()} if isinstance(values, dict) else values[at]
                network = target.put(network, one.item() if isinstance(one, np.generic) else one)
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
                        target.formula.arithmetic.value(
                            {**self.parameters(v, [configuration]), BUSY: 0.0, PRESENT: 1.0}
                        )
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
