"""Laws of what was recorded: intervals of rare tails that come in clusters, and sums of independent times."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sojourn.query.sources.batched import BATCHES, BatchedLaw
from sojourn.query.sources.convolved import convolved
from sojourn.query.values import Estimate, Span


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
    assert 91 <= inside <= 100  # of 95 % intervals of 100 samples, fewer than 91 with a chance of 3 %
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
    assert all(count >= 90 for count in inside.values()), inside
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
