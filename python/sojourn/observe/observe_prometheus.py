"""Windows of a service from the counters that a Prometheus server has of it, no load test and no log.

Rates are the server's own `rate()`, which takes a counter that begins again for what it is, over the window itself. A window that lacks
more than a tenth of the samples of the others with as many series is left out: scrapes that failed, a target that was gone for a
part of it. A target that is gone for a whole window cannot be told from one that was taken away, so it is said where the number of series
changes. A mean response time is the rate of the sum of times over that of their number, which a native histogram has too; nothing here
is made of quantiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import InputError
from sojourn.observe.observe_files import ObservedService, observed_service
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow, check_length
from sojourn.observe.prometheus_http import PrometheusServer, window_ends
from sojourn.observe.series_map import ClassSeries, ResourceSeries, SeriesMap

Array = NDArray[np.float64]
COVERED = 0.9  # of the samples that other windows have
CLASSIC = "; of a classic histogram or a summary, give requests = NAME_count and seconds = NAME_sum"
LEAST_SAMPLES = 4.0  # of a series in a window, for a rate over nearly all of it


def observe_prometheus(
    server: PrometheusServer | str, series: SeriesMap, start_s: float, end_s: float, window_s: float = 300.0
) -> ObservedService:
    """Windows of `window_s` (s) between `start_s` and `end_s` (Unix time), as the map says.

    Raises:
        InputError: a selector finds nothing or is wrong, a window is shorter than four scrapes, or too few windows have answers.
        ServiceError: the server fails, or answers what it should not.
    """
    check_length(window_s)
    server = PrometheusServer.of(server) if isinstance(server, str) else server
    ends = window_ends(start_s, end_s, window_s)
    if not ends.size:
        raise InputError(f"{end_s - start_s:g} s", "time to observe", "give at least one whole window of time")
    seen = _Windows(server, ends, window_s)
    classes = {name: _class(seen, name, one) for name, one in series.classes.items()}
    capacity = {name: _cores(seen, name, one) for name, one in series.resources.items()}
    busy = {name: _busy(seen, name, one, capacity[name]) for name, one in series.resources.items()}
    known = np.all([~np.isnan(rate) for rate, _ in classes.values()], axis=0)
    for share in busy.values():
        known &= ~np.isnan(share)
    windows = [_window(i, ends, window_s, classes, busy) for i in np.flatnonzero(known)]
    found = observed_service(windows, {}, capacity, server.name)
    left = [f"{int((~known).sum())} of {len(ends)} windows are left out: a series has no or too few samples there"]
    said = (*(left if not known.all() else []), *seen.changes, *found.notes, *_beyond(busy))
    return replace(found, notes=said)


@dataclass(frozen=True)
class _Windows:
    """What a server says of windows that end at `ends_s`. `changes`: what to say of selectors whose number of series changes."""

    server: PrometheusServer
    ends_s: Array
    length_s: float
    changes: list[str] = field(default_factory=list)

    @property
    def over(self) -> str:
        return f"[{round(self.length_s * 1000)}ms]"

    def series(self, query: str) -> Array:
        return self.server.series(query, self.ends_s, self.length_s)

    def rate(self, place: str, selector: str, part: str = "") -> Array:
        """Of a counter, 1/s, all series of the selector together; NaN in windows with too few samples. `part`: of a native histogram, the
        function that gives its count or its sum."""
        samples = self.series(f"sum(count_over_time({selector}{self.over}))")
        count = self.series(f"count(count_over_time({selector}{self.over}))")
        _check_samples(samples / count, place, selector, self.length_s, CLASSIC if part else "")
        levels = np.unique(count[~np.isnan(count)])
        if (
            len(levels) > 1 and not place.endswith(".seconds") and part != "histogram_sum"
        ):  # of which the same was said of its requests
            self.changes.append(
                f"{place}: {levels[0]:g} to {levels[-1]:g} series, by window: where a target was there and not scraped for a whole window, "
                "the rate of that window is too low"
            )
        usual = np.full(len(count), np.nan)
        for level in levels:
            usual[count == level] = np.median(samples[count == level])
        rate = self.series(f"{part}(sum(rate({selector}{self.over})))")
        if part and np.isnan(rate).all():
            raise InputError(f"{selector} is no native histogram", place, CLASSIC.removeprefix("; "))
        return np.where(samples >= COVERED * usual, rate, np.nan)


def _window(
    i: np.intp, ends: Array, window_s: float, classes: Mapping[str, tuple[Array, Array]], busy: Mapping[str, Array]
) -> ObservedWindow:
    means = {name: _means(float(rate[i]), float(total[i])) for name, (rate, total) in classes.items()}
    shares = {name: min(max(float(share[i]), 0.0), 1.0) for name, share in busy.items()}
    return ObservedWindow(float(ends[i]) - window_s, window_s, means, shares)


def _means(rate_per_s: float, seconds_per_s: float) -> ClassMeans:
    response_s = seconds_per_s / rate_per_s if rate_per_s > 0 and seconds_per_s > 0 else None
    return ClassMeans(rate_per_s, response_s)


def _class(seen: _Windows, name: str, one: ClassSeries) -> tuple[Array, Array]:
    """Answers a second, and seconds of response time a second."""
    if one.histogram:
        place = f"classes.{name}.histogram"
        rate, total = (seen.rate(place, one.histogram, part) for part in ("histogram_count", "histogram_sum"))
    else:
        rate = seen.rate(f"classes.{name}.requests", one.requests)
        total = seen.rate(f"classes.{name}.seconds", one.seconds)
    total = total * one.unit_s
    return np.where(np.isnan(total), np.nan, rate), total


def _check_samples(samples: Array, place: str, selector: str, window_s: float, hint: str) -> None:
    if np.isnan(samples).all():
        remedy = f"mend the selector, or the times{hint}"
        raise InputError(f"{selector} has no sample between --from and --to", place, remedy)
    usual = float(np.nanmedian(samples))
    if usual < LEAST_SAMPLES:
        remedy = f"give --window {window_s * LEAST_SAMPLES / usual:.0f}s or longer"
        raise InputError(f"{usual:g} samples of {selector} in a window", place, remedy)


def _cores(seen: _Windows, name: str, one: ResourceSeries) -> float:
    if isinstance(one.cores, float):
        return one.cores
    found = seen.series(one.cores)
    known = found[~np.isnan(found)]
    if not known.size or known.max() != known.min() or known[0] <= 0:
        said = f"{one.cores} is {'nothing' if not known.size else f'{known.min():g} to {known.max():g}'}"
        raise InputError(said, f"resources.{name}.cores", "give the number, or a time in which it was the same")
    return float(known[0])


def _busy(seen: _Windows, name: str, one: ResourceSeries, cores: float) -> Array:
    """Share of the capacity in use."""
    if one.busy:
        return seen.rate(f"resources.{name}.busy", one.busy) / cores
    found = seen.series(f"avg(avg_over_time({one.gauge}{seen.over}))")
    if np.isnan(found).all():
        remedy = "mend the selector, or the times"
        raise InputError(f"{one.gauge} has no sample between --from and --to", f"resources.{name}.gauge", remedy)
    if np.nanmax(found) > 1.05:
        raise InputError(f"{np.nanmax(found):.4g}", f"resources.{name}.gauge", "give a share in [0, 1]: divide by 100")
    return found


def _beyond(busy: Mapping[str, Array]) -> list[str]:
    """What cannot be of a resource with so many cores."""
    return [
        f"{name} was busier than it can be, up to {np.nanmax(share):.2f} of its capacity: see `cores` in the map"
        for name, share in busy.items()
        if np.nanmax(share) > 1.05
    ]
