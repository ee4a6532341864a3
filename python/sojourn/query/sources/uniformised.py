"""The distribution function of a chain's time to its end, from the probability of being absorbed by event 0, 1, 2 …

Source: uniformisation: A. Jensen, Skand. Aktuarietidskr. 36 (1953), pp. 87-91; that what is left becomes one exponential, whatever the
start: J. N. Darroch, E. Seneta, J. Appl. Prob. 4 (1967), pp. 192-196 (the quasi-stationary law).

Stable: probabilities times probabilities, nothing is subtracted; Poisson weights in logarithms (scipy).
Limits: `STEPS` events until it is absorbed, or until the law of what is left no longer changes. That it does not is taken as settled
only where the mean that follows from it is the mean by elimination, so that a second slow way out is not overlooked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sojourn.errors import SourceRefused
from sojourn.query.values import Array
from sojourn.solve.single.poisson_distribution import poisson

STEPS = 300_000
LEFT = 1e-17  # probability that is still on its way, when it is given up
FIRST_CHECK = 1024  # events; then after twice as many
SETTLED, SAME_MEAN = 1e-11, 1e-8


@dataclass(frozen=True)
class AbsorptionByEvents:
    """`by` (k,): probability of being absorbed by event 0 … k - 1; then of the `left` each event absorbs the share `ends` and takes
    away the share `leaves`."""

    by: Array
    left: float
    ends: float
    leaves: float

    def cdf(self, mean: float) -> float:
        """With a Poisson number of events of this mean."""
        spread, last = 12 * math.sqrt(mean) + 60, len(self.by) - 1
        if mean - spread > last:
            return float(self._after(-np.expm1(-mean * self.leaves - last * np.log1p(-self.leaves))))
        k = np.arange(max(0, math.floor(mean - spread)), math.ceil(mean + spread) + 1)
        later = -np.expm1(np.maximum(k - last, 0) * math.log1p(-self.leaves))
        by = np.where(k > last, self._after(later), self.by[np.minimum(k, last)])
        weights = poisson(k, mean)  # of large means good to 1e-9 only, but alike: divided by their sum
        return float(weights @ by / weights.sum())

    def _after(self, gone: Array) -> Array:
        return self.by[-1] + (self.left * self.ends / self.leaves * gone if self.leaves else 0.0)


def absorbed_by_event(
    start: Array,
    steps: sparse.csr_array,
    stay: Array,
    end: Array,
    lost: Array,
    at_once: float,
    mean: Callable[[], float],
    name: str,
) -> AbsorptionByEvents:
    """`steps` (into row, from column), `stay`, `end`, `lost`: probabilities of one event; `mean`: events until it leaves, asked at most a
    few times. Raises SourceRefused."""
    law, found, survived = start, [at_once], 0.0
    before: tuple[Array, float] | None = None
    check = FIRST_CHECK
    while (left := float(law.sum())) > LEFT:
        events = len(found) - 1
        if events == check:
            shape, check = law / left, 2 * check
            ends, leaves = float(shape @ end), float(shape @ (end + lost))
            if before is not None and _settled(before, shape, leaves):
                total = mean()
                if abs(survived + left / leaves - total) <= SAME_MEAN * total:
                    return AbsorptionByEvents(np.array(found), left, ends, leaves)
            before = shape, leaves
        if events > STEPS:
            said = f"{name}: it takes more than {STEPS} events of the chain"
            raise SourceRefused(said, "analytic source", "ask for its mean, or simulate")
        survived += left
        found.append(found[-1] + float(law @ end))
        law = law * stay + steps @ law
    return AbsorptionByEvents(np.array(found), 0.0, 0.0, 0.0)


def _settled(before: tuple[Array, float], shape: Array, leaves: float) -> bool:
    return bool(
        leaves > 0 and np.abs(shape - before[0]).sum() < SETTLED and abs(leaves - before[1]) < SETTLED * leaves * 10
    )
