"""Laws of what was recorded: intervals of rare tails that come in clusters, and sums of independent times."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from query_golden import model
from scipy import stats

from sojourn.query import query
from sojourn.query.sources.batch_means_law import BATCHES
from sojourn.query.sources.batched import BatchedLaw
from sojourn.query.sources.convolved import convolved
from sojourn.query.sources.path import PathSource
from sojourn.query.sources.ranked_times import RankedTimes
from sojourn.query.sources.share_interval import share_of
from sojourn.query.sources.simulated import SimulatedSource
from sojourn.query.values import Estimate, Span
from sojourn.stats.batch_means import IntervalEstimate, ratio


def law(times: np.ndarray, weight: np.ndarray | None = None) -> BatchedLaw:
    """In the order of time."""
    batch = np.arange(len(times)) * BATCHES // len(times)
    weights = np.ones(len(times)) if weight is None else weight
    return BatchedLaw(times, times, weights, batch, 100.0, "a time")


def at_most(t: float) -> Span:
    return Span(Estimate.exact(-math.inf), Estimate.exact(t), (False, True))


@pytest.mark.parametrize("q", [0.9, 0.99, 0.995])
def test_a_tail_that_few_clusters_reach(q: float) -> None:
    """1000 clusters of 20 equal times, exponential: of q = 0.995, five lie beyond."""
    truth, inside, highs = -math.log(1 - q), 0, []
    for seed in range(100):
        found = law(np.repeat(np.random.default_rng(seed).exponential(size=1000), 20)).quantile(q)
        inside += found.low <= truth <= found.high
        highs.append(found.high)
    assert 84 <= inside <= 100  # of 90 % intervals of 100 samples, fewer than 84 with a chance of 2 %
    assert np.median(highs) < 1.6 * truth  # nor by being of no use


def test_what_is_too_little_for_a_bound_is_said() -> None:
    """Of 1000 clusters none bounds p99.9: 3.7 in a thousand may lie beyond the largest; of independent ones many do."""
    clusters = law(np.repeat(np.random.default_rng(1).exponential(size=1000), 20)).quantile(0.999)
    assert math.isinf(clusters.high) and 2 < clusters.needs < 8
    alone = law(np.random.default_rng(1).exponential(size=20_000)).quantile(0.999)
    assert math.isfinite(alone.high) and alone.needs == 0


def test_a_sum_is_that_of_all_pairs() -> None:
    rng = np.random.default_rng(2)
    a, b, w = rng.exponential(size=40), rng.exponential(size=60), rng.uniform(1, 3, size=60)
    sums, weights = (a[:, None] + b[None, :]).ravel(), np.tile(w, 40)
    found = convolved(law(a), law(b, w))
    for t in (0.5, 2.0, float(sums[7])):
        assert found.probability(at_most(t)).value == pytest.approx(weights[sums <= t].sum() / weights.sum(), abs=1e-12)
    for order in (1, 2, 3):
        assert found.moment(order).value == pytest.approx(np.average(sums**order, weights=weights), rel=1e-12)
    spread = np.sqrt(np.average((sums - np.average(sums, weights=weights)) ** 2, weights=weights))
    assert found.deviation().value == pytest.approx(spread, rel=1e-12)
    middle = found.quantile(0.5).value
    assert weights[sums <= middle + 1e-9].sum() >= 0.5 * weights.sum() >= weights[sums < middle - 1e-9].sum()


def test_intervals_of_a_sum_hold_the_truth() -> None:
    """Two independent exponential times of mean 1: P(sum <= t) = 1 - exp(-t) (1 + t); p95 4.743864518."""
    truths = {"p95": 4.743864518, "P(<= 2)": 1 - 3 * math.exp(-2), "mean": 2.0, "sd": math.sqrt(2)}
    inside = dict.fromkeys(truths, 0)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        one = convolved(law(rng.exponential(size=2000)), law(rng.exponential(size=2000)))
        found = {
            "p95": one.quantile(0.95), "P(<= 2)": one.probability(at_most(2.0)), "mean": one.moment(1), "sd": one.deviation(),
        }  # fmt: skip
        for name, truth in truths.items():
            inside[name] += found[name].low <= truth <= found[name].high
    assert all(count >= 84 for count in inside.values()), inside
    assert inside["mean"] <= 99 and inside["sd"] <= 99, "those of shares may be wider"


def test_of_one_record_the_errors_add_up() -> None:
    """The sum of a time with itself is twice as uncertain as that of two of two records would be by the root of two."""
    rng = np.random.default_rng(5)
    a, b = (law(np.repeat(rng.exponential(size=500), 10)) for _ in range(2))
    same, other = (convolved(a, x).moment(1) for x in (a, b))
    assert (same.high - same.low) / (other.high - other.low) == pytest.approx(math.sqrt(2), rel=0.25)
    assert same.high - same.low == pytest.approx(2 * (a.moment(1).high - a.moment(1).low), rel=1e-9)


def test_uniform_pieces_and_points() -> None:
    """A point of weight 1 at 1, a piece of weight 2 from 1 to 3, one of 1 from 2 to 3: 3/4 of all are at or below 2.5 (by hand)."""
    low, high, weight = np.tile([1.0, 1.0, 2.0], 20), np.tile([1.0, 3.0, 3.0], 20), np.tile([1.0, 2.0, 1.0], 20)
    found = BatchedLaw(low, high, weight, np.arange(60) % BATCHES, 1.0, "a time")
    for q, t in ((0.1, 1.0), (0.25, 1.0), (0.5, 2.0), (0.75, 2.5), (1.0, 3.0)):
        assert found.quantile(q).value == pytest.approx(t, abs=1e-9)
        assert found.probability(at_most(t)).value == pytest.approx(max(q, 0.25), abs=1e-9)


def estimate_of(share: float, each: float) -> IntervalEstimate:
    """By batches: with the variance that clusters of this part of the whole give."""
    deviation = math.sqrt(share * (1 - share) * each)
    ends = (np.array([share + 1.96 * sign * deviation]) for sign in (-1, 1))
    return IntervalEstimate(np.array([share]), *ends, np.array([deviation**2]))


def test_a_rare_share_is_jeffreys_of_its_clusters() -> None:
    """7 clusters of 500 each, of 500 000: 7.5 and 993.5 of the beta distribution; what is not rare is the batches' own."""
    found = share_of(estimate_of(0.007, 1e-3), 500_000, wider=lambda _: 1e-3)
    assert (found.low, found.high) == pytest.approx(tuple(stats.beta.ppf([0.05, 0.95], 7.5, 993.5)))
    other = share_of(estimate_of(0.993, 1e-3), 500_000, wider=lambda _: 1e-3)
    assert (1 - other.high, 1 - other.low) == pytest.approx((found.low, found.high))
    wider = share_of(estimate_of(0.007, 1e-4), 500_000, wider=lambda share: 1e-3 if share > 0.08 else 5e-4)
    assert wider.low == pytest.approx(stats.beta.ppf(0.05, 14.5, 1986.5)) and wider.high == pytest.approx(found.high)
    common = share_of(estimate_of(0.3, 1e-3), 500_000)
    assert (common.low, common.high) == pytest.approx((0.3 - 1.96 * 0.01449138, 0.3 + 1.96 * 0.01449138))


def test_without_a_wider_tail_clusters_vary_too() -> None:
    """Independent failures: as of a number of Poisson's. In clusters of 199 at the mean, c = 397: as 10 exponential ones."""
    alone = share_of(estimate_of(4e-5, 1e-5), 100_000)
    assert (alone.low, alone.high) == pytest.approx(tuple(stats.gamma.ppf([0.05, 0.95], 4.5) / 1e5), rel=1e-3)
    clusters = share_of(estimate_of(0.0199, 397e-5), 100_000)
    scale = 0.0199 * 10.5 / 10
    assert (clusters.low, clusters.high) == pytest.approx(
        tuple(scale * stats.f.ppf([0.05, 0.95], 21, 2 * 10 * 199 / 198)), rel=1e-6
    )
    none = share_of(estimate_of(0.0, 0.0), 100_000)
    assert none.low == 0 and none.high == pytest.approx(stats.gamma.ppf(0.95, 0.5) / 1e5, rel=1e-3)


def test_intervals_of_clusters_of_failures_hold_the_truth() -> None:
    """16 clusters of geometric size, 20 at the mean, in 100 000 requests, by 32 batches: of 400 records."""
    inside, rng = 0, np.random.default_rng(11)
    for _ in range(400):
        batches = np.array([rng.geometric(1 / 20, rng.poisson(0.5)).sum() for _ in range(32)], float)
        found = share_of(ratio(batches[None, :, None], np.full((1, 32, 1), 3125.0), 0.9), 100_000)
        inside += found.low <= 0.0032 <= found.high
    assert 346 <= inside <= 386, inside  # of 90 %, fewer than 346 with a chance of 1 %


def test_a_rare_state_that_few_busy_periods_reach() -> None:
    """M/M/4 as in query_golden: P(n >= 24) = C 0.75^20, in 200 s about one effective cluster, and often none."""
    truth, inside = 0.509433962264 * 0.75**20, 0
    for seed in range(700_000, 700_060):
        found = query("probability({n() >= 24})", SimulatedSource(model(), seed=seed, until_s=200.0))
        assert found.low is not None and found.high is not None
        inside += found.low <= truth <= found.high
    assert inside >= 54, inside


def test_failures_never_seen_are_taken_to_come_as_slow_requests_do() -> None:
    """None of 10 000: the upper end of Jeffreys' interval for a Poisson number, half the 95 % quantile of chi-square with one degree of
    freedom, 1.9207, clusters of 8 each."""
    none = ratio(np.zeros((1, 32, 1)), np.full((1, 32, 1), 312.5), 0.9)
    found = share_of(none, 10_000, further=lambda: 8.0)
    assert (found.low, found.high) == (0.0, pytest.approx(1.9207 * 8 / 10_000, rel=1e-3))
    assert share_of(none, 10_000, further=lambda: 1.0).high == pytest.approx(1.9207 / 10_000, rel=1e-3)


@pytest.mark.parametrize("clusters", [0.5, 1.5, 4.0, 20.0])
def test_intervals_of_few_clusters_hold_the_share(clusters: float) -> None:
    """Poisson clusters of geometric size, mean 4, in 400 records of 100 000; the slow requests come in clusters of 8."""
    rng, held, count = np.random.default_rng(7), 0, 100_000
    for _ in range(400):
        sizes = rng.geometric(0.25, rng.poisson(clusters))
        batch = np.bincount(rng.integers(0, 32, len(sizes)), sizes, 32)
        seen = share_of(
            ratio(batch[None, :, None].astype(float), np.full((1, 32, 1), count / 32), 0.9), count, further=lambda: 8.0
        )
        held += seen.low <= 4 * clusters / count <= seen.high
    assert held >= 0.87 * 400


def test_in_how_many_slow_requests_come() -> None:
    """Independent times: one at a time. Runs of 20 alike: 10.5, (c + 1)/2 with c = 20, as the mean of geometric
    ones with this variance."""
    rng = np.random.default_rng(8)
    assert law(rng.exponential(size=80_000)).slow_cluster() < 3
    runs = np.repeat(rng.exponential(size=4000), 20)
    assert 4 < law(runs).slow_cluster() < 25
    assert law(np.empty(0)).slow_cluster() == 1.0


def test_one_pass_over_the_times_counts_as_each_time_by_itself() -> None:
    """Ties with a time count as reached; what never happened lies above all."""
    rng = np.random.default_rng(5)
    times = np.append(rng.integers(0, 40, 500).astype(float), math.inf)
    weight = rng.uniform(0.5, 2.0, len(times))
    found, asked = law(times, weight), np.array([-1.0, 0.0, 3.5, 7.0, 39.0, 50.0])
    wanted = [[weight[(found.batch == b) & (times <= t)].sum() for t in asked] for b in range(BATCHES)]  # by definition
    assert found.at_most(asked) == pytest.approx(np.array(wanted))


def ranked(times: np.ndarray, batch: np.ndarray) -> RankedTimes:
    """From three parts of them, in another order."""
    return RankedTimes.of(
        ((batch[part], times[part]) for part in np.array_split(np.arange(len(times))[::-1], 3)), 100.0, "a time"
    )


@pytest.mark.parametrize("never", [0.0, 0.002, 0.3])
def test_ranked_times_are_those_of_the_definition(never: float) -> None:
    """Ties, times below 0 and of 0, batches without any; quantiles as numpy has them (linear)."""
    rng = np.random.default_rng(6)
    times = np.round(rng.normal(1.0, 1.0, 5000), 2)
    times[rng.random(5000) < never] = math.inf
    batch = rng.integers(3, 20, 5000)
    found, asked = ranked(times, batch), np.array([-9.0, -0.5, 0.0, 1.0, 1.004, 9.0, math.inf])
    finite = np.isfinite(times)
    wanted = [[((batch == b) & (times <= t) & (finite | (t == math.inf))).sum() for t in asked] for b in range(BATCHES)]
    assert (found.at_most(asked) == np.array(wanted)).all()
    for low, high, closed in ((-0.5, 1.0, (True, False)), (-0.5, 1.0, (False, True)), (0.0, math.inf, (True, True))):
        inside = Span(Estimate.exact(low), Estimate.exact(high), closed).holds(times) & finite
        span = Span(Estimate.exact(low), Estimate.exact(high), closed)
        assert (found.within(span) == np.bincount(batch[inside], minlength=BATCHES)).all()
    levels = np.array([0.0, 0.001, 0.25, 0.5, 0.6999, 0.99, 1.0])
    numpy_s = np.quantile(np.where(finite, times, 1e9), levels)
    assert found.inverses(levels) == pytest.approx(np.where(numpy_s > 100, math.inf, numpy_s), rel=1e-12)
    assert found.largest() == times[finite].max() and found.always() == (never == 0) and found.count() == 5000
    sums, weight = found.powers(3)
    assert sums.sum() == pytest.approx((times[finite] ** 3).sum()) and weight.sum() == finite.sum()


def test_ranked_times_say_what_observations_say() -> None:
    """The same times as observations of weight 1, whose law is another code's: value, bounds and what is lacking."""
    rng = np.random.default_rng(7)
    times = np.repeat(rng.exponential(size=2000), 10)
    times[rng.random(20_000) < 0.001] = math.inf
    batch = np.arange(20_000) * BATCHES // 20_000
    one = BatchedLaw(times, times, np.ones(20_000), batch, 100.0, "a time", of_finite=True)
    other = ranked(times, batch)
    slow = Span(Estimate.exact(5.0), Estimate.exact(math.inf), (False, False))
    for ask in (
        lambda law: law.quantile(0.5), lambda law: law.quantile(0.99), lambda law: law.quantile(0.9995),
        lambda law: law.moment(1), lambda law: law.moment(3), lambda law: law.deviation(),
        lambda law: law.probability(at_most(2.0)), lambda law: law.probability(slow),
    ):  # fmt: skip
        a, b = ask(one), ask(other)
        assert (b.value, b.low, b.high, b.needs) == pytest.approx((a.value, a.low, a.high, a.needs), rel=1e-11)
    assert other.slow_cluster() == pytest.approx(one.slow_cluster(), rel=1e-11)


def test_an_infinite_quantile_and_no_time_at_all() -> None:
    assert math.isinf(ranked(np.full(60, math.inf), np.arange(60) % BATCHES).quantile(0.5).value)
    nothing = ranked(np.empty(0), np.empty(0, int))
    assert nothing.count() == 0 and nothing.largest() == 0 and nothing.slow_cluster() == 1.0


@pytest.mark.parametrize("in_order", [True, False])
def test_times_between_two_are_those_of_the_definition(in_order: bool) -> None:
    """Failed requests and such as have no end are later than all; those that failed can be left out."""
    rng = np.random.default_rng(8)
    begun = rng.uniform(0.0, 64.0, 3000)
    begun = np.sort(begun) if in_order else begun
    took = np.round(rng.exponential(size=3000), 3)
    failed, open_ = rng.random(3000) < 0.05, rng.random(3000) < 0.05
    source = PathSource("r", "measured", pl.DataFrame(), (0.0, 64.0), [])
    ended = np.where(open_, math.nan, begun + took)
    found = source.law_of([(begun, ended, failed)], "a time")
    times, batch = np.where(failed | open_, math.inf, took), (begun // 2).astype(int)  # 32 batches of 2 s
    for law, kept in ((found, np.ones(3000, bool)), (found.without_failures(), ~failed)):
        for number, part in enumerate(law.parts):
            assert part == pytest.approx(np.sort(times[kept & (batch == number)]), abs=1e-9)
