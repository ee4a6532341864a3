"""Exchanges of A and B: scipy's permutation tests, which are another program; shares of signs, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from sojourn.compare import RunValues, compare_values, paired, stratified
from sojourn.compare.exchanges import MOST_COUNTED, chance, exchanges

LEVEL = 0.9


def runs(values: np.ndarray, blocks: bool) -> list[RunValues]:
    return [
        RunValues(f"{k}", {"mean": float(v)}, {"rate_per_s": 50}, f"block-{k:02d}" if blocks else "")
        for k, v in enumerate(values)
    ]


def pairs_apart(apart: list[float]) -> tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]:
    return tuple(((0.0,), (x,)) for x in apart)


def test_pairs_by_hand() -> None:
    # of 2^3 = 8 signs of 1, 2, 3 the sums 6 and -6 are as far out as 6, and 0, 0, 2, -2, 4, -4 are not
    assert chance(pairs_apart([1.0, 2.0, 3.0])) == pytest.approx(2 / 8)
    assert chance(pairs_apart([1.0, 2.0, 3.0]), side=1) == pytest.approx(1 / 8)
    assert chance(pairs_apart([-1.0, 2.0, 3.0])) == pytest.approx(4 / 8)  # 6, 4 and their opposites
    # six of seven on one side, all alike: 8 of 128 ways have at least six there, and as many on the other
    assert chance(pairs_apart([0.2] * 6 + [-0.2])) == pytest.approx(16 / 128)


def test_sides_by_hand() -> None:
    # of 6 ways to draw two of 1, 2, 3, 4 the sums 3 and 7 are as far apart as 3 and 7
    assert chance([((1.0, 2.0), (3.0, 4.0))]) == pytest.approx(2 / 6)
    assert chance([((1.0, 2.0), (3.0, 4.0))], side=-1) == pytest.approx(1.0)
    assert chance([((1.0, 2.0), (3.0, 4.0))], shift=2.0) == pytest.approx(1.0), "B less 2 is A"
    assert exchanges([(2, 2), (2, 3)]) == 6 * 10


@pytest.mark.parametrize("side", [0, 1, -1])
def test_another_program_counts_the_same(side: int) -> None:
    kind = {0: "two-sided", 1: "greater", -1: "less"}[side]
    random = np.random.default_rng([4, side + 1])
    a, b = random.standard_normal(5), random.standard_normal(6) + 0.5

    def difference(x: np.ndarray, y: np.ndarray, axis: int = 0) -> np.ndarray:
        return y.mean(axis=axis) - x.mean(axis=axis)

    apart = stats.permutation_test((a, b), difference, n_resamples=np.inf, vectorized=True)
    least, most = (
        float(stats.permutation_test((a, b), difference, n_resamples=np.inf, vectorized=True, alternative=one).pvalue)
        for one in ("less", "greater")
    )
    found = chance([(tuple(a), tuple(b))], side=side)
    if side:
        assert found == pytest.approx(most if side > 0 else least)
    else:  # scipy doubles the smaller tail; here both tails are counted as they are
        far = np.abs(apart.null_distribution) >= abs(b.mean() - a.mean()) - 1e-12
        assert found == pytest.approx(float(far.mean()))
    x, y = random.standard_normal(8), random.standard_normal(8) + 0.3
    signs = stats.permutation_test(
        (y - x,), lambda z, axis: z.mean(axis=axis), permutation_type="samples", n_resamples=np.inf, vectorized=True,
        alternative=kind,
    )  # fmt: skip
    assert chance([((p,), (q,)) for p, q in zip(x, y, strict=True)], side=side) == pytest.approx(float(signs.pvalue))


def test_more_ways_than_are_counted_are_drawn() -> None:
    """Signs of twenty pairs, fourteen of which are on one side: 2 P(X >= 14), X binomial(20, 1/2)."""
    truth = 2 * float(stats.binom.sf(13, 20, 0.5))
    assert MOST_COUNTED < 2**20
    found = chance(pairs_apart([0.2] * 14 + [-0.2] * 6))
    assert found == pytest.approx(truth, abs=4 * math.sqrt(truth * (1 - truth) / 10_000))
    sides = ((tuple([0.0] * 10), tuple([1.0] * 10)),)  # 2 of C(20, 10) = 184756: next to none is drawn
    assert chance(sides) < 5e-4


@pytest.mark.parametrize(("pairs", "ahead", "share"), [(7, 6, 16 / 128), (9, 7, 92 / 512), (10, 8, 112 / 1024)])
def test_too_many_ways_are_as_far_apart_for_what_students_t_claims(pairs: int, ahead: int, share: float) -> None:
    """Two modes: t = m sqrt(n - 1)/sqrt(1 - m^2) with m = (2 ahead - n)/n is above t_.95, and so many signs are as far out."""
    m = (2 * ahead - pairs) / pairs
    assert m * math.sqrt(pairs - 1) / math.sqrt(1 - m * m) > stats.t.ppf(0.95, pairs - 1)
    values = np.exp([0.2] * ahead + [-0.2] * (pairs - ahead))
    ratio = paired(np.ones(pairs).tolist(), values.tolist())
    assert ratio.enough(LEVEL) and ratio.interval(LEVEL)[0] > 1
    assert ratio.chance(LEVEL) == pytest.approx(share) and not ratio.differs(LEVEL)
    found = compare_values(runs(np.ones(pairs), True), runs(values, True))
    assert found.verdict == "cannot tell" and "were A and B drawn by lot" in found.notes[0]
    assert f"{100 * share:.1f} % of the ways" in found.notes[0]


@pytest.mark.parametrize("each", [3, 4, 5, 6, 8])
def test_runs_apart_that_fall_into_two_modes_hold_the_level(each: int) -> None:
    random = np.random.default_rng([31, each])
    claimed = 0
    for _ in range(1000):
        a, b = (np.exp(0.2 * random.choice([-1, 1], each) + 1e-3 * random.standard_normal(each)) for _ in range(2))
        claimed += stratified([(a.tolist(), b.tolist())]).differs(LEVEL)
    # 10 % of 1000, and three standard errors
    assert claimed / 1000 <= 0.128


@pytest.mark.parametrize("seed", range(12))
def test_equivalence_needs_both_tests(seed: int) -> None:
    """A pair of t tests at the margins by scipy, and of signs."""
    random = np.random.default_rng([7, seed])
    edge = math.log(1.05)
    apart = 0.03 * random.standard_normal(7)
    found = paired([1.0] * 7, np.exp(apart).tolist()).equivalent(0.05, LEVEL)
    by_t, by_signs = True, True
    for shift, kind in ((edge, "less"), (-edge, "greater")):
        by_t &= bool(stats.ttest_1samp(apart, shift, alternative=kind).pvalue < 0.05)
        signs = stats.permutation_test(
            (apart - shift,), lambda z, axis: z.mean(axis=axis), permutation_type="samples", n_resamples=np.inf,
            vectorized=True, alternative=kind,
        )  # fmt: skip
        by_signs &= bool(signs.pvalue <= 0.05)
    assert found == (by_t and by_signs)


def test_two_beside_five_are_too_few() -> None:
    """C(7, 2) = 21 ways would do, and one degree of freedom is left."""
    two, five = [1.0, 1.001], [2.0, 2.001, 2.002, 2.003, 2.004]
    assert not stratified([(two, five)]).enough(LEVEL) and not stratified([(two, five)]).differs(LEVEL)
    found = compare_values(runs(np.array(two), False), runs(np.array(five), False))
    assert found.verdict == "cannot tell" and "at least 3 runs of each side are needed" in found.notes[0]
