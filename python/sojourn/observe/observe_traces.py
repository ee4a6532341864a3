"""Traces and utilisation series → windows as run folders, and a model whose stations and visits are those of the traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sojourn.errors import InputError
from sojourn.model import Model, Queue
from sojourn.observe.first_model import classes_of, watched_queue
from sojourn.observe.log_windows import log_windows
from sojourn.observe.observe_files import ObservedService, observed_service, observed_span
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow, check_length
from sojourn.observe.request_log import RequestLog, read_log_or_series, together
from sojourn.observe.utilisation_series import read_utilisation
from sojourn.traces import ObservedTraces, is_trace_file, read_traces


def observe_traces(
    paths: Sequence[Path | str],
    *,
    sampled: float | None = None,
    alike: bool = False,
    window_s: float = 60.0,
    start_s: float | None = None,
    end_s: float | None = None,
    capacity: Mapping[str, float] | None = None,
) -> tuple[ObservedTraces, ObservedService]:
    """Traces with utilisation series and request logs (CSV). Without a request log the requests are those of the traces: of a sample their
    rates are over the share that was kept. Arguments as of `observe_files` and `read_traces`.

    Raises:
        InputError: a file is none of these, the classes of a request log are others than those of the traces, too few windows have answers.
    """
    check_length(window_s)
    seen = read_traces([path for path in paths if is_trace_file(path)], sampled, same_time_per_visit=alike)
    logs, series = [], []
    for path in (Path(path) for path in paths if not is_trace_file(path)):
        found = read_log_or_series(path)
        if isinstance(found, RequestLog):
            logs.append(found)
        else:
            series.append(read_utilisation(path, found))
    log, kept = (together(logs), 1.0) if logs else _requests(seen)
    if unknown := set(log.classes) - set(seen.classes):
        remedy = f"name the classes of the request log as the traces do: {', '.join(seen.classes)}"
        raise InputError(f"class {sorted(unknown)[0]!r}", "request log", remedy)
    first, last = float(log.came_s[0]), float(log.came_s[-1])
    start, end = observed_span(start_s, end_s, first, last)
    windows, users, more = log_windows(log, series, start, end, window_s)
    if kept < 1.0:  # a sample does not show whether its load waited for answers
        windows, users, more = [_all_requests(one, kept) for one in windows], {}, []
    source = ", ".join(Path(path).name for path in paths)
    service = observed_service(windows, users, capacity or {}, source, more)
    return seen, replace(service, model=trace_model(seen, service.used, users, capacity or {}))


def _requests(seen: ObservedTraces) -> tuple[RequestLog, float]:
    """The requests of the traces, and with which probability one of them was kept; InputError where that is not the same for all."""
    given = seen.requests
    if not len(given.came_s):
        raise InputError("no request with times", "traces", "give a request log beside them")
    kept = float(given.probability.min())
    if float(given.probability.max()) - kept > 1e-9:
        remedy = "give a request log beside them: arrival_s,response_s,class"
        raise InputError("traces that were kept with unequal probabilities tell no rate of a window", "traces", remedy)
    return RequestLog(given.came_s, given.took_s, given.of, given.classes), kept


def _all_requests(window: ObservedWindow, kept: float) -> ObservedWindow:
    return replace(window, classes={name: _scaled(one, 1.0 / kept) for name, one in window.classes.items()})


def _scaled(one: ClassMeans, by: float) -> ClassMeans:
    def of(value: float | None) -> float | None:
        return None if value is None else value * by

    return replace(
        one, rate_per_s=one.rate_per_s * by, rate_low_per_s=of(one.rate_low_per_s), rate_high_per_s=of(one.rate_high_per_s), think_s=None
    )  # fmt: skip


def trace_model(
    seen: ObservedTraces, windows: Sequence[ObservedWindow], users: Mapping[str, int], capacity: Mapping[str, float]
) -> Model:
    """Stations and visits of the traces; classes, and how a run sets them, of the windows."""
    classes, factors = classes_of(windows, users)
    names = {one.name for one in classes}
    part = {
        table: {
            station: own for station, by in getattr(seen.model, table).items()
            if (own := {cls: value for cls, value in by.items() if cls in names})
        }
        for table in ("service_s", "visits")
    }  # fmt: skip
    watched = [name for name in windows[0].busy if all(name in one.busy for one in windows)]
    stations = [
        watched_queue(one.name, servers) if one.name in watched else Queue(one.name, servers, "ps")
        for one in seen.model.stations
        if one.name in part["service_s"]
        for servers in [max(round(capacity.get(one.name, 1.0)), 1)]
    ]
    return Model(
        stations,
        classes,
        service_s=part["service_s"],
        visits=part["visits"],
        parameters=seen.model.parameters,
        factors=factors,
        name="traces",
    )
