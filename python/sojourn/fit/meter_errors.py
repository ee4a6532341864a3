"""What a meter is off in all runs alike: no resampling of runs shows it, so that draws of a fit have it put in.

Each draw has one factor a meter, between 1 - b and 1 + b with equal probability, b the bound that runs state for it
(`runs/core_utilisation.py`): evaluation of type B, JCGM 100:2008 (GUM), 4.3.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.runs.core_utilisation import core_groups, meter_errors
from sojourn.runs.manifest import Manifest

Array = NDArray[np.float64]
INTERRUPTS = " interrupts"  # behind the name of a resource that is cores: their time in soft interrupts


def bounds(manifest: Manifest, resources: Mapping[str, Any]) -> dict[str, float]:
    """Resource → bound of its relative error, of those that are cores which take interrupts; none where it is 0."""
    leading = set(core_groups(manifest)[0])
    known = meter_errors(manifest)
    found: dict[str, float] = {}
    for name, resource in resources.items():
        cores = set(resource.get("cores", ()))
        if cores and cores <= leading:
            found[name] = known["util_leading_error"]
            found[name + INTERRUPTS] = known["softirq_leading_error"]
    return {name: bound for name, bound in found.items() if bound > 0}


def drawn(meter: NDArray[np.intp], bound: Array, count: int, rng: np.random.Generator) -> Array:
    """count x n, what is added to logarithms of n measured numbers: `meter` n, which meter has told each, `bound` n."""
    if not bound.any():
        return np.zeros((count, len(bound)))
    factor = rng.uniform(-1, 1, (count, int(meter.max(initial=0)) + 1))[:, meter]
    return np.asarray(np.log1p(bound * factor))
