"""Demands on-line, on simulated windows of 2 s: how soon a change is noticed, how right it is after, and how often for nothing."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.control.estimation import DemandEstimate, updated
from sojourn.control.load_trace import Load
from sojourn.control.varying_queue import VaryingQueue
from sojourn.errors import InputError


def windows(seed: int, count: int, factor: float = 1.0, at: int = 0) -> list[tuple[float, float]]:
    """(throughput, busy) of windows of 2 s at 200/s and 50 ms on 20 workers; from window `at` on the demand times `factor`."""
    arrivals = Load("steady", (200.0,) * (2 * count)).arrivals_s(seed)
    service = np.random.default_rng([seed, 9]).exponential(0.05, len(arrivals))
    queue = VaryingQueue(arrivals, np.where(arrivals < 2 * at, service, factor * service), 20)
    return [((seen := queue.run(2)).throughput_per_s or 0, (seen.utilisation or 0) * 20) for _ in range(count)]


@pytest.mark.parametrize("seed", range(1, 11))
def test_a_demand_half_as_large_again_is_noticed_and_learnt(seed: int) -> None:
    now, noticed = DemandEstimate.start([0.05]), None
    for k, (throughput, busy) in enumerate(windows(seed, 55, 1.5, 40)):
        now = updated(now, [throughput], busy, 2)
        if noticed is None and now.alarms:
            noticed = k
    assert noticed is not None
    assert 40 <= noticed < 45
    assert now.demands_s[0] == pytest.approx(0.075, rel=0.1)
    assert now.status() == "fresh"


def test_at_most_one_false_alarm_in_500_quiet_windows() -> None:
    alarms = []
    for seed in range(1, 6):
        now = DemandEstimate.start([0.05])
        for throughput, busy in windows(seed, 500):
            now = updated(now, [throughput], busy, 2)
        alarms.append(now.alarms)
        assert now.demands_s[0] == pytest.approx(0.05, rel=0.05)
    assert max(alarms) <= 1, alarms


def test_innovations_are_normal() -> None:
    """Their standard deviation is one, so that the CUSUM's limit means what it says."""
    found = []
    for seed in range(1, 6):
        for throughput, busy in windows(seed, 200)[1:]:
            found.append((busy - throughput * 0.05) / np.sqrt(throughput * 0.05**2 / 2))
    assert np.std(found) == pytest.approx(1, abs=0.1)
    assert np.mean(found) == pytest.approx(0, abs=0.12)
    assert np.corrcoef(found[:-1], found[1:])[0, 1] == pytest.approx(0, abs=0.12)


def two(mixes: list[float], seed: int) -> DemandEstimate:
    """Classes of 20 and 80 ms, 150/s, of which a share `mixes[k]` is of the first in window k; counts Poisson, exponential service."""
    rng, now = np.random.default_rng(seed), DemandEstimate.start([0.05, 0.05], spread=1000)
    for share in mixes:
        counts = rng.poisson(np.array([share, 1 - share]) * 150 * 2)
        busy = (rng.gamma(counts[0] or 1e-9, 0.02) + rng.gamma(counts[1] or 1e-9, 0.08)) / 2
        now = updated(now, counts / 2, busy, 2, memory=100)
    return now


@pytest.mark.parametrize("seed", range(1, 6))
def test_two_classes_where_the_mix_varies(seed: int) -> None:
    found = two([0.2 + 0.6 * (k % 2) for k in range(60)], seed)
    assert found.demands_s == pytest.approx([0.02, 0.08], rel=0.1)
    assert found.status() == "fresh"


@pytest.mark.parametrize("seed", range(5000, 5020))
@pytest.mark.parametrize(("share", "count"), [(0.5, 60), (0.3, 60), (0.5, 300)])
def test_two_classes_of_one_mean_mix_are_refused(seed: int, share: float, count: int) -> None:
    """Poisson counts vary the mix a little from window to window, too little to tell the classes apart within 10 %."""
    assert two([share] * count, seed).status() == "not identifiable"


def test_windows_that_say_nothing_change_nothing() -> None:
    now = DemandEstimate.start([0.05])
    for throughput, busy in ((0.0, 3.0), (float("nan"), 1.0), (10.0, float("inf"))):
        assert updated(now, [throughput], busy, 2) is now
    with pytest.raises(InputError, match="finite demands > 0"):
        DemandEstimate.start([0.0])
