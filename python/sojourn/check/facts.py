"""What the laws are asked of: the figures of one observation, those that it does not say computed from its requests where it has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sojourn.readers import Observation, Requests
from sojourn.readers.observation import Array
from sojourn.stats.in_flight import in_flight

QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)


@dataclass(frozen=True)
class LoadFacts:
    """Figures of an observation in SI units; None where neither the file nor its requests say them."""

    of: Observation

    @property
    def requests(self) -> Requests | None:
        return self.of.requests

    @property
    def source(self) -> str:
        return self.of.label

    @cached_property
    def answered(self) -> int | None:
        """Well or badly."""
        if self.requests is not None:
            return self.requests.start_s.size + self.requests.left_out
        if self.of.completed is None:
            return None
        return self.of.completed + (self.of.failed or 0)

    @cached_property
    def failed(self) -> int | None:
        return int((~self.requests.ok).sum()) if self.requests is not None else self.of.failed

    @cached_property
    def length_s(self) -> float | None:
        if self.requests is not None:
            return float(self.requests.end_s.max() - self.requests.start_s[0]) or None
        return self.of.length_s

    @cached_property
    def rate_per_s(self) -> float | None:
        """Answers, well or badly."""
        if self.requests is not None and self.length_s:
            return self.requests.start_s.size / self.length_s
        if self.answered and self.length_s and self.of.tool == "bombardier":  # its rate is none of these requests
            return self.answered / self.length_s
        return self.of.throughput_per_s

    @cached_property
    def sent_s(self) -> float | None:
        """From the first request to the last, whose answer may come much later; of figures alone the length of the load."""
        return float(np.ptp(self.requests.start_s)) or None if self.requests is not None else self.length_s

    @cached_property
    def sent_per_s(self) -> float | None:
        """Requests a second in that time; of figures alone the rate of answers."""
        if self.requests is None:
            return self.rate_per_s
        return (self.requests.start_s.size - 1) / self.sent_s if self.sent_s else None

    @cached_property
    def mean_s(self) -> float | None:
        return self._of_requests("mean") if self.requests is not None else self.of.mean_s

    @cached_property
    def most_s(self) -> float | None:
        return self._of_requests("max") if self.requests is not None else self.of.most_s

    @cached_property
    def quantiles(self) -> Mapping[float, float]:
        if self.requests is None:
            return self.of.quantiles
        return dict(zip(QUANTILES, map(float, np.quantile(self.requests.response_s, QUANTILES)), strict=True))

    @cached_property
    def present(self) -> tuple[Array, Array]:
        """(times, number of requests in flight from then on); of single requests."""
        assert self.requests is not None
        times, steps = in_flight(self.requests.start_s, self.requests.end_s, answers_first=True)
        return times, np.cumsum(steps)

    def _of_requests(self, what: str) -> float:
        assert self.requests is not None
        return float(getattr(self.requests.response_s, what)())
