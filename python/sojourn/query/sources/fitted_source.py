"""A fitted model as a source: what the model says, with the interval of its fit.

Two things are drawn together, as in `fit.predict_model`: the unknowns (refits of the fit), and one factor on all demands, the model's
own error. What a single run differs by from its mean is not in it: a query asks what holds in the long run. That all demands are
f times as long is the same model at f times the rate and 1/f of the think times, its times f times as long.

Limits: `DRAWS` of the fit's draws; its alternatives, where it has some, are not averaged. Arrivals that are no rate and think times
that are no number cannot be scaled: then the interval holds the unknowns alone, and the source's name says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sojourn.errors import MethodRefused, SourceRefused
from sojourn.fit.fitted_model import FittedModel
from sojourn.model import Closed, Model, Open
from sojourn.model.unknown_parameters import replaced
from sojourn.query.sources.analytic import AnalyticSource
from sojourn.query.sources.configured import configured
from sojourn.query.values import Array, Estimate, Events, Flags, Law, Span
from sojourn.table import UNITS

DRAWS = 40
COARSE = 1e-3  # of a probability that is searched for in each draw
POWERS = {"s": 1, "1/s": -1, "1": 0, "s^2": 2}


class FittedSource(AnalyticSource):
    """`values`: factors and paths, as `configured` takes them."""

    kind = "fitted"

    def __init__(self, fitted: FittedModel, values: Mapping[str, Any], name: str = "") -> None:
        super().__init__(configured(fitted.model, values), name or fitted.model.name or "fitted")
        self.fitted, self.values = fitted, values

    @cached_property
    def drawn(self) -> list[tuple[AnalyticSource, float]]:
        """The model at each draw, and how many times as long its times are."""
        draws, longer = self.fitted.draws[:DRAWS], self.fitted.longer[:DRAWS]
        found = []
        for values, times in zip(draws, longer.tolist(), strict=True):
            drawn = dict(zip(self.fitted.paths, values.tolist(), strict=True))
            own = {path: value for path, value in drawn.items() if path not in self.values}
            model = replaced(self.fitted.model, own)
            faster = _faster(configured(model, self.values), times)
            source = AnalyticSource(faster or configured(model, self.values), self.name)
            source.narrow = COARSE
            found.append((source, times if faster else 1.0))
        return found

    def _spread(self, base: Estimate, of: Callable[[AnalyticSource, float], float]) -> Estimate:
        """The value of the fit with the quantiles of the draws; one that saturates is beyond all."""
        found = []
        for source, times in self.drawn:
            try:
                found.append(of(source, times))
            except SourceRefused:
                found.append(math.inf)
        return spread(base.value, found)

    def measure(self, metric: str, station: str, cls: str) -> Estimate:
        power = POWERS[UNITS[metric]]
        base = super().measure(metric, station, cls)
        return self._spread(base, lambda one, times: one.measure(metric, station, cls).value * times**power)

    def time(self, time: str, station: str, cls: str) -> Law:
        return self._law(super().time(time, station, cls), lambda one: one.time(time, station, cls))

    def _law(self, base: Law, of: Callable[[AnalyticSource], Law], power: int = 1) -> Law:
        laws: list[tuple[Law | None, float]] = []
        for source, times in self.drawn:
            try:
                laws.append((of(source), times**power))
            except SourceRefused:
                laws.append((None, 1.0))
        return FittedLaw(base, laws)

    def convolution(self, a: Law, b: Law) -> Law:
        if not isinstance(a, FittedLaw) or not isinstance(b, FittedLaw):
            return super().convolution(a, b)
        both: list[tuple[Law | None, float]] = []
        for (x, times), (y, _) in zip(a.drawn, b.drawn, strict=True):
            both.append((None if x is None or y is None else super().convolution(x, y), times))
        return FittedLaw(super().convolution(a.base, b.base), both)

    def rate(self, events: Events) -> Estimate:
        return self._spread(super().rate(events), lambda one, times: one.rate(events).value / times)

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
            self.refuse("states of the fit's draws", "ask the model without its fit: sojourn.query with a Model")
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
            for one, times in self.drawn
        ]
        low, high = np.quantile(laws, [0.025, 0.975], axis=0)
        return law, np.minimum(low, law), np.maximum(high, law)


@dataclass(frozen=True)
class FittedLaw:
    """The law of the fit, and of its draws, each with how many times as long it is (None: saturated, beyond all)."""

    base: Law
    drawn: Sequence[tuple[Law | None, float]]

    def _spread(self, value: float, of: Callable[[Law, float], float], beyond: float = math.inf) -> Estimate:
        return spread(value, [beyond if law is None else of(law, times) for law, times in self.drawn])

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


def spread(value: float, drawn: Sequence[float]) -> Estimate:
    """`value` with the 2.5 % and 97.5 % quantiles of the draws, no nearer to each other than to hold it."""
    low, high = np.quantile(drawn, [0.025, 0.975], method="nearest")
    if np.allclose(drawn, value, rtol=1e-9, atol=0):  # what no unknown changes, such as the throughput of an open class
        return Estimate.exact(value)
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
