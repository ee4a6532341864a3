"""Slow seconds of a machine, as requests that came alone show them: how many times as long as at its best all times of a run were.

A virtual machine shares the hardware of its cores with others. For seconds at a time a request takes 1.4 to 1.7 times as long, of CPU
time too, and no counter of the guest says so. In recorded runs of eight services (docs/decisions/0047) that was so in up to 76 % of the
seconds at 14 to 40 % of saturation, and in up to 19 % at 60 and 80 %. A fit that takes slow seconds for the service's own work foretells
a saturation that comes too early.

Compared are medians of requests that nobody was beside, in windows of a quarter of a second; their lowest tenth is the best speed. What
the lowest tenth is by chance, as times of service differ by themselves, is known by shuffling requests over the windows (a permutation
test: E. J. G. Pitman: Significance Tests Which May be Applied to Samples from Any Populations. J. R. Statist. Soc. Suppl. 4(1), 1937,
pp. 119-130).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.runs.request_times import in_window, request_times
from sojourn.runs.run_folder import RunFolder

Array = NDArray[np.float64]
WINDOW_S, LEAST_ALONE, MOST_ALONE, LEAST_WINDOWS = 0.25, 5, 20, 20  # of requests in a window the first ones are enough
BEST, SHUFFLES = 0.1, 19  # the share of windows that are the best; by chance one set of runs in 20 is taken for slow
MOSTLY = 0.5  # of the time of a request that is alone, from which on it is CPU time
TOLD, MOST_TOLD = 1.05, 5  # slowness that is told of; runs that are named


@dataclass(frozen=True)
class UncontendedRequests:
    """Of n requests that had the service for themselves: from sent to answered, s, and the number of the window that each was sent in."""

    times_s: Array
    window: NDArray[np.intp]

    def medians(self, times_s: Array | None = None) -> Array:
        """Of each window in which enough came, s, of two in the middle the longer; `times_s` (n) in place of its own."""
        times = self.times_s if times_s is None else times_s
        counts = np.bincount(self.window)
        middle = np.cumsum(counts) - counts + counts // 2
        return np.asarray(times[np.lexsort((times, self.window))][middle[counts >= LEAST_ALONE]])

    def relative(self) -> UncontendedRequests:
        """By the median of their window, of those windows that have one: what times of service differ by themselves."""
        enough = np.bincount(self.window) >= LEAST_ALONE
        median_s = np.ones(len(enough))
        median_s[enough] = self.medians()
        own = enough[self.window]
        return UncontendedRequests((self.times_s / median_s[self.window])[own], self.window[own])


def alone_times(folder: RunFolder) -> UncontendedRequests | None:
    """Of the window of a run; None without records. Raises as `RunFolder.frame` does."""
    seen = request_times(folder, ("sent_s", "end_s", "failure")) if folder.has("requests") else None
    window = folder.manifest.get("window_s")
    if seen is None or window is None or not {"sent_s", "end_s", "failure"} <= set(seen.columns):
        return None
    seen = in_window(seen, (window[0], window[1])).filter(pl.col("sent_s").is_finite()).sort("sent_s")
    if seen.is_empty():
        return None
    sent_s, done_s = (seen[name].to_numpy() for name in ("sent_s", "end_s"))
    return alone(sent_s, done_s, (seen["failure"].fill_null(0) == 0).to_numpy())


def alone(sent_s: Array, done_s: Array, succeeded: NDArray[np.bool_]) -> UncontendedRequests:
    """Of n requests in the order in which they were sent: those that succeeded, with no other one between sent and done; of each window the
    first `MOST_ALONE`."""
    done_s = np.where(np.isfinite(done_s), done_s, sent_s)
    before = np.concatenate([[True], sent_s[1:] > np.maximum.accumulate(done_s)[:-1]])
    after = np.concatenate([sent_s[1:] > done_s[:-1], [True]])
    own = before & after & succeeded
    window = ((sent_s - sent_s[0])[own] / WINDOW_S).astype(np.intp)
    some = np.arange(len(window)) - np.searchsorted(window, window) < MOST_ALONE
    return UncontendedRequests((done_s - sent_s)[own][some], window[some])


def slowness(runs: Sequence[UncontendedRequests], seed: int = 1) -> Array:
    """Of each run, by how many times longer its requests took than at the best speed that any of them saw, 1 or more; 1 of all where their
    windows differ by no more than chance, and of one that has none."""
    found, none = [run.medians() for run in runs], np.ones(len(runs))
    every = np.concatenate(found) if found else np.zeros(0)
    if len(every) < LEAST_WINDOWS or every.min() <= 0:
        return none
    rng, best = np.random.default_rng(seed), _lowest(found)
    if best >= min(_shuffled(runs, rng)):
        return none
    usual = (
        every.mean() * best / float(np.mean(_shuffled([run.relative() for run in runs], rng)))
    )  # at the best speed, s
    return np.maximum([one.mean() / usual if len(one) else 1.0 for one in found], 1.0)


def _lowest(medians: Sequence[Array]) -> float:
    """The lowest tenth of all windows, by their mean."""
    every = np.concatenate(medians)
    return float(np.quantile(every, BEST) / every.mean())


def _shuffled(runs: Sequence[UncontendedRequests], rng: np.random.Generator) -> list[float]:
    """The same where all requests are shuffled over all windows, some times."""
    pool, ends = np.concatenate([run.times_s for run in runs]), np.cumsum([len(run.times_s) for run in runs])[:-1]
    each = [np.split(rng.permutation(pool), ends) for _ in range(SHUFFLES)]
    return [_lowest([run.medians(part) for run, part in zip(runs, parts, strict=True)]) for parts in each]


def slowness_of(folders: Sequence[RunFolder], cpu_s: Sequence[float], groups: Sequence[str]) -> list[float]:
    """Of runs, those of one group compared with each other. 1 of one without records, and of all of a group where, in one of them, less
    than half of the time of a request that is alone is CPU time (`cpu_s`, of a request of each run): other times do not depend on
    the speed of the machine."""
    found = [1.0] * len(folders)
    for group in dict.fromkeys(groups):
        numbers = [i for i, name in enumerate(groups) if name == group and cpu_s[i] > 0]
        seen = [(i, times) for i in numbers if (times := alone_times(folders[i])) is not None and len(times.times_s)]
        if all(cpu_s[i] > MOSTLY * float(times.times_s.mean()) for i, times in seen):
            for (i, _), one in zip(seen, slowness([times for _, times in seen]), strict=True):
                found[i] = float(one)
    return found


def slow_logarithms(each: Sequence[tuple[float, str]]) -> Array:
    """Of n measured numbers, slowness of the run and metric, by which all times of service were longer; 0 of parameters, which were
    measured as they are."""
    return np.array([0.0 if metric in ("parameter", "saturation_rate") else np.log(slow) for slow, metric in each])


def notes(runs: Sequence[tuple[str, float]]) -> list[str]:
    """A line for the reader of a fit, of runs with their slowness."""
    slow = [f"{name} ({by:.2f} times as long)" for name, by in runs if by >= TOLD]
    if not slow:
        return []
    named = ", ".join(slow[:MOST_TOLD]) + (f" and {len(slow) - MOST_TOLD} more" if len(slow) > MOST_TOLD else "")
    return [
        f"the machine was slow for seconds in {named}: requests that came alone took so much longer than in its best seconds, "
        "for which the predictions are"
    ]
