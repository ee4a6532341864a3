"""Ratios of runs against scipy's and statsmodels' tests on the logarithms, which are other programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from sojourn.compare import LogRatio, compare_values, paired, stratified
from sojourn.compare.run_values import RunValues

LEVEL = 0.9


def drawn(seed: int, count: int, spread: float, ratio: float = 1.0) -> np.ndarray:
    return 0.01 * ratio * np.exp(spread * np.random.default_rng(seed).standard_normal(count))


def runs(values: np.ndarray, blocks: bool = False) -> list[RunValues]:
    return [
        RunValues(f"{k}", {"mean": float(v)}, {"rate_per_s": 50}, f"block-{k}" if blocks else "")
        for k, v in enumerate(values)
    ]


@pytest.mark.parametrize(("first", "second", "spread"), [(5, 5, 0.05), (3, 9, 0.2), (8, 4, 0.01)])
def test_one_condition_is_welchs_test(first: int, second: int, spread: float) -> None:
    a, b = drawn(1, first, 0.03), drawn(2, second, spread, 1.04)
    found = stratified([(a, b)])
    other = stats.ttest_ind(np.log(b), np.log(a), equal_var=False)
    ends = other.confidence_interval(LEVEL)
    assert found.interval(LEVEL) == pytest.approx((math.exp(ends.low), math.exp(ends.high)), rel=1e-9)
    assert found.degrees == pytest.approx(other.df)


def test_pairs_are_the_paired_test() -> None:
    a, b = drawn(1, 7, 0.1), drawn(2, 7, 0.1, 1.05)
    ends = stats.ttest_rel(np.log(b), np.log(a)).confidence_interval(LEVEL)
    assert paired(a, b).interval(LEVEL) == pytest.approx((math.exp(ends.low), math.exp(ends.high)), rel=1e-9)


def test_several_conditions_count_alike() -> None:
    """Two conditions: the mean of both differences, the root of the sum of their squared errors over two (by hand)."""
    parts = [(drawn(1, 4, 0.05), drawn(2, 4, 0.05)), (drawn(3, 6, 0.1) * 7, drawn(4, 3, 0.1) * 7)]
    found, each = stratified(parts), [stratified([one]) for one in parts]
    assert found.difference == pytest.approx((each[0].difference + each[1].difference) / 2)
    assert found.error == pytest.approx(math.hypot(each[0].error, each[1].error) / 2)
    assert min(one.degrees for one in each) <= found.degrees <= sum(one.degrees for one in each)


@pytest.mark.parametrize("seed", range(12))
def test_an_interval_within_the_margin_is_two_one_sided_tests(seed: int) -> None:
    from statsmodels.stats.weightstats import (
        ttost_ind,
        ttost_paired,
    )  # slow to import: not where tests are only collected

    a, b = drawn(seed, 6, 0.03), drawn(seed + 100, 8, 0.03, 1.01)
    edge = math.log(1.05)
    for found, chance in (
        (stratified([(a, b)]), ttost_ind(np.log(b), np.log(a), -edge, edge, usevar="unequal")[0]),
        (paired(a, b[:6]), ttost_paired(np.log(b[:6]), np.log(a), -edge, edge)[0]),
    ):
        low, high = found.interval(LEVEL)
        assert (low >= 1 / 1.05 and high <= 1.05) == (chance < 0.05)


@pytest.mark.parametrize(("spread", "margin"), [(0.05, 0.05), (0.1, 0.05), (0.2, 0.1)])
def test_runs_needed_is_the_known_formula_where_they_are_many(spread: float, margin: float) -> None:
    """S. A. Julious, Statistics in Medicine 23 (2004), 1921-1986, (26): two groups, no difference, two one-sided tests."""
    found = LogRatio(0.0, spread * math.sqrt(2 / 200), 398, 200).runs_needed(margin, LEVEL)
    z = stats.norm.ppf(0.95) + stats.norm.ppf(0.9)
    assert found == pytest.approx(2 * (z * spread / math.log1p(margin)) ** 2, abs=2)


def test_runs_needed_of_sides_with_unequal_counts_are_of_each_sides_own_spread() -> None:
    """The same formula with s_A^2 + s_B^2 in place of 2 s^2; A differs little from run to run and has many, B much and has more."""
    a, b = drawn(1, 150, 0.02), drawn(2, 600, 0.2)
    variance = float(np.log(a).var(ddof=1) + np.log(b).var(ddof=1))
    z = stats.norm.ppf(0.95) + stats.norm.ppf(0.9)
    expected = variance * (z / math.log1p(0.05)) ** 2
    assert stratified([(a, b)]).runs_needed(0.05, LEVEL) == pytest.approx(expected, rel=0.02)


def test_runs_needed_to_find_a_difference_is_the_known_formula_where_they_are_many() -> None:
    """The same place, (6): two groups that differ, one test of the difference."""
    z = stats.norm.ppf(0.95) + stats.norm.ppf(0.8)
    found = LogRatio(0.08, 0.2 * math.sqrt(2 / 200), 398, 200).runs_needed_as_seen(LEVEL)
    assert found == pytest.approx(2 * (z * 0.2 / 0.08) ** 2, abs=2)
    few = compare_values(runs(np.array([0.010, 0.013, 0.009])), runs(np.array([0.014, 0.017, 0.010])))
    one = few["mean"]
    as_measured = one.further_runs_needed_if_as_measured
    assert as_measured is not None and one.further_runs_needed is not None and as_measured < one.further_runs_needed
    said = f"; about {as_measured} more runs of each side would decide if the difference is as large as it looks"
    assert few.first_line().endswith(said) and str(one.further_runs_needed) not in few.first_line()


def test_what_nobody_can_know() -> None:
    one = stratified([([1.0], [2.0])])
    assert not one.known and one.interval(LEVEL) == (0.0, math.inf) and one.runs_needed(0.05, LEVEL) is None
    assert LogRatio(0.0, 10.0, 4, 3).runs_needed(0.05, LEVEL) is None, "more than 1000"


def test_equal_values_are_equivalent() -> None:
    found = compare_values(runs(np.full(3, 0.1)), runs(np.full(3, 0.1)))
    assert found.verdict == "equivalent" and found["mean"].low == found["mean"].high == 0
