"""How few runs support a claim: those with which the exchange of A and B could reach the level (R. A. Fisher, 1935, section 21).

An A/A comparison on loopback lost three of its five pairs and said "better: mean -38 %" from the two that were left (issue 29).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sojourn.compare import (
    InterleavedLimits,
    RunValues,
    compare_commands,
    compare_urls,
    compare_values,
    paired,
    stratified,
)
from sojourn.errors import InputError

LATE = ("the generator was late",)


def pairs(a: list[float], b: list[float], lost: int = 0) -> tuple[list[RunValues], list[RunValues]]:
    """A run of each side a block; the first `lost` of B are not valid."""
    return tuple(
        [
            RunValues(
                f"{side} {k}",
                {"mean": t},
                {"rate_per_s": 50},
                f"block-{k:02d}",
                LATE if side == "B" and k < lost else (),
            )
            for k, t in enumerate(times)
        ]
        for side, times in (("A", a), ("B", b))
    )  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("level", "number", "each"),
    # 2/2^n <= 1 - level, and 2/C(2n, n): 2/16 = 12.5 %, 2/32 = 6.3 %, 2/64 = 3.1 %, 2/256 = 0.8 %; 2/20 = 10 %, 2/70 = 2.9 %, 2/252 = 0.8 %
    [(0.5, 2, 2), (0.9, 5, 3), (0.95, 6, 4), (0.99, 8, 5)],
)
def test_the_fewest_pairs_and_runs(level: float, number: int, each: int) -> None:
    one = [1.0, 1.1]
    assert paired(one, one).fewest(level) == number and stratified([(one, one)]).fewest(level) == each
    for count, enough in ((number - 1, False), (number, True)):
        assert paired([1.0] * count, [2.0] * count).enough(level) == enough
    for count, enough in ((each - 1, False), (each, True)):
        assert stratified([([1.0] * count, [2.0] * count)]).enough(level) == enough


def test_unequal_sides_and_several_conditions_count_their_exchanges() -> None:
    """C(6, 3) = 20 ways of 3 and 3 runs, C(6, 2) = 15 of 2 and 4; two conditions of 2 and 2 have 6 * 6."""
    assert stratified([([1.0] * 3, [2.0] * 3)]).enough(0.9) and not stratified([([1.0] * 2, [2.0] * 4)]).enough(0.9)
    four = ([1.0, 1.1], [2.0, 2.1])
    assert stratified([four, four]).enough(0.9) and not stratified([four]).enough(0.9)


def test_two_pairs_of_five_are_no_verdict() -> None:
    found = compare_values(*pairs([9.0, 9.0, 9.0, 10.0, 10.2], [9.0, 9.0, 9.0, 6.2, 6.3], lost=3))
    one = found["mean"]
    assert found.verdict == "cannot tell" and found.run_counts == (2, 2)
    assert one.high is not None and one.high < 0 and not one.differs, "the interval is shown, and no claim made of it"
    assert (
        one.further_runs_needed is not None
        and one.further_runs_needed >= 3
        and "more runs of each side would decide" in found.first_line()
    )
    assert "at least 5 pairs are needed" in found.notes[0] and "in 50 % of comparisons" in found.notes[0]


def test_equal_values_of_two_pairs_are_not_called_equivalent() -> None:
    found = compare_values(*pairs([10.0, 10.0], [10.0, 10.0]))
    assert found.verdict == "cannot tell" and not found["mean"].equivalent
    assert compare_values(*pairs([10.0] * 5, [10.0] * 5)).verdict == "equivalent"


@pytest.mark.parametrize("left", [2, 3, 4, *range(5, 13), 15, 17, 20])
def test_runs_that_fall_into_two_modes_hold_the_level(left: int) -> None:
    """A/A pairs that differ by +-20 % and little else: all fall on one side in 2^(1-n) of comparisons, 6.3 % of five and 50 % of two."""
    random = np.random.default_rng([29, left])
    claimed = 0
    for _ in range(1000):
        apart = 0.2 * random.choice([-1, 1], left) + 1e-3 * random.standard_normal(left)
        found = compare_values(*pairs([1.0] * left, np.exp(apart).tolist()))
        claimed += found.verdict in ("better", "worse")
    # 10 % of 1000, and three standard errors: 3 * sqrt(0.1 * 0.9 / 1000) = 2.8 %
    assert claimed / 1000 <= 0.128
    if left == 5:
        assert claimed / 1000 == pytest.approx(2**-4, abs=0.023), "2^-4, three standard errors"


def test_blocks_that_can_show_nothing_are_refused_before_the_first(tmp_path: Path) -> None:
    mark, limits = tmp_path / "ran", InterleavedLimits(4)
    with pytest.raises(InputError, match="at least 5"):
        compare_commands(["touch", str(mark)], ["true"], limits=limits)
    with pytest.raises(InputError, match="at least 5"):
        compare_urls("http://127.0.0.1:1/", "http://127.0.0.1:2/", rate_per_s=5, limits=limits, out=tmp_path / "out")
    with pytest.raises(InputError, match="at least 6.*for 2 metrics"):
        compare_commands(["touch", str(mark)], ["true"], limits=InterleavedLimits(5), metrics=["time", "cpu"])
    assert list(tmp_path.iterdir()) == []


def test_runs_that_have_nothing_in_common_to_compare() -> None:
    with pytest.raises(InputError, match="no metric that all runs have"):
        compare_values([RunValues("a", {"mean": 1.0})], [RunValues("b", {"time": 1.0})])
