"""Elasticity: how well the workers that a policy gave follow those that the load needed.

Herbst, Krebs, Oikonomou, Kousiouris, Evangelinou, Iosup, Kounev, Ready for rain? A view from SPEC Research on the future of cloud metrics,
SPEC-RG-2016-01: accuracy, timeshare and instability of supply s(t) against demand d(t), the least that meets the objective at the rate
of t. Demand is measured, here on the simulated queue at rest at that rate, and not taken from the model that a policy decides by.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np

from sojourn.control.decision import Decision
from sojourn.control.guard_rails import GuardRails
from sojourn.control.load_trace import Array, Load
from sojourn.control.simple_policies import Fixed
from sojourn.control.simulate import simulate, tail_objective
from sojourn.errors import InputError
from sojourn.model import Model

RATES, REQUESTS, LEAST_REQUESTS, LONGEST_S = 12, 60_000, 5000, 50_000  # of a calibration: rates, and a run's length
MOST_WORKERS = 2000  # tried


@dataclass(frozen=True)
class Elasticity:
    """Means over time. `mean_missing_workers`, `mean_spare_workers`: workers below and above demand; `share_of_time_short`,
    `share_of_time_over`: shares of time with fewer and with more than that; `instability`: share of steps in which supply rose
    and demand did not, or demand fell and supply did not."""

    mean_missing_workers: float
    mean_spare_workers: float
    share_of_time_short: float
    share_of_time_over: float
    instability: float

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


def elasticity(supply: Sequence[float] | Array, demand: Sequence[float] | Array) -> Elasticity:
    """Of workers given and needed at the same steps of time, two or more. InputError where their lengths differ."""
    given, needed = np.asarray(supply, float), np.asarray(demand, float)
    if given.shape != needed.shape or given.ndim != 1 or len(given) < 2:
        raise InputError(f"{given.shape}, {needed.shape}", "supply, demand", "give two lists of one length, 2 or more")
    short = needed - given
    ahead = np.sign(np.diff(given)) - np.sign(np.diff(needed))
    return Elasticity(
        float(np.maximum(short, 0).mean()), float(np.maximum(-short, 0).mean()), float((short > 0).mean()),
        float((short < 0).mean()), float(np.clip(ahead, 0, 1).mean()),
    )  # fmt: skip


@dataclass(frozen=True)
class MeasuredDemand:
    """The least workers that met the objective at rates (1/s, ascending); between two of them on the line, rounded up."""

    rates_per_s: tuple[float, ...]
    workers: tuple[int, ...]

    def at(self, rates_per_s: Sequence[float] | Array) -> Array:
        """Workers at each rate; below the first rate and above the last theirs."""
        exact = np.interp(np.asarray(rates_per_s, float), self.rates_per_s, self.workers)
        return np.maximum(np.ceil(exact - 1e-9), 1.0)


def measured_demand(model: Model, objective: str, rates_per_s: Sequence[float], seed: int = 1) -> MeasuredDemand:
    """By bisection at `RATES` rates between the least and the greatest given (>= 0; what is below a hundredth of the greatest, or below
    0.1/s, is as there): each is a run of `REQUESTS` requests, at most `LONGEST_S`, with fixed workers. To about one worker.
    InputError where `MOST_WORKERS` do not meet the objective."""
    aim = tail_objective(objective)
    if not (most := max(rates_per_s)) > 0:
        return MeasuredDemand((0.0,), (1,))
    slowest = max(most / 100, LEAST_REQUESTS / LONGEST_S)
    rates = np.unique(np.linspace(max(min(rates_per_s), slowest), max(most, slowest), RATES))
    found: list[int] = []
    for rate in rates.tolist():
        load = Load("constant", (rate,) * math.ceil(min(REQUESTS / rate + 10, LONGEST_S)))

        def meets(workers: int, load: Load = load) -> bool:
            rails = GuardRails(least=workers, most=workers)
            run = simulate(Fixed(workers=workers), model, load, seed, objective=objective, rails=rails)
            return run.figures.late_requests <= 1 - aim.q

        found.append(_least(meets, found[-1] if found else 1, rate, objective))
    return MeasuredDemand(tuple(rates.tolist()), tuple(found))


def needed_workers(model: Model, objective: str, load: Load) -> Array:
    """Of each step of the load, by `measured_demand` at its rates."""
    return measured_demand(model, objective, load.rates_per_s).at(load.rates_per_s)


def _least(meets: Callable[[int], bool], start: int, rate: float, objective: str) -> int:
    low, high = start - 1, start
    while not meets(high):
        low, high = high, 2 * high
        if low >= MOST_WORKERS:
            raise InputError(
                f"{MOST_WORKERS} workers", f"demand at {rate:g}/s", f"{objective} cannot be met; loosen it"
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high


def supply(log: Sequence[Decision], at_s: Sequence[float] | Array) -> Array:
    """Workers set at each time: those of the last decision by then, before the first those that it saw."""
    if any(b.observed.window_end_s < a.observed.window_end_s for a, b in pairwise(log)):
        raise InputError("decisions out of order", "log", "give them in the order in which they were taken")
    times = np.array([one.observed.window_end_s for one in log])
    workers = np.array([log[0].observed.workers, *(one.workers for one in log)], float)
    return workers[np.searchsorted(times, np.asarray(at_s, float) + 1e-9, side="right")]
