"""A request log and utilisation series, cut into windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sojourn.observe.load_feedback import ArrivalsByInFlight, closed_users, feedback, told, waiting
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow, check_count
from sojourn.observe.paced_arrivals import beyond_pace
from sojourn.observe.request_log import RequestLog
from sojourn.observe.utilisation_series import UtilisationSeries
from sojourn.stats.batch_means import batch_interval, rate_interval
from sojourn.units import USUAL_LEVEL

Array = NDArray[np.float64]
LEAST_REQUESTS = 10  # of a class, for a mean of its window


def log_windows(
    log: RequestLog, series: Sequence[UtilisationSeries], start_s: float, end_s: float, window_s: float
) -> tuple[list[ObservedWindow], Mapping[str, int], list[str]]:
    """Windows of `window_s` from `start_s` (Unix time) on, the whole ones before `end_s`; class → users of a load that waits for its
    answers, empty where it does not; and what else there is to say of that. A request belongs to the window in which it came. Raises
    InputError for too many windows."""
    count = max(int(check_count((end_s - start_s) / window_s + 1e-6, start_s, end_s)), 0)
    edges = start_s + window_s * np.arange(count + 1, dtype=np.float64)
    by_class = {name: _of(log, i) for i, name in enumerate(log.classes)}
    seen = {name: under_way(own, edges) for name, own in by_class.items()}
    feedbacks = {name: feedback(windows) for name, windows in seen.items()}
    likely = closed_users(feedbacks)
    beyond = {name: _beyond(by_class[name], edges, n) for name, n in likely.items()}
    users = {name: likely[name] for name in likely if name in waiting(beyond, len(feedbacks))}
    found = []
    for number, (at, end) in enumerate(pairwise(edges)):
        classes = {name: _means(own.between(at, end), at, window_s) for name, own in by_class.items()}
        for name, many in users.items():
            classes[name] = replace(classes[name], think_s=seen[name][number].think_s(many))
        busy: dict[str, float] = {}
        for one in series:
            busy |= one.over(at, end)
        found.append(ObservedWindow(float(at), window_s, classes, busy))
    return found, users, told(feedbacks, likely, users)


def _of(log: RequestLog, cls: int) -> RequestLog:
    if len(log.classes) == 1:
        return log
    own = log.of == cls
    return RequestLog(log.came_s[own], log.took_s[own], np.zeros(int(own.sum()), np.intp), (log.classes[cls],))


def _near(log: RequestLog, edges: Array) -> Iterator[tuple[Array, Array, float, float]]:
    """(came, took, start, end) window by window. Requests that came before and are under way still count: they are handed on from one to
    the next, so that one that took hours does not bring all that came since into each."""
    first = np.searchsorted(log.came_s, edges)
    still = np.flatnonzero(log.came_s[: first[0]] + log.took_s[: first[0]] > edges[0])
    for (low, high), (start_s, end_s) in zip(pairwise(first), pairwise(edges), strict=True):
        near = np.concatenate([still, np.arange(low, high)])
        yield log.came_s[near], log.took_s[near], float(start_s), float(end_s)
        still = near[log.came_s[near] + log.took_s[near] > end_s]


def under_way(log: RequestLog, edges: Array) -> list[ArrivalsByInFlight]:
    """Of the requests of one class, in windows between the `edges`."""
    return [ArrivalsByInFlight.of(*near) for near in _near(log, edges)]


def _beyond(log: RequestLog, edges: Array, users: int) -> float:
    """How much better so many users explain the log than a schedule, all windows together."""
    return sum(beyond_pace(*near, users) for near in _near(log, edges))


def _means(own: RequestLog, start_s: float, length_s: float) -> ClassMeans:
    count = len(own.came_s)
    if count < LEAST_REQUESTS:
        return ClassMeans(count / length_s, None)
    mean, low, high = batch_interval(own.took_s, USUAL_LEVEL)
    rate, rate_low, rate_high = rate_interval(own.came_s, start_s, start_s + length_s, USUAL_LEVEL)
    told = not np.isnan(low)
    known = not np.isnan(rate_low)
    return ClassMeans(
        rate, mean, low if told else None, high if told else None,
        rate_low if known else None, rate_high if known else None,
    )  # fmt: skip
