"""What an operation costs in each design, for every configuration: CPU times as sums of parts, and what is no CPU time.

CPU times are instrumented; fitted beside them, on the runs' throughputs: the `delay_s` of a client's cycle outside all cores,
which only few clients notice, and `usable`, how much of a busy core is charged to processes (the rest is entry to interrupts and
the scheduler's own). Each design by itself: a message costs a staged worker a sleep, and a loop almost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from sojourn.fit import fit_parts
from sojourn_cases.kv.models.component_speeds import ComponentSpeeds, column_of, fitted_speeds, usual_speeds
from sojourn_cases.kv.models.operation_work import CLIENT, PARTS, OperationWork
from sojourn_cases.kv.models.pinned_cores import solved

BUSY = 0.9  # of a core
MOST_OFF = 0.3  # a larger error of one run counts no more: it was disturbed
DELAYS, ALIKE = (
    41,
    0.01,
)  # of delays whose errors differ by less than that the shortest: runs with many clients tell none
ROUNDS = 3  # CPU times at the usual speed and the exponent of the speed, in turn
Parts = Mapping[str, tuple[float, ...]]  # component → coefficients of its PARTS, s


@dataclass(frozen=True)
class DemandRegression:
    """Of one design. `reads`: what a client takes to read, as a constant, a multiple of the clients, and one of the time that an
    operation is at the client's core, where it waits to be read. Where processes keep to no cores, at the fewest clients: `rest_s`
    of an answer inside the middleware beside its CPU times, `network_s` outside of it."""

    design: str
    parts: Parts
    delay_s: float = 0.0
    usable: float = 1.0
    reads: tuple[float, ...] = (0.0, 0.0, 0.0)
    rest_s: float = 0.0
    network_s: float = 0.0
    speeds: ComponentSpeeds = field(default_factory=ComponentSpeeds)

    def times(self, rows: pl.DataFrame) -> dict[str, np.ndarray]:
        """By component, a value a row of the same design, s; of cores that can be used whole, and are as fast as in that row (as
        usual where it does not say)."""
        return {
            name: value / self.usable * self.speeds.slower(name, rows)
            for name, value in times_of(self.design, self.parts, rows).items()
        }

    def own_s(self, rows: pl.DataFrame, at_client_s: np.ndarray) -> np.ndarray:
        """What a client takes to read, a value a row."""
        return _read_terms(rows, at_client_s) @ np.array(self.reads)


def times_of(design: str, parts: Parts, rows: pl.DataFrame) -> dict[str, np.ndarray]:
    """The sums of parts."""
    work = OperationWork(rows)
    return {name: work.terms(PARTS[design][name]) @ np.array(own) for name, own in parts.items()}


def fit_costs(rows: pl.DataFrame, cores: Sequence[int] | None) -> DemandRegression:
    """From the runs of one design (`system.kv.frame`); `cores` where processes keep to cores of their own."""
    design = str(rows["design"][0])
    speeds = fit_speeds(rows)
    parts = fit_all(rows, speeds)
    light = rows.filter(pl.col("clients") == rows["clients"].min())
    if cores is None:
        found = DemandRegression(design, parts, rest_s=_rest(light), network_s=_network(light), speeds=speeds)
        return replace(found, reads=fit_reads(rows, found.times(rows).get(CLIENT, np.zeros(rows.height))))
    found = DemandRegression(design, parts, usable=_usable(rows, cores), speeds=speeds)
    times = found.times(rows)
    delay = _delay(rows, times, cores)
    at_client = solved(rows, times, np.full(rows.height, delay), cores).at_client_s
    return replace(found, delay_s=delay, reads=fit_reads(rows, at_client))


def fit_speeds(rows: pl.DataFrame) -> ComponentSpeeds:
    """Of the cores of one design: the exponent from what the parts leave over."""
    design, speeds = str(rows["design"][0]), usual_speeds(rows)
    for _ in range(ROUNDS if speeds.usual_s else 0):
        parts = fit_all(rows, speeds)
        predicted = times_of(design, parts, rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            off = {name: np.log(column_of(rows, name) / value) for name, value in predicted.items()}
        speeds = fitted_speeds(rows, off, speeds)
    return speeds


def fit_all(rows: pl.DataFrame, speeds: ComponentSpeeds) -> dict[str, tuple[float, ...]]:
    """The parts of each component that was measured, at the usual speed of its cores."""
    design, found = str(rows["design"][0]), {}
    for name, terms in PARTS[design].items():
        known = rows.filter(pl.col(name).is_finite() & (pl.col(name) > 0))
        if known.height:
            seconds = known[name].to_numpy() / speeds.slower(name, known)
            coefficients = fit_parts(OperationWork(known).terms(terms), seconds)
            found[name] = tuple(float(value) for value in coefficients)
    return found


def fit_reads(rows: pl.DataFrame, at_client_s: np.ndarray) -> tuple[float, ...]:
    """See `DemandRegression.reads`; nothing where it was not measured."""
    own = rows["own_s"].fill_null(0.0).fill_nan(0.0).to_numpy()
    known = own > 0
    terms = _read_terms(rows, at_client_s)
    return tuple(float(v) for v in fit_parts(terms[known], own[known])) if known.any() else (0.0, 0.0, 0.0)


def _read_terms(rows: pl.DataFrame, at_client_s: np.ndarray) -> np.ndarray:
    return np.stack([np.ones(rows.height), rows["clients"].to_numpy().astype(float), at_client_s], axis=1)


def _usable(rows: pl.DataFrame, cores: Sequence[int]) -> float:
    """The median utilisation, by CPU times, of a core that is busy; 1 where none was."""
    times = {name: rows[name].fill_null(0.0).fill_nan(0.0).to_numpy() for name in PARTS[str(rows["design"][0])]}
    x = rows["throughput_per_s"].to_numpy()
    per_operation = solved(rows, times, np.zeros(rows.height), cores)
    used = per_operation.busiest / per_operation.throughput_per_s * x
    busy = used[used > BUSY]
    return min(float(np.median(busy)), 1.0) if len(busy) else 1.0


def _delay(rows: pl.DataFrame, times: Mapping[str, np.ndarray], cores: Sequence[int]) -> float:
    """The one with the least mean error of throughput."""
    x = rows["throughput_per_s"].to_numpy()
    cycles = rows["clients"].to_numpy() / x

    def off(delay_s: float) -> float:
        found = solved(rows, times, np.full(rows.height, delay_s), cores).throughput_per_s
        return float(np.minimum(np.abs(np.log(found / x)), MOST_OFF).mean())

    tried = np.linspace(0, float(cycles.min()), DELAYS)
    error = np.array([off(delay) for delay in tried])
    return float(tried[np.argmax(error <= (1 + ALIKE) * error.min())])


def _rest(light: pl.DataFrame) -> float:
    to_all = (light["workload"] == "set") & (light["proxies"] > 0)
    asked = pl.Series([s if all_ else 1 for s, all_ in zip(light["servers"], to_all, strict=True)])
    service = light["service_s"].fill_null(0.0)
    rest = service - light["worker_cpu_s"].fill_null(0.0) - light["server_cpu_s"].fill_null(0.0) / asked
    return max(float(np.median(rest.to_numpy())), 0.0)


def _network(light: pl.DataFrame) -> float:
    cycle = light["response_s"] + light["own_s"].fill_null(0.0)
    inside = light["mw_response_s"].fill_null(0.0) + light["client_cpu_s"].fill_null(0.0)
    return max(float(np.median((cycle - inside).to_numpy())), 0.0)
