"""A model as a source: rows of `solve`, laws of times in closed form or by inverting the method's quantiles, states by its chain.

Numbers are those of the model, without an interval; the name of the source says by which method, and whether that is an approximation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sojourn.errors import MethodRefused, NoSuchRow, SourceRefused
from sojourn.file_errors import meant
from sojourn.model import Model, Network
from sojourn.query.nodes import StateFunction
from sojourn.query.sources.chain import StateChain, state_chain
from sojourn.query.sources.phase_law import PhaseLaw, phase_law, summed
from sojourn.query.sources.source import Source
from sojourn.query.values import Array, Estimate, Events, Flags, Law, Span
from sojourn.solve import solve
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.single.mmm import MMm
from sojourn.solve.single.mmm import refuses as not_mmm
from sojourn.solve.single.station_arrays import StationArrays
from sojourn.solve.solve import settled_network
from sojourn.table import Metrics

LEVELS, NARROW = (
    33,
    1e-8,
)  # of the search for the probability whose quantile is a given time; linear within the last step
MOST_NAMED = 12


class NoStationaryValue(SourceRefused):
    """The model has no such number: it saturates."""


class AnalyticSource(Source):
    """Of a model; `method` as `solve` has it."""

    kind = "analytic"

    def __init__(self, model: Model, name: str = "", method: str = "auto") -> None:
        self.model, self.method, self.name = model, method, name or model.name or "model"
        self.most_open: int | None = None  # in the chain; as many as count
        self.narrow = NARROW

    @cached_property
    def network(self) -> Network:
        return settled_network(self.model)

    def solved(self, quantiles: tuple[float, ...] = ()) -> Metrics:
        """The model's Metrics. Raises SourceRefused where no method has an answer."""
        try:
            found = solve(self.model, self.method, requested_outputs=RequestedOutputs(quantiles, None))
        except MethodRefused as error:
            raise SourceRefused(error.value, f"analytic source {self.name}", error.remedy) from None
        if found.status not in ("ok", "approximate", ""):
            self.refuse_value(found.message.splitlines()[0] if found.message else found.status)
        return found

    def refuse_value(self, why: str) -> None:
        """Raises SourceRefused: there is no number."""
        raise NoStationaryValue(why, f"analytic source {self.name}", "change the model, or simulate it")

    @cached_property
    def metrics(self) -> Metrics:
        return self.solved()

    def _row(self, metrics: Metrics, metric: str, station: str, cls: str, q: float | None = None) -> float:
        """Of a single class the name may be left out, and of a single station that each passes once."""
        network = self.network
        once = len(network.stations) == 1 and bool(np.all(np.isin(network.visits[0], (0.0, 1.0))))
        stations = [station, *([network.stations[0]] if not station and once else [])]
        classes = [cls, *([network.classes[0]] if not cls and len(network.classes) == 1 else [])]
        for k, c in ((k, c) for k in stations for c in classes):
            with suppress(NoSuchRow):
                value = metrics.value(metric, k, c, q)
                if math.isnan(value):
                    self.refuse_value(f"{metric} has no value: {metrics.message or metrics.status}")
                return value
        where = f"of {station or 'the whole system'}" + (f", class {cls}" if cls else "")
        rows = metrics.frame.filter(metrics.frame["metric"] == metric)["station"].unique(maintain_order=True).to_list()
        known = ", ".join(f"{metric.removesuffix('_quantile')}{{station={one}}}" for one in rows if one)
        remedy = f"{f'ask for {known}, or ' if known else ''}simulate the model (--simulated-model)"
        raise SourceRefused(
            f"method {metrics.method} provides no {metric} {where}", f"analytic source {self.name}", remedy
        )

    def measure(self, metric: str, station: str, cls: str) -> Estimate:
        return Estimate.exact(self._row(self.metrics, metric, station, cls))

    def time(self, time: str, station: str, cls: str) -> Law:
        network = self.network
        for given, known in ((station, network.stations), (cls, network.classes)):
            if given and given not in known:
                raise SourceRefused(f"no {given!r}", f"analytic source {self.name}", meant(given, known))
        if not_mmm(network) is None and StationArrays([network]).fcfs:
            return self._closed_form(time)
        if time == "service_time":
            self.refuse(time, "ask for it of a model with one M/M/m station, or of a run")
        return RowLaw(
            lambda q: self._quantiles(time, station, cls, q),
            lambda metric: self._row(self.metrics, metric, station, cls),
            time,
            self.narrow,
        )

    def _quantiles(self, time: str, station: str, cls: str, levels: tuple[float, ...]) -> list[float]:
        found, metric = self.solved(levels), f"{time}_quantile"
        if metric not in found.frame["metric"]:
            said = f"quantiles of {time}: method {found.method} knows none"
            raise SourceRefused(
                said, f"analytic source {self.name}", "ask for its mean, or simulate the model (--simulated-model)"
            )
        return [self._row(found, metric, station, cls, q) for q in levels]

    def _closed_form(self, time: str) -> PhaseLaw:
        """M/M/m, FCFS: with probability C an exponential wait of rate m mu (1 - rho), then service. The same for every class."""
        read = StationArrays([self.network])
        q = MMm(read.total, read.mean_s, read.servers)
        if math.isnan(float(q.load[0])):
            self.refuse_value("the station is saturated: there is no steady state")
        waits, drain, mu = float(q.waits[0]), float(q.drain_per_s[0]), 1 / float(q.service_s[0])
        if time == "waiting_time":
            return phase_law(np.array([waits]), np.array([[0.0, drain]]), time, at_once=1 - waits)
        if time == "service_time":
            return phase_law(np.array([1.0]), np.array([[0.0, mu]]), time)
        return phase_law(np.array([waits, 1 - waits]), np.array([[0.0, drain, 0.0], [0.0, 0.0, mu]]), time)

    def convolution(self, a: Law, b: Law) -> Law:
        if isinstance(a, PhaseLaw) and isinstance(b, PhaseLaw):
            return summed(a, b)
        self.refuse("convolve of times without phases", "simulate, or give a model of one M/M/m station")

    @cached_property
    def chain(self) -> StateChain:
        try:
            return state_chain(self.network, self.most_open)
        except MethodRefused as error:
            raise SourceRefused(
                f"states: {error.value}", f"analytic source {self.name}", f"{error.remedy} (--simulated-model)"
            ) from None

    def states(self, function: StateFunction) -> Array:
        network = self.network
        counts = self.chain.busy if function.function == "busy" else self.chain.present
        for given, known, axis in ((function.station, network.stations, 1), (function.cls, network.classes, 2)):
            if given and given not in known:
                raise SourceRefused(f"no {given!r}", f"analytic source {self.name}", meant(given, known))
            if given:
                counts = counts.take([known.index(given)], axis=axis)
        return np.asarray(counts.sum(axis=(1, 2)))

    def named(self, flags: Flags) -> str:
        counts = self.chain.present[flags]
        rows = np.unique(counts.reshape(len(counts), -1), axis=0) if len(counts) else counts.reshape(0, 1)
        told = [f"{r[0]:g}" if len(r) == 1 else "(" + ", ".join(f"{x:g}" for x in r) + ")" for r in rows[:MOST_NAMED]]
        return "{" + ", ".join(told) + (f", … {len(rows)} in all" if len(rows) > MOST_NAMED else "") + "}"

    def occupancy(self, observed: Flags) -> Estimate:
        return Estimate.exact(float(self.chain.law[observed].sum()))

    def _later(self, time_s: float, start: Flags) -> Array:
        return self.chain.later(self.chain.begin(start, "entering"), time_s)

    def state_probabilities(self, time_s: float | None, start: Flags | None) -> tuple[Array, Array, Array]:
        law = self.chain.law if time_s is None or start is None else self._later(time_s, start)
        return law, law, law

    def at_time(self, observed: Flags, time_s: float, start: Flags) -> Estimate:
        return Estimate.exact(float(self._later(time_s, start)[observed].sum()))

    def distribution(self, values: Array, over: Flags | None) -> Law:
        law = self.chain.law if over is None else np.where(over, self.chain.law, 0.0)
        if not law.sum() > 0:
            raise SourceRefused(
                "distribution over no state", f"analytic source {self.name}", "choose another set of states"
            )
        return DiscreteLaw(values, law / law.sum())

    def passage(self, start: Flags, target: Flags, excluded: Flags | None, mode: str) -> Law:
        return self.chain.passage(start, target, excluded, mode)

    def rate(self, events: Events) -> Estimate:
        answered = self._row(self.metrics, "throughput", "", events.cls)
        if events.event == "answered":
            return Estimate.exact(answered)
        lost = self._lost(events.cls)
        came = answered / (1 - lost) if lost < 1 else math.inf
        return Estimate.exact(came if events.event == "arrivals" else came * lost)

    def _lost(self, cls: str) -> float:
        rows = self.metrics.frame.filter(self.metrics.frame["metric"] == "loss_probability")
        return self._row(self.metrics, "loss_probability", "", cls) if rows.height else 0.0

    def share(self, part: Events, whole: Events) -> Estimate:
        return Estimate.exact(self.rate(part).value / self.rate(whole).value)


@dataclass(frozen=True)
class DiscreteLaw:
    """Values with probabilities."""

    values: Array
    law: Array

    def probability(self, span: Span) -> Estimate:
        return Estimate.exact(float(self.law[span.holds(self.values)].sum()))

    def quantile(self, q: float) -> Estimate:
        order = np.argsort(self.values)
        at = int(np.searchsorted(np.cumsum(self.law[order]), q))
        return Estimate.exact(float(self.values[order][min(at, len(order) - 1)]))

    def moment(self, order: int) -> Estimate:
        return Estimate.exact(float(self.law @ self.values**order))

    def deviation(self) -> Estimate:
        mean = self.law @ self.values
        return Estimate.exact(math.sqrt(float(self.law @ (self.values - mean) ** 2)))


@dataclass(frozen=True)
class RowLaw:
    """A time of which a method of `solve` gives mean, variance and quantiles: `quantiles(levels)` in s; `row(metric)`."""

    quantiles: Callable[[tuple[float, ...]], list[float]]
    row: Callable[[str], float]
    time: str
    narrow: float

    def quantile(self, q: float) -> Estimate:
        return Estimate.exact(self.quantiles((q,))[0])

    def probability(self, span: Span) -> Estimate:
        return Estimate.exact(max(self._below(span.high.value) - self._below(span.low.value), 0.0))

    def _below(self, t: float) -> float:
        """P(X <= t): the level whose quantile is t."""
        if t <= 0 or math.isinf(t):
            return 0.0 if t <= 0 else 1.0
        low, high, ends = 0.0, 1.0, (0.0, math.inf)
        while high - low > self.narrow:
            levels = np.linspace(low, high, LEVELS)
            times = np.array([ends[0], *self.quantiles(tuple(levels[1:-1].tolist())), ends[1]])
            at = min(max(int(np.searchsorted(times, t)), 1), LEVELS - 1)
            low, high, ends = levels[at - 1], levels[at], (times[at - 1], times[at])
        inside = (t - ends[0]) / (ends[1] - ends[0]) if ends[0] < ends[1] < math.inf else 0.5
        return float(low + (high - low) * min(max(inside, 0.0), 1.0))

    def moment(self, order: int) -> Estimate:
        mean = self.row(self.time)
        if order > 2:
            raise SourceRefused(f"moment {order} of {self.time}", "analytic source", "ask for 1 or 2, or simulate")
        return Estimate.exact(mean if order == 1 else self.row(f"{self.time}_variance") + mean**2)

    def deviation(self) -> Estimate:
        return Estimate.exact(math.sqrt(self.row(f"{self.time}_variance")))
