"""A fitted model as a source: what the model says, with the interval of its fit.

Two things are drawn together, as in `fit.predict_model`: the unknowns (refits of the fit), and one factor on all demands, the model's
own error, which grows beyond what was fitted. What a single run differs by from its mean is not in it: a query asks what holds in
the long run. That all demands are f times as long is the same model at f times the rate and 1/f of the think times, its times f
times as long.

Of a fit with alternatives each of its models has its share of the draws, and a value is the median of all: the mixture of predictions.
What an alternative cannot tell (a station, a quantile, states) is of the others.

At a draw that saturates times and numbers present are infinite, but a throughput is not: of one class that arrives it is what the
bottleneck lets through, the saturation rate, and stations are as busy as that makes them (flow balance: Lazowska et al., Quantitative
System Performance (1984), 3.5). What of several classes comes through depends on the order of service, and is refused.

Limits: `DRAWS` of the fit's draws; probabilities of states are those of the named model. Arrivals that are no rate and think times
that are no number cannot be scaled: then the interval holds the unknowns alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sojourn.errors import MethodRefused, SojournError, SourceRefused
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.model_averaging import shared
from sojourn.fit.model_evaluation import loads
from sojourn.model import Closed, Model, Open
from sojourn.model.unknown_parameters import replaced
from sojourn.query.sources.analytic import AnalyticSource, NoStationaryValue
from sojourn.query.sources.configured import configured
from sojourn.query.values import Array, Estimate, Events, Flags, Law, Span
from sojourn.solve.markov.stability import saturation
from sojourn.solve.open.open_rates import TrafficSolution
from sojourn.table import UNITS
from sojourn.units import USUAL_LEVEL

DRAWS = 40
TAILS = ((1 - USUAL_LEVEL) / 2, (1 + USUAL_LEVEL) / 2)
COARSE = 1e-3  # of a probability that is searched for in each draw
FLOWS = ("throughput", "utilisation")  # finite beyond saturation
NEAR_FULL = 1 - 1e-9  # of the saturation rate
POWERS = {"s": 1, "1/s": -1, "1": 0, "s^2": 2}


class DrawnSource(NamedTuple):
    """A model at one draw, and how many times as long its times are; `own`: of the named model, and of no alternative."""

    source: AnalyticSource
    times: float
    own: bool


class FittedSource(AnalyticSource):
    """`values`: factors and paths, as `configured` takes them."""

    kind = "fitted"

    def __init__(self, fitted: FittedModel, values: Mapping[str, Any], name: str = "") -> None:
        own = fitted.at(values)
        assert isinstance(own, FittedModel), "made by a fit or read from a file"
        fitted = own
        models = len(fitted.weighted)
        known = name or fitted.model.name or "fitted"
        super().__init__(
            configured(fitted.model, values), f"{known}, averaged over {models} models" if models > 1 else known
        )
        self.fitted, self.values = fitted, values

    @cached_property
    def drawn(self) -> list[DrawnSource]:
        """The models at each draw, each as often as it has weight."""
        models = self.fitted.weighted
        found: list[DrawnSource] = []
        for number, ((_, model), count) in enumerate(zip(models, shared([w for w, _ in models], DRAWS), strict=True)):
            if number == 0:
                found += self._draws(model, count, own=True)
                continue
            with suppress(SojournError):  # it has no such path
                found += self._draws(model, count, own=False)
        return found

    def _draws(self, fitted: FittedModelData, count: int, own: bool) -> list[DrawnSource]:
        values = {name: value for name, value in self.values.items() if fitted.has(name)}
        found = []
        share = float(loads([configured(fitted.model, values).network])[0][0])
        longer = fitted.longer_at(self.values, share)
        for drawn, times in zip(fitted.draws[:count], longer[:count].tolist(), strict=True):
            numbers = dict(zip(fitted.paths, drawn.tolist(), strict=True))
            model = replaced(fitted.model, {path: value for path, value in numbers.items() if path not in values})
            faster = _faster(configured(model, values), times)
            source = AnalyticSource(faster or configured(model, values), self.name)
            source.narrow = COARSE
            found.append(DrawnSource(source, times if faster else 1.0, own))
        return found

    @property
    def averaged(self) -> bool:
        return bool(self.fitted.alternatives)

    def _spread(self, base: Estimate, of: Callable[[AnalyticSource, float], float], flow: bool = False) -> Estimate:
        """The value of the fit with the quantiles of the draws; one that saturates is beyond all, but as a `flow`."""
        found = []
        for source, times, own in self.drawn:
            try:
                found.append(of(source, times))
            except NoStationaryValue:
                found.append(of(self._at_its_limit(source), times) if flow else math.inf)
            except SourceRefused:
                if own:
                    found.append(math.inf)
        return spread(base.value, found, self.averaged)

    def _at_its_limit(self, source: AnalyticSource) -> AnalyticSource:
        """A model that saturates with as much as it lets through. Raises SourceRefused where several classes arrive."""
        one = source.model.classes[0]
        if len(source.model.classes) > 1 or not isinstance(one, Open):
            raise SourceRefused(
                "some of the fit's draws saturate; the throughput of several classes is then unknown",
                self.name,
                "use a lower load, or simulate the model (--simulated-model)",
            )
        network = source.model.network
        held = saturation(network)
        most = min(float(TrafficSolution.of([network]).saturation[0]), math.inf if held is None else held.rate_per_s)
        return AnalyticSource(replaced(source.model, {f"classes.{one.name}.rate_per_s": most * NEAR_FULL}), self.name)

    def measure(self, metric: str, station: str, cls: str) -> Estimate:
        power = POWERS[UNITS[metric]]
        base = super().measure(metric, station, cls)
        return self._spread(
            base, lambda one, times: one.measure(metric, station, cls).value * times**power, metric in FLOWS
        )

    def time(self, time: str, station: str, cls: str) -> Law:
        return self._law(super().time(time, station, cls), lambda one: one.time(time, station, cls))

    def _law(self, base: Law, of: Callable[[AnalyticSource], Law], power: int = 1) -> Law:
        laws = []
        for source, times, own in self.drawn:
            try:
                laws.append(DrawnLaw(of(source), times**power, own))
            except SourceRefused as error:
                beyond = own or isinstance(error, NoStationaryValue)
                laws.append(DrawnLaw(None, 1.0, own, left_out=not beyond))
        return FittedLaw(base, laws, self.averaged)

    def convolution(self, a: Law, b: Law) -> Law:
        if not isinstance(a, FittedLaw) or not isinstance(b, FittedLaw):
            return super().convolution(a, b)
        both = []
        for x, y in zip(a.drawn, b.drawn, strict=True):
            law = None if x.law is None or y.law is None else super().convolution(x.law, y.law)
            both.append(DrawnLaw(law, x.times, x.own, x.left_out or y.left_out))
        return FittedLaw(super().convolution(a.base, b.base), both, self.averaged)

    def rate(self, events: Events) -> Estimate:
        base = super().rate(events)
        if events.event == "arrivals" and all(isinstance(one, Open) for one in self.model.classes):
            return base  # whatever becomes of them
        return self._spread(base, lambda one, times: one.rate(events).value / times, events.event == "answered")

    def share(self, part: Events, whole: Events) -> Estimate:
        return self._spread(super().share(part, whole), lambda one, _: one.share(part, whole).value)

    def _same(self, one: AnalyticSource) -> AnalyticSource:
        """A draw whose chain has the states of this one, in its order."""
        one.most_open = self.chain.most_open
        try:
            same = np.array_equal(one.chain.present, self.chain.present)
        except MethodRefused as error:  # pragma: no cover - the chain itself tells it as SourceRefused
            raise SourceRefused(error.value, self.name, error.remedy) from None
        if not same:
            self.refuse("states of the fit's draws", "use the model without its fit: sojourn.query with a Model")
        return one

    def occupancy(self, observed: Flags) -> Estimate:
        return self._spread(super().occupancy(observed), lambda one, _: self._same(one).occupancy(observed).value)

    def at_time(self, observed: Flags, time_s: float, start: Flags) -> Estimate:
        base = super().at_time(observed, time_s, start)
        return self._spread(base, lambda one, times: self._same(one).at_time(observed, time_s / times, start).value)

    def distribution(self, values: Array, over: Flags | None) -> Law:
        return self._law(super().distribution(values, over), lambda one: self._same(one).distribution(values, over), 0)

    def passage(self, start: Flags, target: Flags, excluded: Flags | None, mode: str) -> Law:
        base = super().passage(start, target, excluded, mode)
        return self._law(base, lambda one: self._same(one).passage(start, target, excluded, mode))

    def state_probabilities(self, time_s: float | None, start: Flags | None) -> tuple[Array, Array, Array]:
        law = super().state_probabilities(time_s, start)[0]
        laws = [
            self._same(one).state_probabilities(None if time_s is None else time_s / times, start)[0]
            for one, times, own in self.drawn
            if own
        ]
        low, high = np.quantile(laws, TAILS, axis=0)
        return law, np.minimum(low, law), np.maximum(high, law)


class DrawnLaw(NamedTuple):
    """The law of a draw, None where it saturates and is beyond all, and how many times as long it is; `left_out`: an alternative
    that cannot tell it."""

    law: Law | None
    times: float
    own: bool
    left_out: bool = False


@dataclass(frozen=True)
class FittedLaw:
    """The law of the fit, and of its draws."""

    base: Law
    drawn: Sequence[DrawnLaw]
    averaged: bool = False

    def _spread(self, value: float, of: Callable[[Law, float], float], beyond: float = math.inf) -> Estimate:
        found = []
        for law, times, own, left_out in self.drawn:
            if left_out:
                continue
            try:
                found.append(beyond if law is None else of(law, times))
            except NoStationaryValue:
                found.append(beyond)
            except SourceRefused:
                if own:
                    raise
        return spread(value, found, self.averaged)

    def probability(self, span: Span) -> Estimate:
        def scaled(law: Law, times: float) -> float:
            low, high = (Estimate.exact(end.value / times) for end in (span.low, span.high))
            return law.probability(Span(low, high, span.closed)).value

        beyond = 0.0 if math.isfinite(span.high.value) else 1.0
        return self._spread(self.base.probability(span).value, scaled, beyond)

    def quantile(self, q: float) -> Estimate:
        return self._spread(self.base.quantile(q).value, lambda law, times: law.quantile(q).value * times)

    def moment(self, order: int) -> Estimate:
        return self._spread(self.base.moment(order).value, lambda law, times: law.moment(order).value * times**order)

    def deviation(self) -> Estimate:
        return self._spread(self.base.deviation().value, lambda law, times: law.deviation().value * times)


def spread(value: float, drawn: Sequence[float], averaged: bool = False) -> Estimate:
    """`value` with the interval of the draws, no nearer to each other than to hold it; `averaged`: their median
    takes its place, where it is a number."""
    low, middle, high = np.quantile(drawn, [TAILS[0], 0.5, TAILS[1]], method="nearest")
    if np.allclose(drawn, value, rtol=1e-9, atol=0):  # what no unknown changes, such as the throughput of an open class
        return Estimate.exact(value)
    if averaged and math.isfinite(middle):
        value = float(middle)
    return Estimate(value, min(float(low), value), max(float(high), value))


def _faster(model: Model, times: float) -> Model | None:
    """The model with `times` the rates and 1/`times` of the think times; None where one of them is no number."""
    faster = {}
    for cls in model.classes:
        if isinstance(cls, Open) and isinstance(cls.rate_per_s, int | float):
            faster[f"classes.{cls.name}.rate_per_s"] = cls.rate_per_s * times
        elif isinstance(cls, Closed) and isinstance(cls.think_s, int | float):
            faster[f"classes.{cls.name}.think_s"] = cls.think_s / times
        else:
            return None
    return replaced(model, faster)
