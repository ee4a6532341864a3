"""The networks of a model at many values of its unknowns and in many configurations: values outermost, configurations running fastest.

Where every unknown is a number in the arrays of a network, or goes into one by a formula, they are `NetworkPoints`. Others, such as a
parameter of a distribution, are put into each network by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError, ModelError
from sojourn.fit.factor_mapping import FactorMapping, applied
from sojourn.fit.formula_values import PART, FormulaValues
from sojourn.model import Distribution, Exponential, Model
from sojourn.model.distribution_types import GivenByMean
from sojourn.model.model import as_model
from sojourn.model.network_arrays import Network
from sojourn.model.network_points import ARRAYS, NetworkPoints
from sojourn.model.unknown_parameters import replaced
from sojourn.solve.parameter_variation import Edit, NumberEdit, edit

Array = NDArray[np.float64]
TIMES = ("service_s", "service", "think_s", "think")  # of a network: what unknown times change
VARIED = ("rate_per_s", "population", "servers", "background")  # numbers that networks of one outline may differ in


class EvaluatedNetworks:
    """`model` with its unknowns in the order of `paths`, in `configurations` (factor → value)."""

    def __init__(
        self, model: Model, paths: Sequence[str], factors: Sequence[FactorMapping],
        configurations: Sequence[Mapping[str, Any]],
    ) -> None:  # fmt: skip
        self.model, self.paths = model, paths
        models = [applied(model, factors, c) for c in configurations]
        self.networks = [m.network for m in models]
        self.formulas = FormulaValues(model, models, edit_of)
        self.edits = [self._edit(path) for path in paths]
        self.points = self._points()
        self.alike = self.points is None and self._alike()
        self.differing = self._differing() if self.alike else None

    def at(self, values: Array, which: Sequence[int] | None = None) -> Sequence[Network]:
        """`values` B x unknowns; each of the B in each configuration (of `which`)."""
        chosen = list(range(len(self.networks)) if which is None else which)
        rows = np.atleast_2d(values)
        changes = self.formulas.changes(self._parameters(rows), chosen, len(rows))
        if self.differing is not None:
            bases = [self._put(self.networks[0], row) for row in rows]
            columns = {name: np.concatenate([column[chosen]] * len(rows)) for name, column in self.differing.items()}
            of = np.repeat(np.arange(len(rows)), len(chosen))
            return self.formulas.put_all(NetworkPoints(bases, of, columns), changes)
        if self.points is None:
            networks = [self.networks[i] for i in chosen]
            each = [network for row in rows for network in self._each(networks, row)]
            return NetworkPoints([self.formulas.put(network, changes, at) for at, network in enumerate(each)])
        points = self.points.take(np.tile(np.array(chosen, np.intp), len(rows)))
        for change, column in zip(self.edits, rows.T, strict=True):
            if isinstance(change, NumberEdit):
                points = change.every(points, np.repeat(column, len(chosen)))
        return self.formulas.put_all(points, changes)

    def measured(self, values: Array, which: Sequence[int] | None) -> dict[tuple[str, str, str], Array]:
        """Parameters that were measured, by key."""
        rows = np.atleast_2d(values)
        chosen = list(range(len(self.networks)) if which is None else which)
        return self.formulas.seen(self._parameters(rows), chosen, len(rows))

    def _parameters(self, rows: Array) -> dict[str, Array]:
        return {p.removeprefix(PART): rows[:, i] for i, p in enumerate(self.paths) if p.startswith(PART)}

    def _edit(self, path: str) -> Edit | None:
        """How a value of an unknown goes into a network; a parameter does by the formulas that need it. None: by the model."""
        if not path.startswith(PART):
            return edit_of(self.model, path)
        return None if self.formulas.lowered(path) else lambda network, value: network

    def _points(self) -> NetworkPoints | None:
        """The configurations; None where an unknown is no number in their arrays."""
        points = NetworkPoints(self.networks)
        own = [change for change, path in zip(self.edits, self.paths, strict=True) if not path.startswith(PART)]
        told = all(
            isinstance(change, _MeanOfLaw) or (isinstance(change, NumberEdit) and points.takes(change.place))
            for change in own
        )
        known = all(change is not None for change in self.edits) and self.formulas.in_arrays(points)
        return points if told and known else None

    def _alike(self) -> bool:
        """Whether unknowns are of times only, and no configuration has times of its own: then they go in once for all."""
        first = self.networks[0]
        own = all(p.startswith(("demands_s.", "service_s.", PART)) or ".think_s" in p for p in self.paths)
        return own and None not in self.edits and all(
            np.array_equal(n.service_s, first.service_s) and np.array_equal(n.think_s, first.think_s)
            and n.service == first.service and n.think == first.think for n in self.networks
        )  # fmt: skip

    def _differing(self) -> dict[str, Array] | None:
        """Arrays in which the configurations differ: a network is made for each row of values, and not for each configuration of it too.
        None where they differ in more, or a formula stands in no array."""
        first, every = self.networks[0], NetworkPoints(self.networks)
        if not all(_queues_only(n) and _outline(n) == _outline(first) for n in self.networks):
            return None
        if not (all(n.routes.same_as(first.routes) for n in self.networks) and self.formulas.in_arrays(every)):
            return None
        names = [name for name in ARRAYS if not every.shared(name)]
        return {name: np.array(every.column(name)) for name in names} if {*names} <= {*VARIED} else None

    def _each(self, networks: Sequence[Network], row: Array) -> list[Network]:
        if not self.alike:
            return [self._put(network, row) for network in networks]
        first = self._put(networks[0], row)
        times = {name: getattr(first, name) for name in TIMES}
        return [first, *(network.altered(**times) for network in networks[1:])]

    def _put(self, network: Network, row: Array) -> Network:
        lowered = {self.paths[i]: float(row[i]) for i, change in enumerate(self.edits) if change is None}
        if lowered:  # before the others, which change the network and not its model
            put = replaced(as_model(network.model), lowered).network
            # moves as a table are dear to make, and most unknowns change none
            network = put.altered(routes=network.routes) if put.routes.same_as(network.routes) else put
        for change, value in zip(self.edits, row.tolist(), strict=True):
            network = network if change is None else change(network, value)
        return network


def _queues_only(network: Network) -> bool:
    """Whether its arrays, laws of service and routes say all of it: queues and delays, with Poisson arrivals from outside."""
    more = any(getattr(network, name) for name in ("rates", "choices", "limits", "sharing", "hosts"))
    timed = any(getattr(s, "server_schedule", ()) or getattr(s, "breakdowns", None) for s in network.model.stations)
    plain = all(law is None or isinstance(law, Exponential) for law in network.arrivals)
    return plain and not more and not timed and set(network.kind) <= {"queue", "delay"}


def _outline(network: Network) -> tuple[Any, ...]:
    """What no number of an array tells."""
    texts = (getattr(network, name) for name in ("stations", "classes", "kind", "discipline", "on_full", "at_load"))
    times = [(t.station, t.cls, t.over, t.formula.text, dict(t.given)) for t in network.dependent_times]
    return (*texts, times, [law is None for law in network.arrivals])


def edit_of(model: Model, path: str) -> Edit | None:
    """How one value goes into a network: an entry changed, or the distribution that it is a part of; None: by its model."""
    part = path.partition(".")[0]
    for holder in (path, path.rpartition(".")[0]) if part in ("demands_s", "service_s", "classes", "stations") else ():
        try:
            change = edit(model, holder)
        except ModelError:
            continue
        if change is None:
            continue  # a parameter of a law has no entry of its own, and the law has
        if holder == path:
            return change
        put = _of_law(change, _current(model, holder), path[len(holder) + 1 :], path)
        law = isinstance(_current(model, holder)(model.network), GivenByMean) and path.endswith(".mean")
        return _MeanOfLaw(put, change.place) if law and change.place.field == "service_s" else put
    return None


class _MeanOfLaw(NumberEdit):
    """The first number of a law, which stands in the arrays as one; the law keeps its kind."""


def _of_law(change: Edit, now: Callable[[Network], Any], name: str, path: str) -> Edit:
    """`now`: the distribution as other unknowns have made it."""
    return lambda network, value: change(network, _with(now(network), name, value, path))


def _current(model: Model, path: str) -> Callable[[Network], Any]:
    """The distribution at `path` as a network has it now."""
    part, _, rest = path.partition(".")
    name, _, key = rest.rpartition(".")
    if part == "classes":
        number = model.network.classes.index(name)
        return lambda network: network.think[number] if key == "think_s" else network.arrivals[number]
    at = model.network.stations.index(name), model.network.classes.index(key)
    return lambda network: network.service[at[0]][at[1]]


def _with(whole: Any, name: str, value: float, path: str) -> Distribution:
    if not isinstance(whole, Distribution):
        raise FitError(path, "unknowns", "an unknown may replace a number, or a parameter of a distribution of times")
    return replace(whole, **{name if name in whole.__dataclass_fields__ else f"{name}_": value})
