"""What differs from run to run and blocks of a run do not show: added to resamples of configurations that were not repeated.

The variance between runs of a quantity is that of its residuals about the fit (relative, with the degrees of freedom that the
fit leaves) less what runs are uncertain by within; what the model misses is in it, too. Where runs of a configuration were
repeated, resampling whole runs has it already (`bootstrap`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.bootstrap import BootstrapSamples

Array = NDArray[np.float64]


def varied(sampled: BootstrapSamples, gaps: Mapping[str, Array], unknowns: int) -> dict[str, Array]:
    """`sampled.means` with a random factor for each resample, quantity and run that stands alone. `gaps`: quantity → logarithms of
    measured over fitted (runs,), NaN where it takes no part in the fit. Deterministic."""
    alone = np.bincount(sampled.cell)[sampled.cell] == 1
    random = np.random.default_rng([len(sampled.weight), 2])
    found = dict(sampled.means)
    for name, spread in spreads(sampled, gaps, unknowns).items():
        found[name] = found[name] * np.exp(spread * alone * random.standard_normal(found[name].shape))
    return found


def spreads(sampled: BootstrapSamples, gaps: Mapping[str, Array], unknowns: int) -> dict[str, float]:
    """Standard deviation between runs of the logarithm of each quantity; 0 or more."""
    used = {name: np.isfinite(gap) for name, gap in gaps.items()}
    rows = sum(int(own.sum()) for own in used.values())
    left = max(rows - unknowns, 1) / max(rows, 1)
    found = {}
    for name, own in used.items():
        if own.any():
            excess = (gaps[name][own] ** 2).mean() / left - (sampled.error[name][own] ** 2).mean()
            found[name] = float(np.sqrt(max(excess, 0.0)))
    return found
