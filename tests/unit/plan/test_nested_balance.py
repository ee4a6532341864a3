"""Balance in levels: one level as published, levels that change nothing, and sums drawn at random."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sojourn as sj
from sojourn.errors import InputError
from sojourn.plan.nested_balance import NestedLevel, deviations, nested_balance

NORMALS = pl.read_csv(Path(__file__).parents[2] / "published/data/expected_max_of_normals.csv")
PUBLISHED = {row["n"]: row["exact_E_max"] for row in NORMALS.to_dicts()}


@pytest.mark.parametrize("centres", [2, 4, 8, 64, 1000])
def test_one_level_is_the_expected_maximum(centres: int) -> None:
    """e_M sigma sqrt(N/M), e_M as published."""
    (one,) = nested_balance([NestedLevel(centres, 1, 0.5)], 4000.0, 1.0)
    assert one.busiest - one.mean_load == pytest.approx(PUBLISHED[centres] * 0.5 * (4000 / centres) ** 0.5, rel=1e-4)
    assert one.mean_load == 4000 / centres


def test_levels_that_deal_out_the_same_pieces_are_one_level() -> None:
    """Whole items at both levels: a last centre has N/(M1 M2) items of its own."""
    first, last = nested_balance([NestedLevel(4, 1, 0.5), NestedLevel(16, 1, 0.5)], 6400.0, 1.0)
    assert first.busiest == pytest.approx(1600 + PUBLISHED[4] * 0.5 * 1600**0.5, rel=1e-6)
    assert last.busiest - 100 == pytest.approx(PUBLISHED[64] * 0.5 * 100**0.5, rel=1e-4)


def test_pieces_that_are_all_alike_leave_the_busiest_of_the_level_before() -> None:
    """Its load in equal parts: the excess of a last centre is that of its group over M2, so that the share over the mean stays."""
    first, last = nested_balance([NestedLevel(8, 1, 1586.0), NestedLevel(4, 11, 0.0)], 4000.0, 20270.0)
    assert last.busiest_over_mean == pytest.approx(first.busiest_over_mean, rel=1e-4)


def test_exchanges_to_links_and_their_frames_to_lanes_by_drawing_them() -> None:
    """3 links of 5 lanes, 300 items of 4 pieces that share half of their variance; means of 20 000 maxima are good to 0.7 %."""
    random, runs, links, lanes, s = np.random.default_rng(7), 20_000, 3, 5, 1.0
    pieces = 300 * 4 / (links * lanes)  # of each lane
    shared = (
        2 * s * random.standard_normal((runs, links, 1)) * (300 / links) ** 0.5
    )  # of an item variance 8: 4 of its pieces, 4 of it as a whole
    own = s * random.standard_normal((runs, links, lanes)) * pieces**0.5
    drawn = (shared / lanes + own).max(axis=(1, 2)).mean()
    levels = [NestedLevel(links, 1, 8**0.5), NestedLevel(lanes, 4, s)]
    assert deviations(levels, 300.0) == pytest.approx([2 * 10 / 5, 80**0.5])
    found = nested_balance(levels, 300.0, 1.0)[-1]
    assert found.busiest - found.mean_load == pytest.approx(drawn, rel=0.01)


def test_frames_within_exchanges_as_in_the_source_document() -> None:
    """20 270 +- 1586 bytes in 11 frames of +- 6: frames to all lanes are 80 times better than exchanges (errata, section 5); in levels
    the links decide."""
    flat = sj.plan.balance(16, items=4000, item_mean=20270, item_deviation=1586, pieces_per_item=11, piece_deviation=6)
    assert flat.excess_ratio == pytest.approx(79.7, abs=0.1)
    found = sj.plan.balance(4, items=4000, item_mean=20270, item_deviation=1586, levels=[NestedLevel(4, 11, 6.0)])
    first, last = found.levels
    assert (first.centres, last.centres) == (4, 16)
    assert first.busiest == pytest.approx(found.busiest_if_in_turn, rel=1e-6)
    assert first.busiest_over_mean < last.busiest_over_mean < 1.05 * first.busiest_over_mean
    assert last.busiest_over_mean < flat.busiest_over_mean_if_in_turn


def test_pieces_that_differ_more_than_what_they_make_up_are_refused() -> None:
    with pytest.raises(InputError, match="give 478.2 at most"):
        sj.plan.balance(4, item_mean=20270, item_deviation=1586, levels=[NestedLevel(4, 11, 500.0)])
    for wrong in (NestedLevel(0, 1, 0.1), NestedLevel(2, 0.0, 0.1), NestedLevel(2, 1, -1.0)):
        with pytest.raises(InputError):
            sj.plan.balance(4, levels=[wrong])
