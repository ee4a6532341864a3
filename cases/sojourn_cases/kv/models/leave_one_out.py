"""How wrong a model is at a configuration that it was not fitted on, and intervals from that.

Each fitted configuration is left out once, whole, with all its client counts, and predicted by a fit of the others (training
data still: the terms were chosen by such errors). Errors of the logarithm grow with v, the standard deviation of the logarithm of
the predicted CPU time over fits of configurations drawn with replacement, which is larger far from what was fitted. So their scale
is sqrt(t² + (c v)²), t what runs and configurations differ beyond; t and c are those of the largest likelihood of a Laplace
distribution, which has the heavy tails of a machine that is slow for a minute now and then. The interval at a level takes that
quantile of the scaled errors, whatever their distribution. Sources: J. Lei et al., Distribution-Free Predictive Inference for
Regression, JASA 113 (2018), sections 2.3 and 5.2; A. C. Davison, D. V. Hinkley, Bootstrap Methods and their Application (1997), 3.8
(whole groups drawn).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SPREADS = np.geomspace(0.01, 1.0, 41)
STRETCHES = np.linspace(0.0, 4.0, 17)


@dataclass(frozen=True)
class LeaveOneOutErrors:
    """`scores`: absolute errors of the logarithm over their scale, in order; `spread` t and `stretch` c as above; `error`: the root
    mean square."""

    scores: tuple[float, ...] = ()
    spread: float = 0.0
    stretch: float = 0.0
    error: float = 0.0

    def factor(self, level: float, doubt: float) -> float | None:
        """An interval is from the value over this to the value times this; `doubt` is v above. None where there are too few errors
        for such a level."""
        rank = math.ceil((len(self.scores) + 1) * level)
        if rank > len(self.scores):
            return None
        return math.exp(self.scores[rank - 1] * math.hypot(self.spread, self.stretch * doubt))


def left_out(errors: Sequence[float] | np.ndarray, doubts: Sequence[float] | np.ndarray) -> LeaveOneOutErrors:
    """From the errors of the logarithm where configurations were left out, a value a run, and v of each."""
    off, doubt = np.abs(np.asarray(errors, dtype=float)), np.asarray(doubts, dtype=float)
    if not len(off):
        return LeaveOneOutErrors()
    scale = np.hypot(SPREADS[:, None, None], STRETCHES[None, :, None] * doubt)  # spreads × stretches × errors
    surprise = (np.log(scale) + off / scale).sum(axis=2)
    k, j = np.unravel_index(int(np.argmin(surprise)), surprise.shape)
    scores = np.sort(off / scale[k, j])
    error = float(np.sqrt(np.mean(off**2)))
    return LeaveOneOutErrors(tuple(float(s) for s in scores), float(SPREADS[k]), float(STRETCHES[j]), error)
