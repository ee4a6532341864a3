"""Loads that vary over time: a rate by step of time, made, a day of a web log or read from a file, and the arrivals drawn from it."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sojourn.control.web_log import WEB_LOGS, played
from sojourn.errors import InputError
from sojourn.file_errors import meant
from sojourn.files.reading import MOST_TABLE_BYTES, read_text

Array = NDArray[np.float64]
STEP_S = 1.0
MOST_REQUESTS = 25_000_000  # a day of worldcup98 at its own rate is 23.5 million
REMEDY = "give a CSV file with the columns at_s,rate_per_s, a folder of them, or one of: "


@dataclass(frozen=True)
class Load:
    """`rates_per_s[k]` holds from k `step_s` on; arrivals within a step are Poisson. `stalls`: (from_s, to_s, extra_s), during which
    a backend makes each request wait `extra_s` more, off the CPU."""

    name: str
    rates_per_s: tuple[float, ...]
    step_s: float = STEP_S
    stalls: tuple[tuple[float, float, float], ...] = ()

    @property
    def duration_s(self) -> float:
        return len(self.rates_per_s) * self.step_s

    def arrivals_s(self, seed: int) -> Array:
        """Times of arrival, ascending; the same for the same seed."""
        rng = np.random.default_rng([seed, 1])
        rates = np.asarray(self.rates_per_s)
        if rates.sum() * self.step_s > MOST_REQUESTS:
            raise InputError(f"{rates.sum() * self.step_s:.3g} requests", self.name, f"give at most {MOST_REQUESTS}")
        counts = rng.poisson(rates * self.step_s)
        steps = np.repeat(np.arange(len(counts)), counts)
        return np.sort((steps + rng.random(len(steps))) * self.step_s)


def sine(t: Array) -> Array:
    return 1 + 0.6 * np.sin(2 * math.pi * t / 600)


def step(t: Array) -> Array:
    return np.where((t % 900 >= 300) & (t % 900 < 600), 1.6, 0.7)


def flash(t: Array) -> Array:
    """A crowd that comes within ten seconds and leaves over two minutes."""
    since = t - 600
    rise, decay = np.clip(since / 10, 0, 1), np.exp(-np.maximum(since - 60, 0) / 120)
    return 0.6 + 1.9 * np.where(since > 0, rise * decay, 0.0)


def levels(t: Array) -> Array:
    """A new level every 45 s."""
    drawn = np.random.default_rng(45).uniform(0.4, 1.6, math.ceil(t[-1] / 45) + 1)
    return drawn[(t // 45).astype(int)]


def noise(t: Array) -> Array:
    """A mean that changes a little every second: AR(1), 5 % a second."""
    shocks = np.random.default_rng(5).normal(0, 0.05, len(t))
    found = np.zeros(len(t))
    for k in range(1, len(t)):
        found[k] = 0.95 * found[k - 1] + shocks[k]
    return np.maximum(1 + found, 0.1)


def bursts(t: Array) -> Array:
    """A hundred sources that are on and off for times with a heavy tail (Pareto, index 1.4, from 4 s), as the sum of many web users is
    (Willinger, Taqqu, Sherman, Wilson, Self-similarity through high-variability, IEEE/ACM Trans. Networking 5, 1997, pp. 71-86)."""
    rng = np.random.default_rng(14)
    found = np.zeros(len(t))
    for _ in range(100):
        on, ends = rng.random() < 0.5, np.cumsum(4 * (1 + rng.pareto(1.4, len(t))))
        found += (np.searchsorted(ends, t) + on) % 2
    return found / 50


def day(t: Array) -> Array:
    """A day within the trace: least at night, peaks before noon and in the evening, and each of 96 quarters of an hour a little off."""
    hour = 24 * t / (t[-1] + STEP_S)
    peaks = np.exp(-(((hour - 11) / 2.5) ** 2)) + 1.1 * np.exp(-(((hour - 20) / 2) ** 2))
    off = np.random.default_rng(96).normal(1, 0.08, 97)
    return (0.45 + 1.1 * peaks) * np.interp(hour * 4, np.arange(97), off)


MADE: dict[str, Callable[[Array], Array]] = {
    "sine": sine, "step": step, "flash": flash, "levels": levels, "noise": noise, "bursts": bursts, "day": day,
}  # fmt: skip
LOGGED: dict[str, Callable[[Array], Array]] = {name: partial(played, name) for name in WEB_LOGS}
NAMED = {**MADE, **LOGGED}


def made(name: str, mean_per_s: float = 240.0, duration_s: float = 1800.0) -> Load:
    """A load by its name. Made: `sine`, `step`, `flash`, `levels`, `noise`, `bursts`, `day`; `mean_per_s` is the rate at its factor 1.
    A day of a web log: `worldcup98`, `clarknet`, played in `duration_s` (86 400: at its own speed) with `mean_per_s` as mean rate; requests
    were counted by minute, within which arrivals are Poisson (python/sojourn/control/web_logs/README.md). InputError."""
    if name not in NAMED:
        raise InputError(repr(name), "load", meant(name, NAMED))
    return Load(name, tuple(float(x) for x in mean_per_s * NAMED[name](np.arange(0, duration_s, STEP_S))))


def read(given: Path | str, mean_per_s: float = 240.0, duration_s: float = 1800.0) -> list[Load]:
    """The loads of a CSV file, of all in a folder, or one by its name (`all`: all that have one). InputError."""
    path = Path(given)
    if str(given) == "all":
        return [made(name, mean_per_s, duration_s) for name in NAMED]
    if str(given) in NAMED and not path.exists():
        return [made(str(given), mean_per_s, duration_s)]
    if path.is_dir():
        files = sorted(path.glob("*.csv"))
        if not files:
            raise InputError("no .csv file in it", path, REMEDY + ", ".join(NAMED))
        return [_file(one) for one in files]
    return [_file(path)]


def _file(path: Path) -> Load:
    try:
        rows = list(
            csv.DictReader(
                read_text(path, REMEDY + ", ".join(NAMED), most_bytes=MOST_TABLE_BYTES, pipes=True).split("\n")
            )
        )
        points = [(float(row["at_s"]), float(row["rate_per_s"])) for row in rows]
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, csv.Error):
        raise InputError("no columns at_s and rate_per_s of numbers", path, REMEDY + ", ".join(NAMED)) from None
    times = [at for at, _ in points]
    if len(points) < 2 or any(b <= a for a, b in pairwise(times)):
        raise InputError(f"{len(points)} points", path, "give two or more points with ascending at_s")
    if bad := next((rate for _, rate in points if not (math.isfinite(rate) and rate >= 0)), None):
        raise InputError(f"rate_per_s = {bad}", path, "give finite rates >= 0")
    grid = np.arange(times[0], times[-1] + (times[-1] - times[-2]), STEP_S)
    which = np.searchsorted(times, grid + 1e-9, side="right") - 1
    return Load(path.stem, tuple(points[k][1] for k in which))
