"""Warm-up cut, trend and batch means on series whose answer is known."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from sojourn.stats.batch_means import batch_interval, rate_interval
from sojourn.stats.stationarity import at_edge, mser, steadiness, warm_up


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
        _, low, high = batch_interval(series + 5, 0.95)
        covered += low <= 5 <= high
    assert 180 <= covered <= 200


def test_too_few_values_have_no_interval() -> None:
    mean, low, _ = batch_interval(np.array([1.0, 3.0]))
    assert mean == 2
    assert np.isnan(low)


def mm1(runs: int, count: int, load: float, seed: int) -> NDArray[np.float64]:
    """Response times of an M/M/1 queue, stationary from the start, service 1; (runs, count). Lindley's recursion."""
    rng = np.random.default_rng(seed)
    gaps, service = rng.exponential(1 / load, (runs, count)), rng.exponential(1.0, (runs, count))
    wait = np.empty((runs, count))
    wait[:, 0] = np.where(rng.random(runs) < load, rng.exponential(1 / (1 - load), runs), 0.0)
    for k in range(1, count):
        wait[:, k] = np.maximum(wait[:, k - 1] + service[:, k - 1] - gaps[:, k], 0.0)
    return wait + service


def test_busy_periods_at_the_start_of_a_stationary_queue_are_no_warm_up() -> None:
    """E[T] = 1/(1 - 0.8) = 5: what MSER-5 alone leaves is 5 % and more below, what stays here is within 3 %."""
    queues = mm1(600, 2000, 0.8, seed=5)
    free = 5 / queues.mean()  # by how much these happen to lie off
    kept = np.mean([values[warm_up(values) :].mean() for values in queues]) * free
    bare = np.mean([values[mser(values, 0.5) :].mean() for values in queues]) * free
    assert bare < 0.95 * 5
    assert kept == pytest.approx(5, rel=0.03)


def test_a_warm_up_that_may_go_on_is_told() -> None:
    values = np.random.default_rng(6).exponential(1.0, 10_000)
    assert at_edge(warm_up(values + np.linspace(10, 0, 10_000)), values.size)
    values[:500] += 10
    assert not at_edge(warm_up(values), values.size)


@pytest.mark.parametrize(("shape", "scale"), [(10.0, 0.1), (0.1, 10.0)])
def test_a_rate_is_covered_whatever_the_law_of_its_events(shape: float, scale: float) -> None:
    """A renewal process of gamma gaps, mean 1, scv 1/shape. In time T it has T events with variance scv T (D. R. Cox, Renewal
    Theory (1962), section 4.5), so the half-width is 1.96 sqrt(scv/T), times t/1.96; a Poisson count's would be that of scv = 1."""
    rng = np.random.default_rng(7)
    covered, half = 0, []
    for _ in range(200):
        times = np.cumsum(rng.gamma(shape, scale, 6000))
        _, low, high = rate_interval(times[times > 1000] - 1000, 0.0, 4000.0, 0.95)
        covered += low <= 1 <= high
        half.append((high - low) / 2)
    assert 182 <= covered <= 199
    assert np.mean(half) == pytest.approx(stats.t.ppf(0.975, 19) * np.sqrt(1 / shape / 4000), rel=0.1)


def test_a_rate_of_few_events_has_no_interval() -> None:
    rate, low, _ = rate_interval(np.arange(30.0), 0.0, 60.0)
    assert rate == 0.5
    assert np.isnan(low)


def test_intervals_of_times_and_rates_do_not_go_below_zero() -> None:
    _, low, high = batch_interval(np.r_[np.zeros(199), 1000.0])
    assert low == 0.0 and high > 5.0
    _, low, high = rate_interval(np.linspace(99.0, 99.9, 50), 0.0, 100.0)
    assert low == 0.0 and high > 0.5


@pytest.mark.filterwarnings("error")
def test_a_window_of_no_length_has_no_rate() -> None:
    """Of a service that answers nothing, a warning of numpy with a line of our source stood in the terminal."""
    assert np.isnan(rate_interval(np.array([]), 3.0, 3.0)).all()
