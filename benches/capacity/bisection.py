"""What a search of `run.py` replaces: a bisection of the rate.

Rates by 1.5 up to one that misses, then the middle, until half of what is left is as narrow,
over its middle, as half of the interval of the search. A run of 15 s is repeated until the 90 % interval of its batches (20 a run, of
the mean or of the share of requests above the limit) excludes the limit, at most 4 times, then its middle decides. The last halving
goes further than was asked: of its requests only the share ln(before/asked)/ln(before/after) counts. Why this bisection: README.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/unit/capacity"))
from virtual_service import VirtualService  # type: ignore[import-not-found]

RUN_S, BATCHES, REPEATS, LEVEL = 15.0, 20, 4, 0.9
BEGIN, UP, MOST_RUNS = 0.55, 1.5, 60


def bisection(
    service: VirtualService, borne_per_s: float, figure: str, limit_s: float, half_width: float
) -> dict[str, Any]:
    """Runs, requests and the last two rates of a bisection to that half-width, from what a few users had."""
    random = np.random.default_rng([service.seed, 41])
    spent = {"runs": 0, "requests": 0}
    low, high = 0.0, float("inf")
    rate = BEGIN * borne_per_s
    width, before, needed = float("inf"), float("inf"), 0
    while spent["runs"] < MOST_RUNS and not width <= half_width:
        before, needed = width, spent["requests"]
        if _met(lambda at=rate: _one(service, at, random, spent), figure, limit_s):
            low = rate
        else:
            high = rate
        rate = low * UP if high == float("inf") else (low + high) / 2
        width = (high - low) / (high + low) if high < float("inf") else float("inf")
    share = np.log(before / half_width) / np.log(before / width) if before < float("inf") else 1.0
    spent["requests"] = round(needed + min(share, 1.0) * (spent["requests"] - needed))
    return {**spent, "low": low, "high": high}


def _one(service: VirtualService, rate: float, random: np.random.Generator, spent: dict[str, int]) -> np.ndarray:
    """Response times of a run, s."""
    arrivals, times = service.responses(rate, int(rate * RUN_S * 1.2) + 50, random)
    times = times[arrivals < RUN_S]
    spent["runs"] += 1
    spent["requests"] += len(times)
    return times


def _met(run: Callable[[], np.ndarray], figure: str, limit_s: float) -> bool:
    """By runs of which each has batches, until they are clear or enough."""
    batches: list[float] = []
    centre = 0.0
    for _ in range(REPEATS):
        times = run()
        times = times[len(times) // 10 :]  # the start
        values = times if figure == "mean" else (times > limit_s).astype(float)
        batches += [float(part.mean()) for part in np.array_split(values, BATCHES)]
        limit = limit_s if figure == "mean" else 1 - float(figure[1:]) / 100
        centre = float(np.mean(batches))
        error = float(np.std(batches, ddof=1) / np.sqrt(len(batches)))
        if abs(centre - limit) > stats.t.ppf((1 + LEVEL) / 2, len(batches) - 1) * error:
            break
    return centre < (limit_s if figure == "mean" else 1 - float(figure[1:]) / 100)
