"""Whether a load waits for its answers: logs simulated beside the test, by a loop of their own."""

import tracemalloc

import numpy as np
import pytest
from simulated_logs import Log, closed, served, windows

from sojourn.observe.load_feedback import ArrivalsByInFlight, closed_users, feedback


def _open(rate: np.ndarray, each_s: float, service_s: float, seed: int) -> Log:
    """Poisson with a rate for each stretch of time."""
    rng = np.random.default_rng(seed)
    came = np.sort(
        np.concatenate([i * each_s + rng.uniform(0, each_s, rng.poisson(r * each_s)) for i, r in enumerate(rate)])
    )
    return served(came, service_s, rng)


def test_time_with_so_many_under_way_by_hand() -> None:
    # 1 … 4 one, 2 … 3 two; a request at 5 that is answered at once
    seen = ArrivalsByInFlight.of(np.array([1.0, 2.0, 5.0]), np.array([3.0, 1.0, 0.0]), 0.0, 6.0)
    assert seen.time_s.tolist() == [3.0, 2.0, 1.0]
    assert seen.arrivals.tolist() == [2.0, 1.0, 0.0]
    # two users: (3 s with 2 thinking + 2 s with 1) / 3 requests
    assert seen.think_s(2) == pytest.approx(8 / 3)


def test_what_was_under_way_before_a_window_counts_in_it() -> None:
    seen = ArrivalsByInFlight.of(np.array([1.0, 2.0]), np.array([3.0, 1.0]), 2.5, 6.0)
    assert seen.time_s == pytest.approx([2.0, 1.0, 0.5])
    assert seen.arrivals.sum() == 0


def test_users_that_wait_are_found_with_their_number() -> None:
    log = closed(10, 0.3, 0.025, 1200.0, 1)
    found = feedback(windows(log, 60.0, 20))
    assert found.users is not None
    assert 9 <= found.users <= 11
    assert found.gain > 100
    assert closed_users({"a": found}) == {"a": found.users}
    assert np.mean([one.think_s(10) for one in windows(log, 60.0, 20)]) == pytest.approx(0.3, rel=0.05)


@pytest.mark.parametrize("seed", range(20))
def test_an_open_load_is_none_that_waits(seed: int) -> None:
    found = feedback(windows(_open(np.full(10, 25.0), 60.0, 0.025, seed), 60.0, 10))
    assert closed_users({"a": found}) == {}


@pytest.mark.parametrize("seed", range(5))
def test_nor_is_one_whose_rate_changes_by_the_hour(seed: int) -> None:
    rate = 20 + 15 * np.sin(np.linspace(0, 6, 20))
    assert closed_users({"a": feedback(windows(_open(rate, 60.0, 0.025, seed), 60.0, 20))}) == {}


def test_nothing_is_said_of_nothing() -> None:
    assert feedback([]).users is None
    assert feedback([ArrivalsByInFlight.of(np.array([]), np.array([]), 0.0, 1.0)]).users is None


def test_the_gain_is_that_of_the_two_likelihoods() -> None:
    """a = (5, 3, 1) requests in T = (1, 2, 1.5) s with 0, 1, 2 under way, by the sums of the module's own text."""
    a, t, k = np.array([5.0, 3.0, 1.0]), np.array([1.0, 2.0, 1.5]), np.arange(3.0)
    rate = a.sum() / t.sum()
    gains = []
    for users in range(3, 2001):
        think_s = t @ (users - k) / a.sum()
        r = (users - k) / think_s
        gains.append(a @ np.log(r) - t @ r - (a.sum() * np.log(rate) - t.sum() * rate))
    found = feedback([ArrivalsByInFlight(a, t)])
    assert found.users == 3 + int(np.argmax(gains))
    assert found.gain == pytest.approx(max(gains))


def test_thousands_of_requests_under_way_fit_into_memory() -> None:
    """As many as 6000, while nothing was answered; a table of them by users is 288 MB, and there were several."""
    outage = ArrivalsByInFlight(np.ones(6000), np.full(6000, 0.01))
    tracemalloc.start()
    try:
        found = feedback([outage, outage])
        assert tracemalloc.get_traced_memory()[1] < 64e6
    finally:
        tracemalloc.stop()
    assert found.users is None  # the same rate whatever was under way: an open load
