"""What the approximations share: many networks at once, several servers by Seidmann's transformation, the iteration.

Source of the transformation: A. Seidmann, P. J. Schweitzer, S. Shalev-Oren: Computerized Closed Queueing Network Models
of Flexible Manufacturing Systems. Large Scale Systems 12, 1987, pp. 91-107: m servers with demand D become one with
D/m, followed by a delay of D (m-1)/m. P points, K stations, R chains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.model.network_arrays import Array
from sojourn.solve.closed import chain_arrays
from sojourn.solve.solution import Solution

TOLERANCE = 1e-12
ROUNDS = 20_000


@dataclass(frozen=True)
class SingleServers:
    """Single servers and delays that stand for the model."""

    demands_s: Array  # P x K x R, at single servers, 0 at delays
    think_s: Array  # P x R, delays included
    beside_s: Array  # P x K x R, the part of a station that became a delay
    population: Array  # P x R


def single(c: chain_arrays.ChainArrays) -> SingleServers:
    servers = np.where(c.delay, 1.0, c.servers)[:, :, None]
    free = 1 - np.where(c.delay, 0.0, c.open_load.sum(axis=2))[:, :, None] / servers
    inside = np.where(c.delay[:, None], 0.0, c.demands_s) / servers
    beside = np.where(c.delay[:, None], 0.0, c.demands_s) - inside
    with np.errstate(divide="ignore", invalid="ignore"):
        demands = np.where(free > 0, inside / free, 0.0)
    think = c.think_s + np.where(c.delay[:, None], c.demands_s, 0.0).sum(axis=1) + beside.sum(axis=1)
    think = np.where((demands.sum(axis=1) + think > 0) | (c.population > 0), think, 1.0)
    return SingleServers(demands, think, beside, c.population.astype(float))


def throughput(residence: Array, think: Array, population: Array) -> Array:
    """N/(Z + R) by chain; 0 where nobody is."""
    total = residence.sum(axis=-2) + think
    return np.asarray(np.where(population > 0, population / np.where(total > 0, total, 1.0), 0.0))


def start(s: SingleServers) -> Array:
    """Customers spread over the stations they visit, as many as their demand says, thinking too."""
    total = s.demands_s.sum(axis=1) + s.think_s
    return np.asarray(s.demands_s / np.where(total > 0, total, 1.0)[:, None, :] * s.population[:, None, :])


def iterate(step: Callable[[Array], Array], first: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Repeats `step` until nothing moves by more than a tolerance; the last value, and which points got there."""
    value = first
    for _ in range(ROUNDS):
        new = step(value)
        moved = (np.abs(new - value) / (1 + np.abs(new))).reshape(len(new), -1).max(axis=1, initial=0.0)
        value = new
        if not (moved > TOLERANCE).any():
            break
    return value, moved <= TOLERANCE


def answer(
    c: chain_arrays.ChainArrays, s: SingleServers, x: Array, queue: Array, settled: NDArray[np.bool_]
) -> Solution:
    """As a Solution: the delays that stand for servers count at their stations."""
    servers = np.where(c.delay, 1.0, c.servers)[:, :, None]
    closed = queue + x[:, None, :] * s.beside_s
    load = c.open_load / servers
    free = 1 - np.where(c.delay, 0.0, load.sum(axis=2))
    found = 1 + np.where(c.delay, 0.0, queue.sum(axis=2))
    with np.errstate(divide="ignore", invalid="ignore"):
        open_queue = load * (found / free)[:, :, None] + c.open_load - load
    solved = chain_arrays.solution(c, x, closed, open_queue)
    names = np.where(settled, "approximate", "not_converged")
    solved.status = np.where(c.unstable, "unstable", names).tolist()
    return solved
