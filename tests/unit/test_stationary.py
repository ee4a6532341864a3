"""Warm-up cut, trend and batch means on series whose answer is known."""

import numpy as np
import pytest

from sojourn.measure.stationary import batch_interval, steadiness, warm_up


def test_a_warm_up_is_cut_where_it_ends() -> None:
    """1000 values start at 10 times their level: MSER-5 cuts them, to within a few batches, and not much more."""
    values = np.random.default_rng(1).exponential(1.0, 10_000)
    values[:1000] += 10
    assert 950 <= warm_up(values) <= 1500


def test_a_stationary_series_keeps_most_of_its_values() -> None:
    assert warm_up(np.random.default_rng(2).exponential(1.0, 10_000)) < 3000


@pytest.mark.parametrize("count", [0, 1, 49])
def test_a_short_series_is_not_cut(count: int) -> None:
    assert warm_up(np.ones(count)) == 0


def test_growth_is_told_from_noise() -> None:
    rng = np.random.default_rng(3)
    noise = rng.exponential(1.0, 5000)
    assert steadiness(noise).steady
    growing = steadiness(noise + np.linspace(0, 5, 5000))
    assert not growing.steady
    assert growing.drift > 0.5


def test_batch_means_cover_the_mean_of_a_correlated_series() -> None:
    """AR(1) with coefficient 0.9 and mean 5: the 95 % interval covers 5 in 90 % to 100 % of 200 series."""
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(200):
        noise = rng.normal(size=4000)
        series = np.empty(4000)
        series[0] = noise[0]
        for k in range(1, 4000):
            series[k] = 0.9 * series[k - 1] + noise[k]
        _, low, high = batch_interval(series + 5)
        covered += low <= 5 <= high
    assert 180 <= covered <= 200


def test_too_few_values_have_no_interval() -> None:
    mean, low, _ = batch_interval(np.array([1.0, 3.0]))
    assert mean == 2
    assert np.isnan(low)
