"""The numbers of workers and connections that a model holds for the best, and what it costs to believe it.

The best is a small configuration within 1 % of the greatest predicted throughput: first the fewest connections that come
within half of that with all workers there may be, then the fewest workers, of whom more never do less. Regret: the
throughput lost with it against the best that was measured, 1 - X(chosen)/X(best measured): never negative, because
the choice is among them.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import polars as pl

from sojourn.study.estimate import Estimate
from sojourn.study.messages.models.network import Demands, Prediction, Shape, predict
from sojourn.study.messages.models.parallelism import Parallelism

NEARER, NEAR = 0.995, 0.99
RESAMPLES = 2000


@dataclass(frozen=True)
class Best:
    """The choice of a model (`model`: its parallelism)."""

    model: str
    shape: Shape
    predicted: Prediction


def steps(most: int) -> list[int]:
    """1 … `most`: each number up to 16, then in steps of an eighth."""
    found = list(range(1, min(most, 16) + 1))
    while found[-1] < most:
        found.append(min(most, found[-1] + max(found[-1] // 8, 1)))
    return found


def best(
    d: Demands, database: Parallelism, clients: int, retry_s: float, workers_most: int, connections_most: int
) -> Best:
    """At `clients`, of one middleware; more connections than workers are never used."""

    def at(workers: int, connections: int) -> Prediction:
        return predict(d, database, Shape(workers, connections), clients, retry_s)

    found = {c: at(workers_most, c) for c in steps(min(connections_most, workers_most))}
    most = max(p.throughput_per_s for p in found.values())
    c = min(c for c, p in found.items() if p.throughput_per_s >= NEARER * most)
    workers = range(c, workers_most + 1)
    w = workers[bisect_left(workers, True, key=lambda w: at(w, c).throughput_per_s >= NEAR * most)]
    return Best(database.name, Shape(w, c), at(w, c))


@dataclass(frozen=True)
class Regret:
    """Of a choice: measured throughputs of it and of the best measured `shape`, and the share lost with its 95 %
    interval (bootstrap over repetitions; the same three with one repetition)."""

    best: Best
    chosen_per_s: float
    shape: Shape
    most_per_s: float
    lost: Estimate


def regret(choice: Best, measured: pl.DataFrame) -> Regret:
    """`measured`: rows with workers, connections, throughput_per_s at the same clients, those of the choice among them."""
    rates = {Shape(*key): own["throughput_per_s"].to_numpy()
             for key, own in measured.partition_by("workers", "connections", as_dict=True).items()}  # fmt: skip
    mine = rates[choice.shape]
    shape = max(rates, key=lambda s: float(rates[s].mean()))
    draw = np.random.default_rng(1)
    means = [draw.choice(x, (RESAMPLES, len(x))).mean(axis=1) for x in (mine, rates[shape])]
    low, high = np.quantile(1 - means[0] / means[1], (0.025, 0.975)) if shape != choice.shape else (0.0, 0.0)
    lost = Estimate(1 - float(mine.mean() / rates[shape].mean()), float(low), float(high))
    return Regret(choice, float(mine.mean()), shape, float(rates[shape].mean()), lost)
