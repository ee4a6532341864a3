"""Pauses of a service, by when its answers came: now and then nothing is answered for long, whoever waits (a collection of
garbage, a timer, a checkpoint).

A stall is a time in which requests were under way and none was answered: from the answer before, or from when the oldest of those that
wait was sent, to the next answer. Of a service that works all stalls are alike, as long as a service at most; one is called a
pause if it is LONGER times as long as all but a tenth of the stalls of its run. That is what a server with a heavy tail does
too, where it is the only one: to those who wait it is the same.

What pauses add to the mean response time, d their length and v their number a second, at a utilisation u: v E[d^2]/(2(1 - u)), the
fluid limit of M/G/1 with breakdowns (B. Avi-Itzhak, P. Naor: Some Queuing Problems with the Service Station Subject to Breakdown.
Operations Research 11(3), 1963, pp. 303-320).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sojourn.runs.request_times import end, succeeded
from sojourn.runs.run_folder import RunFolder

Array = NDArray[np.float64]
LONGER, USUAL = 5.0, 0.9
FEWEST, RARE = 5, 0.06  # pauses that are told; share of the stalls that they may be
SURE = 2.0  # of a logarithm of likelihoods: a clock is believed unless the runs say otherwise
APART = 1.5  # times the threshold, the median pause: else it is the tail of the stalls


@dataclass(frozen=True)
class Pauses:
    """`lengths_s` of those seen in `window_s` seconds, with `answers` answered; how full the service was otherwise nobody says here."""

    lengths_s: tuple[float, ...]
    window_s: float
    answers: int

    @property
    def per_s(self) -> float:
        return len(self.lengths_s) / self.window_s if self.window_s > 0 else 0.0

    @property
    def mean_s(self) -> float:
        return float(np.mean(self.lengths_s)) if self.lengths_s else 0.0

    @property
    def variance_s2(self) -> float:
        """Of their lengths, s^2."""
        return float(np.var(self.lengths_s)) if self.lengths_s else 0.0

    @property
    def share(self) -> float:
        """Of the time."""
        return self.per_s * self.mean_s

    def adds_s(self, utilisation: float) -> float:
        """To the mean response time, s; `utilisation` in [0, 1)."""
        square = float(np.mean(np.square(self.lengths_s))) if self.lengths_s else 0.0
        return self.per_s * square / (2 * (1 - utilisation))


def find_pauses(sent_s: ArrayLike, answered_s: ArrayLike, window: tuple[float, float]) -> Pauses:
    """Of requests that were answered: when each was sent and answered, s, in any order; those in `window` count."""
    sent, answered = np.asarray(sent_s, float), np.asarray(answered_s, float)
    known = np.isfinite(sent) & np.isfinite(answered)
    if not known.all():
        sent, answered = sent[known], answered[known]
    if not (answered[1:] >= answered[:-1]).all():
        order = np.argsort(answered, kind="stable")
        sent, answered = sent[order], answered[order]
        del order  # of a million requests 8 MB, as each of the others
    start, end = window
    if len(answered) < 2:
        return Pauses((), end - start, len(answered))
    oldest = np.minimum.accumulate(sent[::-1])[::-1][1:]  # of those that are still to be answered
    del sent, sent_s
    stalls = np.maximum(answered[:-1], oldest, out=oldest)
    np.subtract(answered[1:], stalls, out=stalls)
    inside = (answered[1:] >= start) & (answered[1:] <= end)
    del answered, answered_s, oldest
    stalls = stalls[inside]
    count = int(inside.sum())
    if not count:
        return Pauses((), end - start, 0)
    limit = LONGER * float(np.quantile(stalls, USUAL))
    long = stalls[stalls > limit]
    if not len(long) or len(long) > RARE * len(stalls) or float(np.median(long)) < APART * limit:
        return Pauses((), end - start, count)
    return Pauses(tuple(long.tolist()), end - start, count)


def run_pauses(folder: RunFolder) -> Pauses | None:
    """By the answers in the window; None of records that are not of every request."""
    window = folder.manifest.get("window_s")
    if not window or folder.sample_every != 1 or not folder.has("requests"):
        return None
    parts = folder.parts("requests", ("sent_s", "received_s", "done_s", "failure"))
    good = [succeeded(part.select("sent_s", end(), "failure")) for part in parts]
    columns = [[one.drop_in_place(name).to_numpy() for one in good] for name in ("sent_s", "end_s")]
    limits = (float(window[0]), float(window[1]))
    return find_pauses(np.concatenate(columns.pop(0)), np.concatenate(columns.pop(0)), limits)


def together(runs: Sequence[Pauses]) -> Pauses | None:
    """Of several runs as one; None where there are fewer than FEWEST."""
    lengths = tuple(length for run in runs for length in run.lengths_s)
    if len(lengths) < FEWEST:
        return None
    return Pauses(lengths, sum(run.window_s for run in runs), sum(run.answers for run in runs))


def grow_with_load(runs: Sequence[Pauses]) -> bool:
    """Whether they come after so many answers, and not after so long: which of the two makes the counts of the runs likelier (Poisson)."""
    counts = np.array([len(run.lengths_s) for run in runs], float)
    fits = []
    for size in (np.array([run.window_s for run in runs], float), np.array([run.answers for run in runs], float)):
        expected = np.maximum(counts.sum() * size / size.sum(), 1e-9)
        fits.append(float((counts * np.log(expected) - expected).sum()))
    return fits[1] > fits[0] + SURE
