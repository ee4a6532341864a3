"""A day each of two public web logs as a load: requests by minute, of which web_logs/README.md has source, day and checks."""

from __future__ import annotations

import csv
import functools
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FOLDER = "sojourn.control.web_logs"
WEB_LOGS = ("worldcup98", "clarknet")


@functools.cache
def counts(name: str) -> tuple[int, ...]:
    """Requests of each minute of the day, of one of `WEB_LOGS`."""
    lines = files(FOLDER).joinpath(f"{name}.csv").read_text(encoding="utf-8").splitlines()
    return tuple(int(row["requests"]) for row in csv.DictReader(lines))


def played(name: str, t: Array) -> Array:
    """The rate by its mean over the day, which is played in the steps of `t`: slower or faster than it was, or at its own speed in
    86 400 s. A step in which a minute ends has its share of both, so that the mean is 1 exactly."""
    by_minute = np.asarray(counts(name), dtype=float)
    until = np.concatenate(([0.0], np.cumsum(by_minute)))
    edges = np.linspace(0, len(by_minute), len(t) + 1)
    return np.diff(np.interp(edges, np.arange(len(until)), until)) * len(t) / until[-1]
