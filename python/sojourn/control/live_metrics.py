"""What a live service says of itself, as windows that a policy sees.

The service's `/metrics` (OpenMetrics) has sums since its start on its own monotonic clock; a window is the difference of two readings, so
means are exact and a step of the wall clock changes nothing. Readings that break a law that sums obey whatever the load are
no measurement: requests present = arrivals - departures (exactly), busy servers <= servers and <= requests present, and
the time present = that of those who have left + the ages of those who have not (Little's law over a finite time).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields

from sojourn.control.decision import Seen
from sojourn.errors import InputError, ServiceError
from sojourn.live_service.metric_series import MetricSeries, MetricsError, page, totals

PREFIX = "sojourn_web_"
OWN = (
    "a URL is that of sojourn's web shop, started with --mean-backend-ms; for a service of your own give a file, service.toml: "
    "docs/howto/control-capacity.md"
)
SUMS = (
    "arrivals", "departures", "refused", "busy_seconds", "worker_seconds", "present_seconds", "response_seconds",
)  # fmt: skip
ROUNDING = 1e-6  # of sums of times


class RestartedError(MetricsError):
    """The sums begin anew: windows do, too."""


@dataclass(frozen=True)
class MetricsReading:
    """Sums since the service's start (times in s) and what it is now; `clock_seconds` is the service's monotonic clock."""

    clock_seconds: float
    arrivals: float
    departures: float
    refused: float
    busy_seconds: float
    worker_seconds: float
    present_seconds: float
    response_seconds: float
    workers: float
    cap: float
    waiting: float
    in_service: float

    def since(self, before: MetricsReading, elapsed_s: float | None = None) -> Seen:
        """The window between two readings. MetricsError where it is none."""
        return window(before, self, elapsed_s)


SERIES = {
    field.name: MetricSeries(PREFIX + field.name + ("_total" if field.name in SUMS else ""), {})
    for field in fields(MetricsReading)
}


@dataclass(frozen=True)
class LiveMetrics:
    """Of the service at `url`, http://HOST:PORT; a reading takes at most about `timeout_s`."""

    url: str
    timeout_s: float = 1.0

    def text(self) -> str:
        """The page. ServiceError: nobody answers, or it is not one."""
        return page(f"{self.url.rstrip('/')}/metrics", self.timeout_s, OWN)

    def check(self) -> None:
        """That it is the web shop. InputError, ServiceError."""
        if missing := lacking(totals(self.text(), SERIES)):
            raise InputError(f"its page of metrics has no {missing}", self.url, OWN)

    def read(self) -> MetricsReading:
        """Raises MetricsError."""
        begin = time.monotonic()
        try:
            found = parsed(self.text())
        except ServiceError as error:
            raise MetricsError(f"metrics are lost: {error.value}") from None
        if (took := time.monotonic() - begin) > 2 * self.timeout_s:
            raise MetricsError(f"metrics are late: they took {took:.1f} s")
        return found

    def socket(self) -> str:
        """The control socket that the service names; InputError where it has none."""
        for line in self.text().splitlines():
            if line.startswith(f'{PREFIX}control{{socket="'):
                return line.split('"')[1]
        raise InputError("no control socket", self.url, "start the service with --control PATH")


def lacking(values: Mapping[str, float]) -> str | None:
    """The first series that a page of metrics should have and has not."""
    return next((str(series) for name, series in SERIES.items() if name not in values), None)


def parsed(text: str) -> MetricsReading:
    """A reading from OpenMetrics text. MetricsError: a figure is missing or no number >= 0, or they cannot all be true."""
    values = totals(text, SERIES)
    if missing := lacking(values):
        raise MetricsError(f"{missing} is missing")
    found = MetricsReading(**values)
    if found.arrivals - found.departures != found.waiting + found.in_service:
        raise MetricsError(
            f"arrivals {found.arrivals:g} - departures {found.departures:g} are not the "
            f"{found.waiting + found.in_service:g} present"
        )
    rounding = ROUNDING * (1 + found.present_seconds)
    if found.busy_seconds > found.present_seconds + rounding:
        raise MetricsError(f"busy_seconds {found.busy_seconds:g} above present_seconds {found.present_seconds:g}")
    ages = found.present_seconds - found.response_seconds  # of those present, none older than the service
    if not -rounding <= ages <= (found.waiting + found.in_service) * found.worker_seconds + rounding:
        raise MetricsError(
            f"present_seconds {found.present_seconds:g} do not match response_seconds {found.response_seconds:g}"
        )
    return found


def window(before: MetricsReading, after: MetricsReading, elapsed_s: float | None = None) -> Seen:
    """The window between two readings; `elapsed_s` by our own clock, where known. MetricsError where it is none."""
    length = after.clock_seconds - before.clock_seconds
    if length <= 0:
        raise MetricsError(f"the service's clock went on by {length:g} s")
    if elapsed_s is not None and abs(length - elapsed_s) > 0.5 * elapsed_s + 0.5:
        raise MetricsError(f"the service's clock went on by {length:g} s within {elapsed_s:g} s")
    change = {name: getattr(after, name) - getattr(before, name) for name in SUMS}
    if fell := next((name for name in SUMS if change[name] < -ROUNDING), None):
        raise RestartedError(f"{fell} fell by {-change[fell]:g}: the service has restarted")
    present, came = before.waiting + before.in_service, change["arrivals"]
    for name, most in (
        ("busy_seconds", min(change["present_seconds"], change["worker_seconds"])),
        ("present_seconds", (present + came) * length),
    ):
        if change[name] > most * (1 + ROUNDING) + ROUNDING:
            raise MetricsError(f"{name} rose by {change[name]:g} in {length:g} s, where at most {most:g} can be")
    workers = int(after.workers)
    busy = change["busy_seconds"] / change["worker_seconds"] if change["worker_seconds"] > 0 else 0.0
    departed = change["departures"]
    return Seen(
        window_end_s=after.clock_seconds, window_s=length, workers=workers, ready_workers=workers,
        rate_per_s=(came + change["refused"]) / length, throughput_per_s=departed / length,
        utilisation=min(busy, 1.0), in_system=change["present_seconds"] / length, waiting=after.waiting,
        response_s=change["response_seconds"] / departed if departed else None, cap=int(after.cap),
    )  # fmt: skip
