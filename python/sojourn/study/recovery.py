"""How often intervals hold the truth over many simulated studies with known parameters: the check of every fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from scipy.stats import binom

from sojourn.study.estimate import Estimate

Found = Mapping[str, tuple[Estimate, float]]


def hits(study: Callable[[int], Found], seeds: Iterable[int]) -> dict[str, int]:
    """`study(seed)` gives by parameter its estimate and the truth; counts by parameter how often the interval has it."""
    count: Counter[str] = Counter()
    for seed in seeds:
        for name, (estimate, truth) in study(seed).items():
            count[name] += estimate.covers(truth)
    return dict(count)


def band(studies: int, level: float = 0.95, chance: float = 1e-3) -> tuple[int, int]:
    """Fewest and most hits of `studies` intervals of `level` that are right, each end missed with half of `chance`."""
    low, high = binom.ppf((chance / 2, 1 - chance / 2), studies, level)
    return int(low), int(high)
