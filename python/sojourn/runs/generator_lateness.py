"""What it does to a run that its generator was late: an error of known size, and no reason to throw the run away.

Response times run from when a request was due, so the generator's own lateness is in them: a mean is too long by the mean lateness at most,
and by nothing where the service would have kept the request waiting anyway. The truth lies between the two; the middle is taken, with the
error of a uniform law over them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

LATE = "the generator was the bottleneck"  # a reason in the manifest that begins so
MOST = 0.25  # of a mean: beyond it the run says little


class LatenessError(NamedTuple):
    """`factor` on the measured figure, and the relative standard `error` that is left."""

    factor: float
    error: float


def lateness_error(manifest: Mapping[str, Any], figure: str = "mean") -> LatenessError:
    """Of `mean` or `p99`, by the lateness that the generator itself recorded; (1, 0) where nothing was recorded."""
    share = float(((manifest.get("checks") or {}).get("lateness share of response") or {}).get(figure) or 0.0)
    share = min(max(share, 0.0), 1.0)
    return LatenessError(1 - share / 2, share / math.sqrt(12) / (1 - share / 2))


def only_late(manifest: Mapping[str, Any]) -> bool:
    """Whether a run is complete, and invalid for nothing but a lateness that leaves its mean usable."""
    reasons = manifest.get("reasons") or []
    late = bool(reasons) and all(str(reason).startswith(LATE) for reason in reasons)
    share = ((manifest.get("checks") or {}).get("lateness share of response") or {}).get("mean")
    return late and share is not None and share <= MOST and manifest.get("status", "complete") == "complete"
