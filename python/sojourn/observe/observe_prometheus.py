"""Windows of a service from the counters that a Prometheus server has of it, no load test and no log.

Rates are the server's own `rate()`, which takes a counter that begins again for what it is, over the window itself. A window that lacks
more than a tenth of the samples of the others (a scrape that failed, a target that was gone) is left out. A mean response time is
the rate of the sum of times over that of their number; nothing here is made of quantiles.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import InputError
from sojourn.observe.observe_files import Observation, observation
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.observe.prometheus_http import PrometheusServer, window_ends
from sojourn.observe.series_map import ClassSeries, ResourceSeries, SeriesMap

Array = NDArray[np.float64]
COVERED = 0.9  # of the samples that other windows have
LEAST_SAMPLES = 4.0  # of a series in a window, for a rate over nearly all of it


def observe_prometheus(
    server: PrometheusServer | str, series: SeriesMap, start_s: float, end_s: float, window_s: float = 300.0
) -> Observation:
    """Windows of `window_s` (s) between `start_s` and `end_s` (Unix time), as the map says.

    Raises:
        InputError: a selector finds nothing or is wrong, a window is shorter than four scrapes, or too few windows have answers.
        ServiceError: the server fails, or answers what it should not.
    """
    server = PrometheusServer.of(server) if isinstance(server, str) else server
    ends = window_ends(start_s, end_s, window_s)
    if not ends.size:
        raise InputError(f"{end_s - start_s:g} s", "--from", "give at least one whole window of time")
    classes = {name: _class(server, name, one, ends, window_s) for name, one in series.classes.items()}
    capacity = {name: _cores(server, name, one, ends, window_s) for name, one in series.resources.items()}
    busy = {name: _busy(server, name, one, capacity[name], ends, window_s) for name, one in series.resources.items()}
    known = np.all([~np.isnan(rate) for rate, _ in classes.values()], axis=0)
    for share in busy.values():
        known &= ~np.isnan(share)
    windows = [_window(i, ends, window_s, classes, busy) for i in np.flatnonzero(known)]
    found = observation(windows, {}, capacity, server.name)
    left = [f"{int((~known).sum())} of {len(ends)} windows are left out: a series has no or too few samples there"]
    return Observation(
        found.windows, found.users, found.capacity, found.source, found.model,
        (*(left if not known.all() else []), *found.notes, *_beyond(busy)),
    )  # fmt: skip


def _window(
    i: np.intp, ends: Array, window_s: float, classes: Mapping[str, tuple[Array, Array]], busy: Mapping[str, Array]
) -> ObservedWindow:
    means = {name: _means(float(rate[i]), float(total[i])) for name, (rate, total) in classes.items()}
    shares = {name: min(max(float(share[i]), 0.0), 1.0) for name, share in busy.items()}
    return ObservedWindow(float(ends[i]) - window_s, window_s, means, shares)


def _means(rate_per_s: float, seconds_per_s: float) -> ClassMeans:
    response_s = seconds_per_s / rate_per_s if rate_per_s > 0 and seconds_per_s > 0 else None
    return ClassMeans(rate_per_s, response_s)


def _class(server: PrometheusServer, name: str, one: ClassSeries, ends: Array, window_s: float) -> tuple[Array, Array]:
    """Answers a second, and seconds of response time a second."""
    rate = _rate(server, f"classes.{name}.requests", one.requests, ends, window_s)
    total = _rate(server, f"classes.{name}.seconds", one.seconds, ends, window_s) * one.unit_s
    return np.where(np.isnan(total), np.nan, rate), total


def _rate(server: PrometheusServer, place: str, selector: str, ends: Array, window_s: float) -> Array:
    """Of a counter, 1/s, all series of the selector together; NaN in windows with too few samples."""
    over = f"[{round(window_s * 1000)}ms]"
    samples = server.series(f"max(count_over_time({selector}{over}))", ends, window_s)
    _check_samples(samples, place, selector, window_s)
    rate = server.series(f"sum(rate({selector}{over}))", ends, window_s)
    return np.where(samples >= COVERED * np.nanmedian(samples), rate, np.nan)


def _check_samples(samples: Array, place: str, selector: str, window_s: float) -> None:
    if np.isnan(samples).all():
        raise InputError(f"{selector} has no sample between --from and --to", place, "mend the selector, or the times")
    usual = float(np.nanmedian(samples))
    if usual < LEAST_SAMPLES:
        remedy = f"give --window {window_s * LEAST_SAMPLES / usual:.0f}s or longer"
        raise InputError(f"{usual:g} samples of {selector} in a window", place, remedy)


def _cores(server: PrometheusServer, name: str, one: ResourceSeries, ends: Array, window_s: float) -> float:
    if isinstance(one.cores, float):
        return one.cores
    found = server.series(one.cores, ends, window_s)
    known = found[~np.isnan(found)]
    if not known.size or known.max() != known.min() or known[0] <= 0:
        said = f"{one.cores} is {'nothing' if not known.size else f'{known.min():g} to {known.max():g}'}"
        raise InputError(said, f"resources.{name}.cores", "give the number, or a time in which it was the same")
    return float(known[0])


def _busy(
    server: PrometheusServer, name: str, one: ResourceSeries, cores: float, ends: Array, window_s: float
) -> Array:
    """Share of the capacity in use."""
    if one.busy:
        return _rate(server, f"resources.{name}.busy", one.busy, ends, window_s) / cores
    over = f"[{round(window_s * 1000)}ms]"
    found = server.series(f"avg(avg_over_time({one.gauge}{over}))", ends, window_s)
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
