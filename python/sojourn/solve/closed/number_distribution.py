"""Distribution and variance of the number at each station: what is asked of the convolution, what it costs, its rows.

A delay is given to the convolution as a station with as many servers as there are customers, and only where p(n) is
asked for: it costs a pass over the lattice for each customer. Nothing is a difference from 1. The variance is
E[n^2] - E[n]^2, so that it has as many digits less as the mean is larger than the deviation, twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.closed.chain_arrays import ChainArrays
from sojourn.solve.closed.closed_refusals import customers, states
from sojourn.solve.method import RequestedOutputs

MOST_S = 10.0
PASS_S = 3e-10  # one pass over the lattice, for each vector and class
NOBODY = "p(n) is not available{}: that would take about {:.2g} s; ask for fewer n, or a smaller population"


def asked(networks: Sequence[Network], wanted: RequestedOutputs) -> tuple[int, bool, str]:
    """How many of p(0), p(1), … the convolution is to give, whether of delays too, and what is not told, in words."""
    if wanted.state_probabilities is None:
        return 0, False, ""
    largest = max(networks, key=states)
    most = min(wanted.state_probabilities, max(sum(customers(n)) for n in networks)) + 1
    if _cost_s(largest, most, True) <= MOST_S:
        return most, True, ""
    if (cost := _cost_s(largest, most, False)) <= MOST_S:
        return most, False, NOBODY.format(" of delays", _cost_s(largest, most, True))
    return 0, False, NOBODY.format("", cost)


def _cost_s(n: Network, most: int, delays: bool) -> float:
    """Every station is joined to the others log2 K times, a pass a server, and its own p(n) are a pass each."""
    numbers, depth, passes = sum(customers(n)), 2 + math.log2(len(n.stations) + 1), 0.0
    for k, kind in enumerate(n.kind):
        full = numbers if kind == "delay" else len(n.rates[k]) if k in n.rates else int(n.servers[k])
        passes += (kind != "delay" or delays) * (min(full, numbers) * depth + 6 * depth + max(most - full, 0))
    return PASS_S * passes * states(n) * max(len(customers(n)), 1)


def rows(
    c: ChainArrays, told: NDArray[np.bool_], queue: Array, second: Array, p: Array, most: int
) -> list[dict[str, Any]]:
    """Rows of the stations `told` at which no open customers are; p: P x K x n, more n up to `most` have none.

    A station that one class alone visits has them for the class too.
    """
    found: list[dict[str, Any]] = []
    for point, k in np.argwhere(c.open_load.sum(axis=2) == 0):
        if c.unstable[point] or not told[k]:
            continue
        mean = queue[point, k].sum()
        variance = max(float(second[point, k] - mean * mean), 0.0)
        numbers = [*p[point, k].tolist(), *[0.0] * (most - p.shape[2])] if p.shape[2] else []
        for name in _names(c.network, int(k)):
            station = {"point": int(point), "station": c.network.stations[k], "class": name}
            found.append({**station, "metric": "queue_length_variance", "value": variance})
            found += [
                {**station, "metric": "queue_length_probability", "n": n, "value": v} for n, v in enumerate(numbers)
            ]
    return found


def _names(n: Network, k: int) -> list[str]:
    own = np.flatnonzero(n.visits[k])
    return ["", n.classes[own[0]]] if len(own) == 1 else [""]
