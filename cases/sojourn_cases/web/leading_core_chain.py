"""The chain of a leading core, its balance equations solved as they are: beside it stands the closed form of Chen et al.'s Proposition 2.

Source: Chen et al. 2014, Figure 6. A state is (i, j): i interrupts and j pages at the core, i + j <= N. Requests arrive at `rate_per_s`
while there is room; an interrupt ends at `mu1_per_s`, and with probability `p` leaves its page there; a page ends at `mu2_per_s`. Both are
served at full rate at once (the variant `paper`). Limits: (N + 1)(N + 2)/2 equations, so N up to some hundred.
"""

from __future__ import annotations

import numpy as np


def mean_requests(rate_per_s: float, mu1_per_s: float, mu2_per_s: float, p: float, capacity: int) -> float:
    """E(k), the mean number of requests at the core; all rates above 0, `p` in [0, 1], `capacity` (N) 1 or more."""
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.linalg import spsolve

    states = [(i, j) for i in range(capacity + 1) for j in range(capacity + 1 - i)]
    number = {state: k for k, state in enumerate(states)}
    rows, columns, values = list[int](), list[int](), list[float]()
    for (i, j), k in number.items():
        moves = [((i + 1, j), rate_per_s)] if i + j < capacity else []
        moves += [((i - 1, j + 1), p * mu1_per_s), ((i - 1, j), (1 - p) * mu1_per_s)] if i else []
        moves += [((i, j - 1), mu2_per_s)] if j else []
        for state, per_s in moves:  # into the one, out of the other
            rows += [number[state], k]
            columns += [k, k]
            values += [per_s, -per_s]
    balance = coo_array((values, (rows, columns)), shape=(len(states), len(states))).tocsc()
    # one equation follows from the others: that of the empty core, whose probability is 1 until all are known
    of_empty = balance[:, [0]].toarray().ravel()
    others = spsolve(balance[1:, 1:], -of_empty[1:])
    weights = np.concatenate([[1.0], np.atleast_1d(others)])
    return float(weights @ [i + j for i, j in states] / weights.sum())
