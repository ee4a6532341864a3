"""Which configuration: the cheapest that meets an objective, the Pareto front, least regret. Pure functions of arrays, N configurations.

Regret of configuration c where the truth is w: cost(c) + price (if c misses the objective in w) - the least of that over all
configurations in w. Savage, The Theory of Statistical Decision, J. Am. Stat. Assoc. 46 (1951), pp. 55-67, of the maximum; the mean
over draws of w is least where expected cost is (Raiffa and Schlaifer, Applied Statistical Decision Theory, 1961, ch. 4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


def cheapest(cost: Array, met: Flags, room: Array) -> int | None:
    """The index of the least cost among those that meet it; of equal ones that with most `room`, then the first."""
    index = np.flatnonzero(met)
    if not len(index):
        return None
    return int(index[np.lexsort((index, -room[index], cost[index]))[0]])


def front(cost: Array, violation: Array, robustness: Array) -> NDArray[np.int64]:
    """Indices of what nothing else beats: no other is as good in all three (less cost, less violation, more robustness) and better
    in one. Equal ones stay; by cost, then violation."""
    rows = np.column_stack([cost, violation, -robustness])
    order = np.lexsort(rows.T[::-1])
    rows, left = rows[order], np.arange(len(rows))
    kept: list[int] = []
    while len(left):  # what beats a row stands before it: the first of those left is not beaten
        first, left = left[0], left[1:]
        kept.append(int(order[first]))
        others = rows[left]
        left = left[~((rows[first] <= others).all(axis=1) & (rows[first] < others).any(axis=1))]
    return np.array(kept, int)


def regrets(cost: Array, met: Flags, price: float) -> Array:
    """`met`: draws x N. Draws x N, in the unit of the cost."""
    whole = cost + price * ~met
    return np.asarray(whole - whole.min(axis=1, keepdims=True))


def least(regret: Array, cost: Array, among: Flags) -> int | None:
    """The index of the least regret among some; of equal ones the cheapest, then the first."""
    index = np.flatnonzero(among)
    if not len(index):
        return None
    near = np.round(regret[index], 12)
    return int(index[np.lexsort((index, cost[index], near))[0]])


def shortlist(cost: Array, violation: Array, most: int) -> NDArray[np.int64]:
    """Up to `most` configurations worth asking for each draw: the front of cost and violation (room counts as negative), then the
    front of the rest, and so on; the first front whole."""
    left = np.arange(len(cost))
    found: list[int] = []
    while len(left) and len(found) < most:
        order = left[np.lexsort((violation[left], cost[left]))]
        least_yet = np.minimum.accumulate(np.concatenate([[np.inf], violation[order][:-1]]))
        layer = order[violation[order] < least_yet]
        if not len(layer):  # nothing left that is finite
            layer = order[:1]
        found += [int(i) for i in (layer if not found else layer[: most - len(found)])]
        left = np.setdiff1d(left, layer)
    return np.sort(np.array(found, int))
