"""How many requests are in flight over time, from when each came and when it was answered."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def in_flight(
    came_s: Array, answered_s: Array, *, answers_first: bool, digits: int | None = None
) -> tuple[Array, Array]:
    """(times at which the number changes, in order; by how much: +1 or -1), each (2 n,) of n requests.

    At one moment answers come first, or requests do (`answers_first`): the former where a request follows an answer at once, as of users
    that wait; the latter where a request may be answered in the moment in which it came. `digits`: times are of one moment where they are
    equal to so many decimals.
    """
    times = np.concatenate([came_s, answered_s])
    steps = np.concatenate([np.ones(len(came_s)), -np.ones(len(answered_s))])
    moments = times if digits is None else np.round(times, digits)
    order = np.lexsort((steps if answers_first else -steps, moments))
    return times[order], steps[order]
