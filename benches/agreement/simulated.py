"""The simulator as a referee: which models it can judge in a second, and which numbers are outside its intervals.

A number is a finding only where it is outside the interval of one run and of a second one, longer and with another seed.
At the level 0.9999 that is a chance of 1e-8 a number, and less than once in a hundred benches of 30 000 numbers. A level
of 1 - 1e-8 of a single run would ask more of 64 batches than a Student interval can promise.
"""

from __future__ import annotations

import numpy as np

import sojourn as sj
from agreement.rows import SHARES, Key, LargestDifference, Row, Rows, rows
from agreement.tolerance import load
from sojourn.model.components import Closed
from sojourn.model.distribution_types import Distribution

LEVEL = 0.9999
COMPLETIONS, AGAIN = 60_000, 400_000
MOST_S, MOST_AGAIN_S = 1.0, 8.0
BUSY = 0.9
KNOWN = 0.2  # half-width by value, above which an interval says too little, and rare events are not normal
SLIGHT = 1e-5  # what hardly varies was moved by events too rare for an interval
MOST_PRESENT = 300  # arrivals in the longest service: a run must be long against it
FINEST_S = 1e-9  # below, the simulator's histograms have no cells
CELL = 2e-3  # of a histogram, by which a quantile is known
DEEP = 6  # closed customers at a stack: whoever is below comes up too seldom for a run of a second, or never


def can(model: sj.Model) -> bool:
    """Moderate loads, third moments that exist, times that are not too far apart, and somebody comes."""
    n, busy = model.network, load(model)
    times = [d for row in n.service for d in row if d is not None and d.first > 0]
    laws = [*times, *(a for a in n.arrivals if isinstance(a, Distribution))]
    if (busy is not None and busy > BUSY) or any(not np.isfinite(d.third) or d.scv > 6 for d in laws):
        return False
    if ((n.rate_per_s[~n.closed] <= 0).any() and not n.switches) or n.population[n.closed].sum() > 300:
        return False
    deep = DEEP if len(n.stations) > 1 else 0
    if "lcfs_pr" in n.discipline and n.population[n.closed].sum() > deep:
        return False
    means = [d.first for d in times]
    if min(means, default=1.0) < FINEST_S or n.rate_per_s.sum() * max(means, default=0.0) > MOST_PRESENT:
        return False
    people = any(c.population if isinstance(c, Closed) else True for c in model.classes)
    return people and max(means, default=1.0) < 1e3 * min(means, default=1.0) and n.servers.max() <= 200


def outside(model: sj.Model, told: Rows, seed: int) -> tuple[list[str], list[LargestDifference]]:
    """What is outside both intervals, in words; and all pairs of the first run."""
    first = _run(model, seed + 1, COMPLETIONS, MOST_S)
    wrong = {key for key, _ in _met(told, first) if not _inside(key, told[key], first[key])}
    met = [_apart(key, mine, first[key]) for key, mine in _met(told, first)]
    if not wrong:
        return [], met
    again = _run(model, seed + 1_000_003, AGAIN, MOST_AGAIN_S)
    words = [
        f"{key} {told[key].value:.9g}, simulated {again[key].low:.9g} … {again[key].high:.9g}"
        for key, _ in _met(told, again) if key in wrong and not _inside(key, told[key], again[key])
    ]  # fmt: skip
    return words, met


def _run(model: sj.Model, seed: int, completions: int, most_s: float) -> Rows:
    return rows(sj.simulate(model, level=LEVEL, seed=seed, completions=completions, max_wall_time_s=most_s,
                            quantiles=(0.5, 0.9, 0.99)))  # fmt: skip


def _met(told: Rows, found: Rows) -> list[tuple[Key, Row]]:
    """Rows that both have, where the interval is narrow enough to mean something."""
    kept = []
    for key, row in found.items():
        mine = told.get(key)
        if mine is None or mine.value is None or row.value is None or row.low is None or row.high is None:
            continue
        most = min(abs(row.value), abs(1 - row.value)) if key.metric in SHARES else abs(row.value)
        if 0 < row.high - row.low <= 2 * KNOWN * most:  # without a width: it never happened, or never failed to
            kept.append((key, mine))
    return kept


def _inside(key: Key, mine: Row, row: Row) -> bool:
    assert mine.value is not None and row.low is not None and row.high is not None
    slack = (SLIGHT if key.q is None else CELL) * abs(mine.value)
    return row.low - slack <= mine.value <= row.high + slack


def _apart(key: Key, mine: Row, row: Row) -> LargestDifference:
    assert mine.value is not None and row.value is not None
    size = max(abs(mine.value), abs(row.value), 1e-300)
    return LargestDifference(key, mine.value, row.value, abs(mine.value - row.value) / size, 1.0)
