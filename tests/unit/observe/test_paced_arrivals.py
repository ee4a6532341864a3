"""Open loads that are more regular than Poisson come when few are under way, too, and are none that wait: simulated beside the test."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from simulated_logs import Log, closed, served, windows

from sojourn.observe.load_feedback import SURE, ArrivalsByInFlight, LoadFeedback, closed_users, feedback, told
from sojourn.observe.log_windows import log_windows
from sojourn.observe.paced_arrivals import beyond_pace
from sojourn.observe.request_log import RequestLog

MEAN_GAP_S, SERVICE_S, WINDOWS, LENGTH_S = 0.05, 0.025, 20, 60.0


def _paced(law: str, seed: int, count: int = 25_000) -> Log:
    """D/M/1, E4/M/1, or a schedule with 5 % of jitter, half busy."""
    random = np.random.default_rng(seed)
    gaps = {
        "constant": np.full(count, MEAN_GAP_S),
        "erlang": random.gamma(4.0, MEAN_GAP_S / 4, count),
        "jitter": MEAN_GAP_S * random.uniform(0.95, 1.05, count),
        "poisson": random.exponential(MEAN_GAP_S, count),
    }[law]
    return served(np.cumsum(gaps), SERVICE_S, random)


def _beyond(log: Log, users: int) -> float:
    return sum(beyond_pace(*log, i * LENGTH_S, (i + 1) * LENGTH_S, users) for i in range(WINDOWS))


def _log(log: Log) -> RequestLog:
    came, took = log
    return RequestLog(came, took, np.zeros(len(came), np.intp), ("page",))


@pytest.mark.parametrize("law", ["constant", "erlang", "jitter"])
@pytest.mark.parametrize("seed", range(5))
def test_a_schedule_is_none_that_waits(law: str, seed: int) -> None:
    log = _paced(law, seed)
    found = feedback(windows(log, LENGTH_S, WINDOWS))
    assert closed_users({"page": found}), "fewer come while more are under way: against Poisson alone it waits"
    assert found.users is not None and _beyond(log, found.users) < SURE
    _, users, said = log_windows(_log(log), [], 0.0, WINDOWS * LENGTH_S, LENGTH_S)
    assert users == {} and "paced schedule" in said[0]


@pytest.mark.parametrize(("users", "think_s"), [(10, 0.3), (2, 0.1), (40, 1.0)])
def test_users_that_wait_are_told_from_a_schedule(users: int, think_s: float) -> None:
    log = closed(users, think_s, SERVICE_S, WINDOWS * LENGTH_S, 1)
    found = feedback(windows(log, LENGTH_S, WINDOWS))
    assert found.users is not None and _beyond(log, found.users) > SURE
    _, seen, said = log_windows(_log(log), [], 0.0, WINDOWS * LENGTH_S, LENGTH_S)
    assert seen["page"] == found.users
    assert found.low <= users and (found.high is None or users <= found.high + 1)
    assert "are as likely (90 %)" in said[0]


def test_a_gain_by_hand() -> None:
    """Ten gaps of 1 and one of 3, at whose age 1 one of three users is under way."""
    came = np.concatenate([np.arange(11.0), [13.0]])
    took = np.full(12, 0.5)
    took[10] = 2.5
    # of 11 gaps that lasted for 1, ten ended with nobody under way (3 think), one has one (2 think): mean 32/11; the last is alone
    assert beyond_pace(came, took, 0.0, 20.0, 3) == pytest.approx(10 * math.log(3 * 11 / 32))


def test_gaps_of_one_length_and_too_few_say_nothing() -> None:
    came = 0.1 * np.arange(100)
    assert beyond_pace(came, np.full(100, 0.05), 0.0, 10.0, 4) == pytest.approx(0.0, abs=1e-9)
    assert beyond_pace(came[:5], np.full(5, 0.05), 0.0, 10.0, 4) == 0.0


def test_each_class_needs_a_gain_of_its_own_and_more_of_many() -> None:
    sure, small = LoadFeedback(8, 50.0), LoadFeedback(5, 2.0)
    assert closed_users({"a": sure, "b": small}) == {"a": 8}, "an open class beside a closed one stays open"
    assert closed_users({"a": LoadFeedback(5, SURE + 0.1)}) == {"a": 5}
    nineteen = {f"{k}": LoadFeedback(None, 0.0) for k in range(19)}
    assert closed_users({"a": LoadFeedback(5, SURE + 0.1), **nineteen}) == {}
    assert closed_users({"a": LoadFeedback(5, SURE + math.log(20) + 0.1), **nineteen}) == {"a": 5}


def test_the_number_of_users_is_said_with_its_interval() -> None:
    found = {"a": LoadFeedback(8, 50.0, 6, 11), "b": LoadFeedback(90, 9.0, 40, None)}
    said = told(found, {"a": 8, "b": 90}, {"a": 8, "b": 90})
    assert said[0].startswith("a: 6 to 11 users are as likely") and "40 or more users" in said[1]


def test_many_under_way_at_once_take_no_table_of_users_by_requests() -> None:
    """An outage with 20 000 under way; of each number of users by each number under way there would be 3 GB."""
    came, took = np.linspace(0, 10, 20_000), np.full(20_000, 30.0)
    seen = ArrivalsByInFlight.of(came, took, 0.0, 60.0)
    tracemalloc.start()
    found = feedback([seen])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.low >= 20_000 and most < 50e6


def test_classes_that_say_too_little_by_themselves_are_taken_together() -> None:
    """Two gains of 4: half a chi squared each. P = 1/2 P(chi² of 1 > 16) + 1/4 P(chi² of 2 > 16) = 3.2e-5 + 8.4e-5, below the 2.7e-4 of
    one gain of 6."""
    four = LoadFeedback(5, 4.0)
    assert closed_users({"a": four, "b": four}) == {"a": 5, "b": 5}
    assert closed_users({"a": four}) == {}
    assert closed_users({"a": four, "b": LoadFeedback(5, 2.0)}) == {}  # 3.0e-4 + 6.2e-4
    # beside one that surely waits one in a hundred is enough: 1/2 P(chi² of 1 > 6) = 0.007
    assert closed_users({"a": LoadFeedback(8, 50.0), "b": LoadFeedback(5, 3.0)}) == {"a": 8, "b": 5}
