"""Unknown times of one closed class at many values at once, as arrays: what `ModelEvaluator` makes a network of each for otherwise.

Where mean value analysis solves a model and only times of service or of thinking change, a row of demands says all of a network:
formulas are computed once for all rows of values and all configurations, and one recursion answers them. A fit asks for some
hundred thousand of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.arithmetic import Arithmetic
from sojourn.fit.formula_values import PART, FormulaValues
from sojourn.model.network_arrays import Network
from sojourn.solve import exact_mva

Array = NDArray[np.float64]
Key = tuple[str, str, str]
METHOD = "mva"
THINK = -1  # in place of a station
LEAST_S = 1e-12  # of a whole pass: one that takes no time has no throughput


@dataclass(frozen=True)
class TimeTarget:
    """A time that changes: of `station`, or THINK; `of` an unknown by its number, or a formula; per `visit` or in total."""

    station: int
    visit: bool
    of: int | Arithmetic


@dataclass(frozen=True)
class ClosedTimes:
    """C configurations of K stations: `demands_s` and `visits` C x K, `think_s` and `population` C, with the start values of the unknowns;
    `unknown`: parameter → its number; `given`: of the other parameters that formulas need, C each; `order`: parameters that are
    formulas of unknowns."""

    names: tuple[str, ...]
    cls: str
    delay: NDArray[np.bool_]
    demands_s: Array
    visits: Array
    think_s: Array
    population: NDArray[np.int64]
    targets: tuple[TimeTarget, ...]
    unknown: Mapping[str, int]
    given: Mapping[str, Array]
    order: tuple[tuple[str, Arithmetic], ...]
    measured: tuple[str, ...]

    @staticmethod
    def of(
        networks: Sequence[Network], paths: Sequence[str], formulas: FormulaValues, method: str
    ) -> ClosedTimes | None:
        """Of unknowns at `paths`. None where something else than a time of one closed class changes, or another method solves it."""
        first = networks[0]
        if method != METHOD or len(first.classes) != 1 or not first.closed.all():
            return None
        unknown = {p.removeprefix(PART): i for i, p in enumerate(paths) if p.startswith(PART)}
        targets = [_target(first, p, i) for i, p in enumerate(paths) if not p.startswith(PART)]
        targets += [_target(first, t.path, t.formula.arithmetic) for t in formulas.targets]
        if any(t is None for t in targets):
            return None
        order = [(n, a) for n, a in formulas.order if n in formulas.changed]
        return ClosedTimes(
            first.stations, first.classes[0], np.array([kind == "delay" for kind in first.kind]),
            np.stack([n.demands_s[:, 0] for n in networks]), np.stack([n.visits[:, 0] for n in networks]),
            np.array([n.think_s[0] for n in networks]), np.array([n.population[0] for n in networks]),
            tuple(t for t in targets if t is not None), unknown, _given(formulas, order, unknown), tuple(order),
            tuple(formulas.measured),
        )  # fmt: skip

    def at(self, values: Array, which: Sequence[int] | None = None) -> dict[Key, Array]:
        """Response time, throughput, servers at work by station, and parameters that were measured; `values` B x unknowns, B outermost."""
        rows, at = np.atleast_2d(values), np.arange(len(self.think_s)) if which is None else np.asarray(which)
        shape = len(rows), len(at)
        with np.errstate(all="ignore"):
            numbers = self._parameters(rows, at)
            demands, think = self._times(rows, at, numbers)
            population = np.broadcast_to(self.population[at], shape).ravel()
            beside = np.maximum(think + np.where(self.delay, demands, 0.0).sum(axis=1), LEAST_S)
            x, _ = exact_mva(np.where(self.delay, 0.0, demands), beside, population)
            found: dict[Key, Array] = {("", "", "throughput"): x, ("", "", "response_time"): population / x - think}
            found |= {("", self.cls, metric): found["", "", metric] for metric in ("throughput", "response_time")}
            found |= {(name, "", "busy"): x * demands[:, k] for k, name in enumerate(self.names)}
        return found | {
            (f"{PART}{name}", "", "parameter"): np.broadcast_to(numbers[name], shape).ravel() for name in self.measured
        }

    def _parameters(self, rows: Array, at: NDArray[np.intp]) -> dict[str, Any]:
        """Each as one value a row, a configuration, or both."""
        found: dict[str, Any] = {name: own[at] for name, own in self.given.items()}
        found |= {name: rows[:, i : i + 1] for name, i in self.unknown.items()}
        for name, arithmetic in self.order:
            found[name] = arithmetic.value(found)
        return found

    def _times(self, rows: Array, at: NDArray[np.intp], numbers: Mapping[str, Any]) -> tuple[Array, Array]:
        """Demands, (B C) x K, and thinking, B C."""
        shape = len(rows), len(at)
        demands = np.broadcast_to(self.demands_s[at], (*shape, len(self.names))).copy()
        think = np.broadcast_to(self.think_s[at], shape).copy()
        for target in self.targets:
            value = target.of.value(numbers) if isinstance(target.of, Arithmetic) else rows[:, target.of, None]
            value = np.maximum(np.nan_to_num(value, nan=0.0), 0.0)
            if target.station == THINK:
                think[:] = value
            else:
                demands[:, :, target.station] = value * (self.visits[at, target.station] if target.visit else 1.0)
        return demands.reshape(-1, len(self.names)), think.ravel()


def _target(network: Network, path: str, of: int | Arithmetic) -> TimeTarget | None:
    """None for anything but a mean time."""
    part, _, rest = path.partition(".")
    (cls,) = network.classes
    if path == f"classes.{cls}.think_s":
        return TimeTarget(THINK, False, of)
    station = rest.removesuffix(f".{cls}")
    known = part in ("demands_s", "service_s") and station != rest and station in network.stations
    if not known or (isinstance(of, Arithmetic) and "u" in of.names):
        return None
    k = network.stations.index(station)
    return TimeTarget(k, part == "service_s", of) if network.visits[k, 0] > 0 else None


def _given(
    formulas: FormulaValues, order: Sequence[tuple[str, Arithmetic]], unknown: Mapping[str, int]
) -> dict[str, Array]:
    wanted = {n for _, a in order for n in a.names} | {n for t in formulas.targets for n in t.formula.arithmetic.names}
    wanted |= set(formulas.measured)
    wanted -= unknown.keys() | {name for name, _ in order}
    return {name: np.array([float(one[name]) for one in formulas.given]) for name in sorted(wanted)}
