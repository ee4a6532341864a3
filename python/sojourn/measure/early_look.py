"""Who was busy before this command did anything: a first look at all processes, taken before the imports of `sojourn load`, which then need
not be followed by a wait."""

from __future__ import annotations

import time

from sojourn.measure.process_times import ProcessTimes, process_times

MOST_AGE_S = 5.0  # an older look says little of now

_taken: list[tuple[float, ProcessTimes]] = []


def look() -> None:
    """Once, as early as can be."""
    _taken[:] = [(time.monotonic(), process_times())]


def taken() -> tuple[float, ProcessTimes]:
    """CLOCK_MONOTONIC of the first look, s, and what was seen, where it is recent and nobody has had it; else of one that is taken now."""
    found = _taken.pop() if _taken else (0.0, None)
    if found[1] is None or time.monotonic() - found[0] > MOST_AGE_S:
        return time.monotonic(), process_times()
    return found[0], found[1]
