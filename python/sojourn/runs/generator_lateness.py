"""What it does to a run that its generator was late: an error of known size, and no reason to throw the run away.

Response times run from when a request was due, so the generator's own lateness is in them: a mean is too long by at most what
`schedule_check` finds, and by less where the service would have kept the request waiting anyway. What of it is in the mean, a share x in
[0, 1], is taken to have the density 2x (most of it where requests found the service idle): mean 2/3, variance 1/18.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

LATE_REASON = "the generator was the bottleneck"  # a reason in the manifest that begins so
SHARE = "lateness share of response"  # checks in the manifest, of figures
CHANGE = "lateness can change"
MOST_LATENESS = 0.1  # of a figure that the run is valid for
TOLD = 0.05  # of a mean: less is not worth telling


class LatenessError(NamedTuple):
    """`factor` on the measured figure, and the relative standard `error` that is left."""

    factor: float
    error: float


def lateness_error(manifest: Mapping[str, Any], figure: str = "mean") -> LatenessError:
    """Of the mean response time, or `p99`, by the lateness that the generator recorded; (1, 0) where it changes next to nothing, or is part
    of the system (a client that shares the core of its interrupts)."""
    share = _change(manifest, figure)
    shares = (manifest.get("placement") or {}).get("client_shares")
    if share is None or share < TOLD or shares:
        return LatenessError(1.0, 0.0)
    factor = 1 - share * 2 / 3
    return LatenessError(factor, share / math.sqrt(18) / factor)


def only_late(manifest: Mapping[str, Any]) -> bool:
    """Whether a run is complete, and invalid for nothing but a lateness whose error is known."""
    reasons = manifest.get("reasons") or []
    late = bool(reasons) and all(str(reason).startswith(LATE_REASON) for reason in reasons)
    return late and _change(manifest) is not None and manifest.get("status", "complete") == "complete"


def _change(manifest: Mapping[str, Any], figure: str = "mean") -> float | None:
    """The share by which lateness can change a figure; of an older run, where that was late, its lateness."""
    checks = manifest.get("checks") or {}
    late = any(str(reason).startswith(LATE_REASON) for reason in manifest.get("reasons") or ())
    found = (checks.get(CHANGE) or {}).get(figure)
    if found is None and late:
        found = (checks.get(SHARE) or {}).get(figure)
    return None if found is None else min(max(float(found), 0.0), 1.0)
