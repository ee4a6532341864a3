"""The oscillation detector on pairs whose truth is known by construction, its test against definitions, and its refusals."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sojourn as sj
from sojourn.diagnosis.oscillation_figures import document, figures
from sojourn.errors import InputError
from sojourn.stats.circular_shift import correlations, high_passed, shift_test

sys.path.insert(0, str(Path(__file__).parents[3] / "benches/oscillation"))

from known_pairs import CASES, Case, Draw, pair

SEEDS = range(5)
OSC = CASES[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdicts_where_the_truth_is_known(case: Case) -> None:
    """A small part of benches/oscillation: 60 s; of the border case, which half-fills a second, four of five."""
    found = [sj.oscillation(*pair(case, seed, 60.0)).verdict for seed in SEEDS]
    assert found.count(case.truth) >= len(SEEDS) * case.least - 1, found


def test_size_of_the_shift_test_on_autocorrelated_series() -> None:
    """Independent AR(1), coefficient 0.9, 60 s: at most 7 % at nominal 5 %; shuffled samples call many more related."""
    below, shuffled = 0, 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        draw = Draw(rng, 600, 0.1, 0.0)
        one, other = draw.ar1(0.5, 0.2, 0.9), draw.ar1(0.5, 0.2, 0.9)
        found = shift_test(one, other, 0.1)
        below += found.p_value is not None and found.p_value <= 0.05
        high = high_passed(one, 0.1), high_passed(other, 0.1)
        chance = [correlations(high[0], rng.permutation(high[1]))[0] for _ in range(39)]
        shuffled += min(chance) > found.correlation
    assert below <= 0.07 * 400
    assert shuffled > 0.07 * 400


def test_the_shift_test_is_what_it_says() -> None:
    """r by numpy's corrcoef of the shifted series, the moving mean by a sum over what there is, p by counting."""
    one, other = pair(OSC, 1, 15.0)
    high = [high_passed(series, 0.1) for series in (one, other)]
    for k in (0, 3, 7, 147):
        assert high[0][k] == pytest.approx(one[k] - one[max(0, k - 5) : k + 6].mean())
    r = [np.corrcoef(high[0], np.roll(high[1], shift))[0, 1] for shift in range(150)]
    found = shift_test(one, other, 0.1)
    assert found.by_shift == pytest.approx(r, abs=1e-12)
    shifted = r[20:131]  # 2.0 s to 13.0 s, which is 2.0 s the other way round
    assert found.p_value == pytest.approx((1 + sum(x <= r[0] for x in shifted)) / (1 + len(shifted)))


def test_series_that_do_not_vary_fast_are_not_related() -> None:
    assert shift_test(np.zeros(200), np.arange(200.0), 0.1)[:2] == (0.0, 1.0)


def test_too_short_below_140_samples() -> None:
    one, other = pair(OSC, 1, 14.0)
    assert sj.oscillation(one, other).verdict == "hidden"
    short = sj.oscillation(one[:-1], other[:-1])
    assert short.verdict == "too_short" and "139 samples of 100 ms; 14 s are needed" in short.reason
    assert sj.oscillation(one[:9], other[:9]).p_value is None


def test_finer_samples_are_averaged_and_coarser_ones_refused() -> None:
    one, other = pair(OSC, 1, 30.0)
    fine = sj.oscillation(np.repeat(one, 10), np.repeat(other, 10), 0.01)
    plain = sj.oscillation(one, other)
    assert (fine.verdict, fine.samples, fine.judged_interval_s) == (
        plain.verdict,
        plain.samples,
        plain.judged_interval_s,
    )
    assert fine.correlation == pytest.approx(plain.correlation)
    assert fine.share_of_samples_full == pytest.approx(plain.share_of_samples_full)
    assert sj.oscillation(*pair(OSC, 1, 60.0, 0.11), 0.11).verdict == "hidden"
    with pytest.raises(InputError, match="interval_s: 1 s; sample every 100 ms, at most 110 ms"):
        sj.oscillation(one, other, 1.0)


def test_counters_that_go_in_steps_may_show_more_than_all_the_time() -> None:
    """A disk that was always busy, its busy time counted in steps of 4 ms: 1.024 of 0.1 s was refused."""
    one, other = pair(OSC, 1, 30.0)
    found = sj.oscillation(one, np.where(other > 0.97, 1.04, other))
    assert found.verdict == "hidden" and found.series.max() == 1.0
    fine = np.tile([0.0, 2.0], 1500)  # all of it, every 10 ms, in steps of 20 ms
    assert sj.oscillation(np.repeat(one, 10), fine + np.repeat(other - 1, 10), 0.01).verdict == "hidden"


def test_one_strict_period_is_told() -> None:
    """Series of one period go together again after each of its cycles: chance cannot be told from cause."""
    up = np.tile([1.0, 1.0, 1.0, 0.2, 0.2], 60)
    told = []
    for seed in range(10):
        noise = np.random.default_rng(seed).normal(0.0, 0.08, (2, 300))
        found = sj.oscillation(*np.clip([up + noise[0], 1.2 - up + noise[1]], 0.0, 1.0))
        assert found.correlation < -0.9
        told.append("as two series with the same strict period do" in found.reason)
    assert sum(told) >= 5


def test_each_condition_is_told_by_its_name() -> None:
    case = next(case for case in CASES if case.name == "anti_low 0.2 s")
    found = sj.oscillation(*pair(case, 1, 30.0), names=("cpu", "disk:vda"))
    assert found.verdict == "none" and found.correlation < -0.3
    assert (
        "cpu is at 90 % or more in 0.0 % of the samples, less than 10 %" in found.reason and "p =" not in found.reason
    )


def test_it_has_figures_and_plain_values() -> None:
    found = sj.oscillation(*pair(OSC, 1, 60.0), names=("cpu", "disk"))
    assert found.oscillating
    shares, _, shifts = figures(found)
    assert [series.name for series in shares.series] == ["cpu", "disk"] and len(shares.series[0].x) == 200
    r = dict(zip(shifts.series[0].x, shifts.series[0].y, strict=True))
    assert r[0.0] == pytest.approx(found.correlation) and min(r) == -10.0 == -max(r)
    assert found.record["verdict"] == "hidden" and "series" not in found.record
    assert "means over a second hide it" in document(found, "run").verdict[0]


GOOD = [0.1, 0.9] * 100


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (GOOD, GOOD[:-1], "a and b: 200 and 199 samples; give samples that were taken together"),
        (GOOD, [0.5] * 200, "b: constant: 0.5 in all 200 samples"),
        ([*GOOD[:7], float("nan")], GOOD, "a: sample 8 is nan"),
        (GOOD, [50.0, *GOOD[1:]], "b: 50 among the samples; give shares in .*of percentages a hundredth"),
        (GOOD, [-0.5, *GOOD[1:]], "b: -0.5 among the samples"),
        ([], GOOD, r"a: shape \(0,\)"),
        ([GOOD], GOOD, r"a: shape \(1, 200\)"),
        (["x"], GOOD, "a: not all are numbers"),
    ],
)
def test_what_is_no_pair_of_busy_shares_is_refused(a: Any, b: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        sj.oscillation(a, b)


@pytest.mark.parametrize("interval_s", [0.0, -1.0, float("nan"), 0.2])
def test_intervals_that_cannot_be(interval_s: float) -> None:
    with pytest.raises(InputError, match="interval_s: "):
        sj.oscillation(GOOD, GOOD[::-1], interval_s)
