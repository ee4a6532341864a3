"""Two things measured in turn: blocks that hold each once, in random order, so that a machine that changes slowly favours neither.

Randomised blocks: G. E. P. Box, J. S. Hunter and W. G. Hunter, Statistics for Experimenters, 2nd ed. (2005), 3.2 and 4.2; half of the
blocks begin with A. How many blocks there are is not decided by looking at what came out: whoever stops when a difference shows finds
one more often than the level says (P. Armitage, C. K. McPherson and B. C. Rowe, J. R. Stat. Soc. A 132 (1969), 235-244).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from sojourn.compare.run_values import RunValues
from sojourn.errors import InputError
from sojourn.load.schedule_seed import fresh_seed
from sojourn.units import seconds

SIDES = ("a", "b")
Told = Callable[[str], None]


@dataclass(frozen=True)
class InterleavedLimits:
    """`blocks` at most, 2 to 1000, within `within_s` in all; `seed` of the order and of the schedules, which both sides share [another each
    time, which the notes tell]."""

    blocks: int = 10
    within_s: float = 180.0
    seed: int | None = None

    def __post_init__(self) -> None:
        for value, place, ok, remedy in (
            (self.blocks, "--blocks", 2 <= self.blocks <= 1000, "give 2 to 1000"),
            (self.within_s, "--within", 1 <= self.within_s <= 86400, "give 1s to 24h"),
        ):
            if not ok:
                raise InputError(value, place, remedy)

    def seeded(self) -> InterleavedLimits:
        """The same, with a seed."""
        return self if self.seed is not None else replace(self, seed=fresh_seed())

    def told(self) -> str:
        """What repeats the order and the schedules, in words."""
        return f"order and repeat the same schedules with --seed {self.seed}"


def orders(blocks: int, seed: int) -> list[tuple[str, str]]:
    """Which side comes first in each block."""
    found = [(SIDES[k % 2], SIDES[1 - k % 2]) for k in range(blocks)]
    random.Random(seed).shuffle(found)
    return found


def interleaved(
    run: Callable[[str, int], RunValues], limits: InterleavedLimits, told: Told = lambda _line: None,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[list[RunValues], list[RunValues], str]:  # fmt: skip
    """Runs of A, runs of B, and why there are not more of them.

    `run`: makes the run of a side (`a`, `b`) in a block, numbered from 1. A block is begun where there is time left for one as long as the
    longest so far.
    """
    limits = limits.seeded()
    assert limits.seed is not None
    found: dict[str, list[RunValues]] = {side: [] for side in SIDES}
    began, longest = clock(), 0.0
    for number, order in enumerate(orders(limits.blocks, limits.seed), 1):
        since = clock()
        if number > 1 and since - began + longest > limits.within_s:
            why = (
                f"the time limit was reached "
                f"after {number - 1} of {limits.blocks} blocks; --within allows more than {seconds(limits.within_s)}"
            )
            return found["a"], found["b"], why
        for side in order:
            found[side].append(run(side, number))
        longest = max(longest, clock() - since)
        told(f"block {number} of {limits.blocks}: {_pair(found['a'][-1], found['b'][-1])}")
    return found["a"], found["b"], ""


def _pair(a: RunValues, b: RunValues) -> str:
    metric = next((name for name in ("mean", "time") if name in a.values and name in b.values), "")
    if not metric:
        return "; ".join(reason for one in (a, b) for reason in one.reasons[:1])
    return f"{metric} {seconds(a.values[metric])} and {seconds(b.values[metric])}"
