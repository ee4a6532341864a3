"""How much a rate that was counted in windows varies, beyond what chance makes of counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def rate_spread(rates_per_s: NDArray[np.float64], length_s: float) -> float:
    """Relative standard deviation of `rates_per_s` (windows,), without that of counts of independent requests in `length_s` (s; infinite
    where they are no counts). 0 where none came."""
    mean = float(rates_per_s.mean())
    return max(float(rates_per_s.var()) - mean / length_s, 0.0) ** 0.5 / mean if mean else 0.0
