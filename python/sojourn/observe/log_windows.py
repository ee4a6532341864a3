"""A request log and utilisation series, cut into windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sojourn.observe.load_feedback import UnderWay, closed_users, feedback
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.observe.request_log import RequestLog
from sojourn.observe.utilisation_series import UtilisationSeries
from sojourn.stats.batch_means import batch_interval, rate_interval
from sojourn.units import USUAL_LEVEL

LEAST_REQUESTS = 10  # of a class, for a mean of its window


def log_windows(
    log: RequestLog, series: Sequence[UtilisationSeries], start_s: float, end_s: float, window_s: float
) -> tuple[list[ObservedWindow], Mapping[str, int]]:
    """Windows of `window_s` from `start_s` (Unix time) on, the whole ones before `end_s`; and class → users of a load that waits for its
    answers, empty where it does not. A request belongs to the window in which it came."""
    starts = start_s + window_s * np.arange(int((end_s - start_s) / window_s + 1e-9))
    by_class = {name: _of(log, i) for i, name in enumerate(log.classes)}
    under_way = {name: [_under_way(own, at, at + window_s) for at in starts] for name, own in by_class.items()}
    users = closed_users({name: feedback(seen) for name, seen in under_way.items()})
    found = []
    for number, at in enumerate(starts):
        classes = {name: _means(own.between(at, at + window_s), at, window_s) for name, own in by_class.items()}
        for name, count in users.items():
            classes[name] = replace(classes[name], think_s=under_way[name][number].think_s(count))
        busy: dict[str, float] = {}
        for one in series:
            busy |= one.over(at, at + window_s)
        found.append(ObservedWindow(float(at), window_s, classes, busy))
    return found, users


def _of(log: RequestLog, cls: int) -> RequestLog:
    own = log.of == cls
    return RequestLog(log.came_s[own], log.took_s[own], np.zeros(int(own.sum()), np.intp), (log.classes[cls],))


def _under_way(log: RequestLog, start_s: float, end_s: float) -> UnderWay:
    """Requests that came before and are under way still count; what is none of the window's is left out first."""
    longest = float(log.took_s.max(initial=0.0))
    near = log.between(start_s - longest, end_s)
    return UnderWay.of(near.came_s, near.took_s, start_s, end_s)


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
