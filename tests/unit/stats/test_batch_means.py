"""Intervals of ratios and quantiles from batches; expected values by closed forms of the processes drawn here."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.stats.batch_means import around, macro, quantiles, ratio, variance_of

LEVEL = 0.95


def ones(like: np.ndarray) -> np.ndarray:
    return np.ones_like(like)


def ar1(random: np.random.Generator, phi: float, runs: int, n: int) -> np.ndarray:
    """(runs, n) stationary first-order autoregression with mean 5 and variance 1."""
    noise = random.normal(0, np.sqrt(1 - phi**2), (runs, n))
    noise[:, 0] = random.normal(0, 1, runs)
    for i in range(1, n):
        noise[:, i] += phi * noise[:, i - 1]
    return 5 + noise


def covered(samples: np.ndarray, truth: float) -> float:
    found = [ratio(s[None, :, None], ones(s)[None, :, None], LEVEL) for s in samples]
    return float(np.mean([f.low[0] <= truth <= f.high[0] for f in found]))


def test_macro_batches_keep_the_sums_and_drop_the_oldest() -> None:
    series = np.arange(130.0)[None, :, None]
    found = macro(series)
    assert found.shape == (1, 65, 1)
    assert found.sum() == series.sum()
    assert macro(np.arange(131.0)[None, :, None]).sum() == np.arange(1.0, 131.0).sum()


def test_many_runs_are_one_batch_each() -> None:
    assert macro(np.ones((100, 1024, 2))).shape == (100, 1, 2)


def test_independent_normal_batches_give_students_interval() -> None:
    x = np.random.default_rng(1).normal(3, 1, 64)
    x = np.r_[x, 6 - x]  # no skewness, so the plain formula holds
    found = around(np.array([3.0]), (x - 3)[None, :, None], LEVEL)
    half = 1.978820 * x.std(ddof=1) / np.sqrt(128)  # t(0.975, 127), tables
    assert found.high[0] - 3 >= half * (1 - 1e-6)
    assert found.low[0] == pytest.approx(6 - found.high[0], rel=1e-9)


@pytest.mark.parametrize(("phi", "n"), [(0.0, 1024), (0.9, 1024), (0.98, 8192)])
def test_correlated_series_are_covered_at_their_level(phi: float, n: int) -> None:
    samples = ar1(np.random.default_rng(7), phi, 400, n)
    assert 0.92 <= covered(samples, 5.0) <= 0.98


def test_skewed_batches_are_covered_at_their_level() -> None:
    samples = np.random.default_rng(8).exponential(2.0, (400, 64))
    assert 0.92 <= covered(samples, 2.0) <= 0.98


def test_a_ratio_is_of_sums_not_of_batches() -> None:
    above, below = np.array([1.0, 9.0, 2.0, 8.0]), np.array([1.0, 3.0, 1.0, 3.0])
    assert ratio(above[None, :, None], below[None, :, None], LEVEL).value[0] == 20 / 8


def test_a_class_nobody_saw_has_no_number() -> None:
    found = ratio(np.zeros((1, 64, 1)), np.zeros((1, 64, 1)), LEVEL)
    assert np.isnan(found.value[0]) and np.isinf(found.relative()[0])


def test_two_batches_give_no_interval() -> None:
    found = ratio(np.ones((1, 2, 1)), np.ones((1, 2, 1)), LEVEL)
    assert found.value[0] == 1 and np.isnan(found.low[0])


def test_what_does_not_vary_is_known_exactly() -> None:
    found = ratio(np.full((1, 64, 1), 3.0), np.ones((1, 64, 1)), LEVEL)
    assert (found.low[0], found.value[0], found.high[0]) == (3, 3, 3)
    assert found.relative()[0] == 0


def test_variance_of_exponential_times_covers_the_square_of_their_mean() -> None:
    random = np.random.default_rng(3)
    inside = 0
    for _ in range(200):
        x = random.exponential(2.0, (64, 400))
        parts = [(x**2).sum(axis=1), x.sum(axis=1), np.full(64, 400.0)]
        found = variance_of(*(p[None, :, None] for p in parts), LEVEL)
        inside += found.low[0] <= 4.0 <= found.high[0]
    assert 0.91 <= inside / 200 <= 0.99


@pytest.mark.parametrize("q", [0.5, 0.99])
def test_quantiles_of_exponential_times_are_covered_at_their_level(q: float) -> None:
    random = np.random.default_rng(4)
    edges = np.r_[0.0, np.geomspace(1e-6, 100, 9000)]
    truth, inside = -np.log(1 - q), 0
    for _ in range(200):
        counts = np.array([np.histogram(random.exponential(1.0, 1000), edges)[0] for _ in range(48)], float)
        _, low, high = quantiles(edges, counts[None], [q], LEVEL)[0]
        inside += low <= truth <= high
    assert 0.91 <= inside / 200 <= 0.99


def test_a_quantile_beyond_what_was_seen_has_no_upper_bound() -> None:
    edges = np.linspace(0, 10, 11)
    counts = np.zeros((1, 48, 10))
    counts[0, np.arange(48), np.arange(48) % 10] = 1
    value, low, high = quantiles(edges, counts, [0.97], LEVEL)[0]
    assert low < value <= 10 and np.isnan(high)


def test_no_observation_no_quantile() -> None:
    assert all(np.isnan(quantiles(np.array([0.0, 1.0]), np.zeros((1, 4, 1)), [0.5], LEVEL)[0]))


def test_bounds_of_what_cannot_be_negative_end_at_zero() -> None:
    """Issue 26: a lower limit of a time of -181 s was printed."""
    x = np.r_[np.zeros(63), 1000.0][None, :, None]
    assert ratio(x, ones(x), LEVEL).low[0] == 0.0
    assert variance_of(x**2, x, ones(x), LEVEL).low[0] >= 0.0
    signed = np.r_[np.zeros(32), 1000.0, np.zeros(30), -1.0][None, :, None]
    assert ratio(signed, ones(signed), LEVEL).low[0] < 0.0
