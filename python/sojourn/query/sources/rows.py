"""A table of Metrics as a source: its rows and no more, whoever made them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn

from sojourn.errors import NoSuchRow, SourceRefused
from sojourn.query.sources.source import Source
from sojourn.query.values import Estimate, Events, Law, Span
from sojourn.table import Metrics


class RowSource(Source):
    """`source` of its rows says what they are: an analytic row without an interval is exact, another's interval is not known."""

    kind = "Metrics"

    def __init__(self, metrics: Metrics, name: str = "") -> None:
        self.metrics, self.name = metrics, name or metrics.method or "Metrics"

    def row(self, metric: str, station: str, cls: str, q: float | None = None) -> Estimate:
        """Raises SourceRefused where there is no such row, or it has no value."""
        try:
            value = self.metrics.value(metric, station, cls, q)
            low, high = self.metrics.interval(metric, station, cls, q)
        except NoSuchRow as error:
            raise SourceRefused(f"{metric}: {error.value}", f"Metrics of {self.name}", error.remedy) from None
        if math.isnan(value):
            remedy = self.metrics.message or "its status says why"
            raise SourceRefused(f"{metric} has no value: {self.metrics.status}", f"Metrics of {self.name}", remedy)
        exact = low is None and high is None and set(self.metrics.frame["source"]) <= {"analytic", "published"}
        return Estimate.exact(value) if exact else Estimate.known(value, low, high)

    def measure(self, metric: str, station: str, cls: str) -> Estimate:
        return self.row(metric, station, cls)

    def time(self, time: str, station: str, cls: str) -> Law:
        return RowsLaw(self, time, station, cls)

    def rate(self, events: Events) -> Estimate:
        if events.event == "failed":
            self.refuse("rate of failed requests", "ask for errors")
        return self.row("arrival_rate" if events.event == "arrivals" else "throughput", "", events.cls)

    def share(self, part: Events, whole: Events) -> Estimate:
        if (part.event, whole.event) != ("failed", "arrivals"):
            self.refuse(f"share of {part} in {whole}", "ask for errors")
        return self.row("loss_probability", "", part.cls)


@dataclass(frozen=True)
class RowsLaw:
    """A time of which a table has mean, variance and some quantiles."""

    source: RowSource
    time: str
    station: str
    cls: str

    def quantile(self, q: float) -> Estimate:
        return self.source.row(f"{self.time}_quantile", self.station, self.cls, q)

    def moment(self, order: int) -> Estimate:
        if order != 1:
            self._refuse(f"moment {order}")
        return self.source.row(self.time, self.station, self.cls)

    def deviation(self) -> Estimate:
        found = self.source.row(f"{self.time}_variance", self.station, self.cls)
        return Estimate(*(math.sqrt(max(x, 0.0)) for x in (found.value, found.low, found.high)))

    def probability(self, span: Span) -> Estimate:
        self._refuse("probability")

    def _refuse(self, what: str) -> NoReturn:
        self.source.refuse(f"{what} of {self.time}", "use the model or the run from which the table was made")
