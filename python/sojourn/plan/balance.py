"""How evenly work spreads over M service centres: even and random assignment, and pieces (quanta) of the items.

Source: as `sojourn.solve.expected_maximum`; errata of the fourth document, section 5, for what its formulas get wrong.

    source        here
    M             centres
    N             items, each of mean `item_mean` and standard deviation `item_deviation`
    k             pieces of an item, each of standard deviation `piece_deviation`

An item's k pieces, dealt out one by one: kN/M pieces a centre, so the busiest exceeds the mean by e_M s sqrt(k N/M), s the
deviation of a piece. Whole items give e_M sigma sqrt(N/M). So pieces are better where s < sigma/sqrt(k), and by sigma/(s sqrt(k)).
Limits: pieces are independent of each other, and all items have k of them; sums are taken as normal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from sojourn.errors import InputError
from sojourn.former_keyword import former_field, former_keyword
from sojourn.plan.nested_balance import BusiestOnLevel, NestedLevel, nested_balance
from sojourn.solve.expected_maximum import busiest_load, imbalance, normal_maximum

MOST = 10_000_000


@former_field(
    quanta="pieces_per_item",
    mean="item_mean",
    deviation="item_deviation",
    quantum_deviation="piece_deviation",
    expected_maximum="expected_max_of_normals",
    bound="max_of_normals_bound",
    blom="max_of_normals_by_blom",
    even="busiest_if_in_turn",
    even_over="busiest_over_mean_if_in_turn",
    random="busiest_if_random",
    random_over="busiest_over_mean_if_random",
    break_even="break_even_piece_deviation",
    gain="excess_ratio",
)
@dataclass(frozen=True)
class Balance:
    """`expected_max_of_normals`: of as many standard normal variables as there are centres, exact; `max_of_normals_bound`,
    sqrt(2 ln M), and `max_of_normals_by_blom`, Phi^-1((M - 3/8)/(M + 1/4)), beside it. `busiest_if_in_turn`, `busiest_if_random`: load of
    the busiest centre in the unit of `item_mean`, relative to the mean load in `busiest_over_mean_if_in_turn`,
    `busiest_over_mean_if_random`. `break_even_piece_deviation`: deviation of a piece below which pieces spread work better than whole
    items; `excess_ratio`: by which factor the busiest's excess is smaller with them, None where no deviation of pieces was given.
    `levels`: of these centres and of each level within them; empty where none was given."""

    centres: int
    pieces_per_item: int
    items: float
    item_mean: float
    item_deviation: float
    expected_max_of_normals: float
    max_of_normals_bound: float
    max_of_normals_by_blom: float
    busiest_if_in_turn: float
    busiest_over_mean_if_in_turn: float
    busiest_if_random: float
    busiest_over_mean_if_random: float
    break_even_piece_deviation: float
    piece_deviation: float | None
    excess_ratio: float | None
    levels: tuple[BusiestOnLevel, ...] = ()


@former_keyword(
    mean="item_mean", deviation="item_deviation", quanta="pieces_per_item", quantum_deviation="piece_deviation"
)
def balance(
    centres: int, *, items: float | None = None, item_mean: float = 1.0, item_deviation: float = 0.5, pieces_per_item: int = 1,
    piece_deviation: float | None = None, levels: Sequence[NestedLevel] = (),
) -> Balance:  # fmt: skip
    """`centres` and `pieces_per_item` whole numbers of 1 or more; `items` > 0 (None: 16 a centre), `item_mean` > 0, `item_deviation` >= 0
    in its unit, `piece_deviation` > 0; `levels`: what each centre deals out further to centres of its own, and so on. Raises InputError."""
    for name, value in (("centres", centres), ("pieces_per_item", pieces_per_item)):
        if value != int(value) or not 1 <= value <= MOST:
            raise InputError(value, name, f"give a whole number from 1 to {MOST}")
    n = 16.0 * centres if items is None else float(items)
    for name, given in (("items", n), ("item_mean", item_mean), ("piece_deviation", piece_deviation)):
        if given is not None and not (math.isfinite(given) and given > 0):
            raise InputError(given, name, "give a number above 0")
    if not (math.isfinite(item_deviation) and item_deviation >= 0):
        raise InputError(item_deviation, "item_deviation", "give a number of 0 or more")
    for one in levels:
        if one.centres != int(one.centres) or not 1 <= one.centres <= MOST:
            raise InputError(one.centres, "centres of a level", f"give a whole number from 1 to {MOST}")
        if not (math.isfinite(one.pieces_per_piece) and one.pieces_per_piece > 0):
            raise InputError(one.pieces_per_piece, "pieces of a level", "give a number above 0")
        if not (math.isfinite(one.piece_deviation) and one.piece_deviation >= 0):
            raise InputError(one.piece_deviation, "piece_deviation of a level", "give a number of 0 or more")
    mean, deviation = item_mean, item_deviation
    break_even = deviation / math.sqrt(pieces_per_item)
    return Balance(
        int(centres), int(pieces_per_item), n, mean, deviation,
        float(normal_maximum(centres)), math.sqrt(2 * math.log(centres)),
        float(ndtri((centres - 0.375) / (centres + 0.25))) if centres > 1 else 0.0,
        float(busiest_load(n, centres, mean=mean, deviation=deviation)),
        float(imbalance(n, centres, mean=mean, deviation=deviation)),
        float(busiest_load(n, centres, mean=mean, deviation=deviation, assignment="random")),
        float(imbalance(n, centres, mean=mean, deviation=deviation, assignment="random")),
        break_even, piece_deviation, None if piece_deviation is None else float(np.divide(break_even, piece_deviation)),
        nested_balance([NestedLevel(int(centres), 1.0, deviation), *levels], n, mean) if levels else (),
    )  # fmt: skip
