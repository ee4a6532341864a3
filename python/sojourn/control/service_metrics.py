"""Windows of a service of one's own, from the series that its file names.

What a page seldom has is reckoned: arrivals are departures + the growth of those present; the mean number present is that of both
ends of the window; without a sum of busy seconds the busy workers are min(present, workers) at both ends, as in a pool that serves
in order of arrival.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sojourn.control.decision import Seen
from sojourn.control.live_metrics import ROUNDING, RestartedError
from sojourn.errors import LabError, ServiceError
from sojourn.live_service.metric_series import MetricsError, page, totals
from sojourn.live_service.service_file import SINCE, ServiceFile


@dataclass(frozen=True)
class ServiceReading:
    """`sums` since the service's start, by name of `SINCE`; `workers`, `cap` as set (`cap` None: there is none); `ready`: workers that
    serve. `clock_seconds` is our monotonic clock."""

    clock_seconds: float
    sums: Mapping[str, float]
    in_system: float
    waiting: float
    workers: int
    ready: int
    cap: int | None

    def since(self, before: ServiceReading, elapsed_s: float | None = None) -> Seen:
        """The window between two readings. MetricsError where it is none; RestartedError where the service began anew."""
        length = self.clock_seconds - before.clock_seconds
        if length <= 0:
            raise MetricsError(f"the clock went on by {length:g} s")
        change = {name: at - before.sums.get(name, 0.0) for name, at in self.sums.items()}
        if fell := next((name for name in change if change[name] < -ROUNDING), None):
            raise RestartedError(f"{fell} fell by {-change[fell]:g}: the service has restarted")
        departed, grown = change["departures"], self.in_system - before.in_system
        return Seen(
            window_end_s=self.clock_seconds, window_s=length, workers=self.workers, ready_workers=self.ready,
            rate_per_s=(max(departed + grown, 0.0) + change.get("refused", 0.0)) / length,
            throughput_per_s=departed / length, utilisation=self._busy(before, change, length),
            in_system=(before.in_system + self.in_system) / 2, waiting=self.waiting,
            response_s=change["response_seconds"] / departed if departed else None, cap=self.cap,
        )  # fmt: skip

    def _busy(self, before: ServiceReading, change: Mapping[str, float], length_s: float) -> float:
        if not (servers := (before.ready + self.ready) / 2):
            return 0.0
        if "busy_seconds" in change:  # counted when a request ends, it may run ahead of a short window
            return min(change["busy_seconds"] / (servers * length_s), 1.0)
        return sum(min(one.in_system, one.ready) for one in (before, self)) / 2 / servers


class ServiceMetrics:
    """Of the service that `file` describes; `settings` tells what is set now, where the page does not."""

    def __init__(self, file: ServiceFile, settings: Callable[[], Mapping[str, int | str]]) -> None:
        self.file, self._settings = file, settings

    def text(self) -> str:
        """The page. ServiceError, InputError."""
        return page(self.file.table.metrics, self.file.table.timeout_s)

    def check(self) -> None:
        """That there is a page; a series may begin with the first request. InputError, ServiceError."""
        self.text()

    def read(self) -> ServiceReading:
        """Raises MetricsError."""
        begin = time.monotonic()
        try:
            found = totals(self.text(), self.file.series)
            at_s = (begin + time.monotonic()) / 2
            now = self._settings()
        except (ServiceError, LabError) as error:
            raise MetricsError(f"metrics are lost: {error.value}") from None
        if (took := time.monotonic() - begin) > 2 * self.file.table.timeout_s + self.file.commands_s:
            raise MetricsError(f"metrics are late: they took {took:.1f} s")
        # a counter of refusals begins with the first; a name that is wrong must not be read as idle workers
        if missing := next((name for name in self.file.series if name not in found and name != "refused"), None):
            place = f"[series] {missing} of {self.file.path.name}"
            raise MetricsError(f"{missing} is missing: the page has no {self.file.series[missing]} ({place})")
        workers = int(now.get("workers", found.get("workers", 0)))
        ready = int(found.get("workers", workers))
        present = found["in_system"]
        sums = {name: found.get(name, 0.0) for name in SINCE if name in self.file.series}
        waiting = found.get("waiting", max(present - ready, 0.0))
        cap = now.get("cap", found.get("cap"))
        return ServiceReading(at_s, sums, present, waiting, workers, ready, None if cap is None else int(cap))
