"""The order of runs: at random, so that a drift of the machine is spread over all levels; in blocks if asked.

Source: Jain, The Art of Computer Systems Performance Analysis (1991), ch. 16; Box, Hunter, Hunter, Statistics for
Experimenters, 2nd ed. (2005), ch. 4 (randomised blocks).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import DesignError


def ordered(
    points: list[dict[str, Any]], repetitions: int, seed: int, block: str = "repetition", randomise: bool = True
) -> pl.DataFrame:
    """Each point `repetitions` times. `block`: `repetition` (each repetition is a block of its own, shuffled within:
    what changes from one hour to the next does not fall on one level), or `none` (one shuffle of all)."""
    if not (isinstance(repetitions, int) and repetitions >= 1):
        raise DesignError(repetitions, "repetitions", "give a whole number >= 1")
    if block not in ("repetition", "none"):
        raise DesignError(repr(block), "block", "use repetition or none")
    random = np.random.default_rng(seed)
    rows = [{"block": r + 1, "repetition": r + 1, **point} for r in range(repetitions) for point in points]
    if block == "none":
        rows = [{**row, "block": 1} for row in rows]
    order = np.arange(len(rows))
    if randomise:
        parts = np.split(order, repetitions) if block == "repetition" else [order]
        order = np.concatenate([random.permutation(part) for part in parts])
    return pl.DataFrame([{"run": place + 1, **rows[k]} for place, k in enumerate(order)])
