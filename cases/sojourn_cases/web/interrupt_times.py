"""Times of interrupt work that stand for a distribution."""

from __future__ import annotations

from math import log

from sojourn.errors import LabError

TABLE = 1024


def table_of_times(mean_s: float, kind: str) -> list[float]:
    """1024 times that stand for a distribution: all equal, or the exponential's quantiles at mid-points, cut at
    10 ms and scaled so that their mean is `mean_s`.

    Raises:
        LabError: a kind that is not known, or a mean that cannot be had below 10 ms.
    """
    if kind not in ("deterministic", "exponential"):
        raise LabError(f"interrupt distribution {kind!r}", "study", "use 'deterministic' or 'exponential'")
    if kind == "deterministic" or mean_s == 0:  # requests without known work
        return [mean_s] * TABLE
    times = [-mean_s * log(1 - (i + 0.5) / TABLE) for i in range(TABLE)]
    times = [t * mean_s / (sum(times) / TABLE) for t in times]
    if times[-1] > 0.01:
        raise LabError(f"interrupt mean {mean_s} s", "study", "an exponential interrupt needs a mean below 1.2 ms")
    return times
