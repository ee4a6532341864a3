"""How evenly work spreads over M service centres: even and random assignment, and pieces (quanta) of the items.

Source: as `sojourn.solve.expected_maximum`; errata of the fourth document, section 5, for what its formulas get wrong.

    source        here
    M             centres
    N             items, each of mean `mean` and standard deviation `deviation`
    k             quanta: pieces of an item, each of standard deviation `quantum_deviation`

An item's k pieces, dealt out one by one: kN/M pieces a centre, so the busiest exceeds the mean by e_M s sqrt(k N/M), s the
deviation of a piece. Whole items give e_M sigma sqrt(N/M). So pieces are better where s < sigma/sqrt(k), and by sigma/(s sqrt(k)).
Limits: pieces are independent of each other, and all items have k of them; sums are taken as normal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from sojourn.errors import InputError
from sojourn.solve.expected_maximum import busiest_load, imbalance, normal_maximum

MOST = 10_000_000


@dataclass(frozen=True)
class Balance:
    """`expected_maximum`: of as many standard normal variables as there are centres, exact; `bound` sqrt(2 ln M) and `blom`,
    Phi^-1((M - 3/8)/(M + 1/4)), beside it. `even`, `random`: load of the busiest centre in the unit of `mean`, relative to the mean
    load in `even_over`, `random_over`. `break_even`: deviation of a piece below which pieces spread work better than whole
    items; `gain`: by which factor the busiest's excess is smaller with them, None where no deviation of pieces was given."""

    centres: int
    quanta: int
    items: float
    mean: float
    deviation: float
    expected_maximum: float
    bound: float
    blom: float
    even: float
    even_over: float
    random: float
    random_over: float
    break_even: float
    quantum_deviation: float | None
    gain: float | None


def balance(
    centres: int, *, items: float | None = None, mean: float = 1.0, deviation: float = 0.5, quanta: int = 1,
    quantum_deviation: float | None = None,
) -> Balance:  # fmt: skip
    """`centres` and `quanta` whole numbers of 1 or more; `items` > 0 (None: 16 a centre), `mean` > 0, `deviation` >= 0 in its unit,
    `quantum_deviation` > 0. Raises InputError."""
    for name, value in (("centres", centres), ("quanta", quanta)):
        if value != int(value) or not 1 <= value <= MOST:
            raise InputError(value, name, f"give a whole number from 1 to {MOST}")
    n = 16.0 * centres if items is None else float(items)
    for name, given in (("items", n), ("mean", mean), ("quantum_deviation", quantum_deviation)):
        if given is not None and not (math.isfinite(given) and given > 0):
            raise InputError(given, name, "give a number above 0")
    if not (math.isfinite(deviation) and deviation >= 0):
        raise InputError(deviation, "deviation", "give a number of 0 or more")
    break_even = deviation / math.sqrt(quanta)
    return Balance(
        int(centres), int(quanta), n, mean, deviation,
        float(normal_maximum(centres)), math.sqrt(2 * math.log(centres)),
        float(ndtri((centres - 0.375) / (centres + 0.25))) if centres > 1 else 0.0,
        float(busiest_load(n, centres, mean=mean, deviation=deviation)),
        float(imbalance(n, centres, mean=mean, deviation=deviation)),
        float(busiest_load(n, centres, mean=mean, deviation=deviation, assignment="random")),
        float(imbalance(n, centres, mean=mean, deviation=deviation, assignment="random")),
        break_even, quantum_deviation, None if quantum_deviation is None else float(np.divide(break_even, quantum_deviation)),
    )  # fmt: skip
