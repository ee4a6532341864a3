"""A request log and utilisation series, cut into windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sojourn.observe.load_feedback import UnderWay, closed_users, feedback, sure, told
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.observe.paced_arrivals import beyond_pace
from sojourn.observe.request_log import RequestLog
from sojourn.observe.utilisation_series import UtilisationSeries
from sojourn.stats.batch_means import batch_interval, rate_interval
from sojourn.units import USUAL_LEVEL

LEAST_REQUESTS = 10  # of a class, for a mean of its window


def log_windows(
    log: RequestLog, series: Sequence[UtilisationSeries], start_s: float, end_s: float, window_s: float
) -> tuple[list[ObservedWindow], Mapping[str, int], list[str]]:
    """Windows of `window_s` from `start_s` (Unix time) on, the whole ones before `end_s`; class → users of a load that waits for its
    answers, empty where it does not; and what else there is to say of that. A request belongs to the window in which it came."""
    starts = np.asarray(start_s + window_s * np.arange(int((end_s - start_s) / window_s + 1e-9)), np.float64)
    by_class = {name: _of(log, i) for i, name in enumerate(log.classes)}
    under_way = {name: [_under_way(own, at, at + window_s) for at in starts] for name, own in by_class.items()}
    feedbacks = {name: feedback(seen) for name, seen in under_way.items()}
    likely = closed_users(feedbacks)
    users = {
        name: n for name, n in likely.items() if _beyond(by_class[name], starts, window_s, n) >= sure(len(feedbacks))
    }
    found = []
    for number, at in enumerate(starts):
        classes = {name: _means(own.between(at, at + window_s), at, window_s) for name, own in by_class.items()}
        for name, count in users.items():
            classes[name] = replace(classes[name], think_s=under_way[name][number].think_s(count))
        busy: dict[str, float] = {}
        for one in series:
            busy |= one.over(at, at + window_s)
        found.append(ObservedWindow(float(at), window_s, classes, busy))
    return found, users, told(feedbacks, likely, users)


def _of(log: RequestLog, cls: int) -> RequestLog:
    own = log.of == cls
    return RequestLog(log.came_s[own], log.took_s[own], np.zeros(int(own.sum()), np.intp), (log.classes[cls],))


def _near(log: RequestLog, start_s: float, end_s: float) -> RequestLog:
    """Requests that came before and are under way still count; what is none of the window's is left out."""
    longest = float(log.took_s.max(initial=0.0))
    return log.between(start_s - longest, end_s)


def _under_way(log: RequestLog, start_s: float, end_s: float) -> UnderWay:
    near = _near(log, start_s, end_s)
    return UnderWay.of(near.came_s, near.took_s, start_s, end_s)


def _beyond(log: RequestLog, starts: NDArray[np.float64], window_s: float, users: int) -> float:
    """How much better so many users explain the log than a schedule, all windows together."""
    gain = 0.0
    for at in starts:
        near = _near(log, at, at + window_s)
        gain += beyond_pace(near.came_s, near.took_s, at, at + window_s, users)
    return gain


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
