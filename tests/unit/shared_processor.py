"""Two classes at one processor that is shared evenly (M/M/1-PS), simulated event by event, and what its windows show."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

RATES_PER_S, DEMANDS_S = (15.0, 4.0), np.array([0.02, 0.06])
WINDOW_S, BATCHES = 60.0, 10
ROWS = (("utilisation", "cpu", ""), ("response_time", "", "a"), ("response_time", "", "b"))
UNKNOWNS = ("demands_s.cpu.a", "demands_s.cpu.b")
MODEL = """
[stations.cpu]
discipline = "ps"
[classes.a]
kind = "open"
rate_per_s = 15
[classes.b]
kind = "open"
rate_per_s = 4
[demands_s]
cpu = { a = 0.02, b = 0.06 }
"""


def closed_form(rates: np.ndarray, demands_s: np.ndarray) -> np.ndarray:
    """Utilisation rho = sum of rate x demand; response times demand/(1 - rho), NaN where rho >= 1 (Kleinrock, Queueing Systems II, 4.4)."""
    rho = float(rates @ demands_s)
    return np.array([rho, *(demands_s / (1 - rho) if rho < 1 else np.full(2, np.nan))])


def windows(seed: int, count: int, factor: float = 1.0, at: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Of each window batches of what ROWS names, (batches, 3), and rates (1/s); from window `at` on demands `factor` times as large."""
    rng, until_s = np.random.default_rng(seed), count * WINDOW_S
    counts = rng.poisson(np.array(RATES_PER_S) * until_s)
    came, cls = rng.uniform(0, until_s, counts.sum()), np.repeat([0, 1], counts)
    order = np.argsort(came)
    came, cls = came[order], cls[order]
    work = rng.exponential(DEMANDS_S[cls]) * np.where(came < at * WINDOW_S, 1.0, factor)
    left, busy = served(came, work)
    batch = np.minimum(came / (WINDOW_S / BATCHES), count * BATCHES - 1).astype(int)
    number = [np.bincount(batch[cls == c], minlength=count * BATCHES) for c in (0, 1)]
    time = [np.bincount(batch[cls == c], (left - came)[cls == c], count * BATCHES) for c in (0, 1)]
    edges = np.linspace(0, until_s, count * BATCHES + 1)
    lengths = busy[:, 1] - busy[:, 0]
    so_far = np.stack([np.cumsum(lengths) - lengths, np.cumsum(lengths)], axis=1)
    full = np.diff(np.interp(edges, busy.ravel(), so_far.ravel()))
    with np.errstate(invalid="ignore"):
        rows = np.stack([full / np.diff(edges), time[0] / number[0], time[1] / number[1]], axis=1)
    for k in range(count):
        own = slice(k * BATCHES, (k + 1) * BATCHES)
        some = rows[own]
        yield some[np.isfinite(some).all(axis=1)], np.array([number[c][own].sum() / WINDOW_S for c in (0, 1)])


def served(came: np.ndarray, work: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """When each leaves, and the busy periods (begin, end). All share alike, so that they leave in order of the work done for each at which
    they are ready."""
    left, busy, heap = np.empty(len(came)), [], []
    now = each = begin = 0.0
    for k in range(len(came) + 1):
        next_s = came[k] if k < len(came) else np.inf
        while heap and now + (heap[0][0] - each) * len(heap) <= next_s:
            now += (heap[0][0] - each) * len(heap)
            each, one = heapq.heappop(heap)
            left[one] = now
            if not heap:
                busy.append((begin, now))
        if k == len(came):
            break
        each += (next_s - now) / len(heap) if heap else 0.0
        begin, now = (begin if heap else next_s), next_s
        heapq.heappush(heap, (each + work[k], k))
    return left, np.array(busy)
