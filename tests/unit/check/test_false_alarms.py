"""Loads with nothing wrong that a rule once accused: light, short, quick, with one slow answer, or of queues that say who waits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sojourn.check import check_observations
from sojourn.check.facts import LoadFacts
from sojourn.check.host import utilisation
from sojourn.check.occupancy import interactive
from sojourn.check.omission import stalls
from sojourn.check.schedule import held, pauses, rate
from sojourn.readers import Observation, Requests, WindowSeries, read_observations
from sojourn.simulate.simulated_folder import write_run

LOAD = Observation("f", "tool", length_s=100.0, completed=1000, failed=0, throughput_per_s=10.0, mean_s=0.1)


def facts(start: np.ndarray, response: np.ndarray | float, **said: Any) -> LoadFacts:
    times = np.broadcast_to(np.asarray(response, float), start.shape).copy()
    return LoadFacts(replace(LOAD, requests=Requests(start, times, np.ones(start.size, bool)), **said))


def test_a_light_load_is_not_held_by_connections() -> None:
    """20/s of 0.4 ms: nobody is in flight during 99.2 % of the time."""
    start = np.cumsum(np.random.default_rng(1).exponential(0.05, 2000))
    assert held(facts(start, 4e-4, open_loop=True)) == []


@pytest.mark.parametrize("share", [0.9, 0.94])
def test_nor_is_a_steady_one_that_keeps_one_server_busy(share: float) -> None:
    assert held(facts(0.01 * np.arange(1000), 0.01 * share, open_loop=True)) == []


@pytest.mark.parametrize("connections", [1, 4])
def test_one_that_waits_for_its_connections_is(connections: int) -> None:
    """Each request begins 20 us after another has ended."""
    took = np.random.default_rng(2).exponential(0.01, 2000)
    free, start = np.zeros(connections), np.empty(2000)
    for k, takes in enumerate(took):
        one = int(np.argmin(free))
        start[k] = free[one] + 2e-5
        free[one] = start[k] + takes
    (finding,) = held(facts(start, took, open_loop=True)) or []
    assert finding.numbers["in_flight"] == connections and finding.numbers["followed"] > 0.9


def test_a_clock_that_is_too_coarse_tells_nothing_of_it() -> None:
    start = 0.001 * np.arange(1000)
    assert held(facts(start, 0.001, open_loop=True, stamp_s=0.001)) == []


@pytest.mark.parametrize(("means", "accused"), [(12.0, False), (25.0, True)])
def test_a_gap_of_a_short_load_may_be_chance(means: float, accused: bool) -> None:
    """Of 1000 gaps the longest of a Poisson stream passes 12 means in 1000 exp(-12) = 0.6 %, and 25 in 1e-8."""
    start = np.cumsum(np.concatenate([np.full(500, 0.02), [means * 0.02], np.full(500, 0.02)]))
    assert bool(pauses(facts(start, 0.001, open_loop=True))) == accused


def test_a_long_request_in_a_gap_of_a_short_load_of_unknown_kind_may_be_chance() -> None:
    """12 mean gaps without a request, through which one is answered; users that wait would have made it a stall."""
    start = np.cumsum(np.concatenate([np.full(500, 0.02), [12 * 0.02], np.full(500, 0.02)]))
    took = np.full(start.size, 0.005)
    took[499] = 0.24
    assert stalls(facts(start, took, open_loop=None)) == []
    longer = np.where(start > start[499], start + 0.4, start)
    took[499] = 0.64
    assert stalls(facts(longer, took, open_loop=None)), "32 mean gaps are no chance"


@pytest.mark.parametrize("count", [100, 500, 1000])
def test_short_poisson_loads_do_not_pause(count: int) -> None:
    """Ten means are passed by 0.5 to 4.4 % of them, and what is asked for now by one of 10 000."""
    random = np.random.default_rng(count)
    drawn = [facts(np.cumsum(random.exponential(0.02, count)), 0.001, open_loop=True) for _ in range(300)]
    assert sum(bool(pauses(one)) for one in drawn) <= 1


def test_one_slow_last_answer_is_no_schedule_that_was_missed() -> None:
    """10 s at 100/s, and a timeout of 30 s: counted to its end it is 25/s."""
    took = np.full(1000, 0.005)
    took[-1] = 30.0
    one = facts(0.01 * np.arange(1000), took, open_loop=True, asked_per_s=100.0)
    assert one.rate_per_s == pytest.approx(25.1, abs=0.1) and one.sent_per_s == pytest.approx(100.0)
    assert rate(one) == []
    assert rate(facts(0.02 * np.arange(1000), took, open_loop=True, asked_per_s=100.0)), "50/s were sent"


def test_nor_an_idle_client() -> None:
    """Ten users of 0.1 s for 10 s, of whom one waits for 30 s more."""
    took = np.full(1000, 0.1)
    took[-1] = 30.0
    start = np.repeat(0.1 * np.arange(100), 10)
    assert interactive(facts(start, took, open_loop=False, users=10.0, think_s=0.0)) == []
    idle = facts(2 * start, took, open_loop=False, users=10.0, think_s=0.0)  # half of the time nobody waits
    assert [one.law for one in interactive(idle) or []] == ["client_limit"]


@pytest.mark.parametrize(
    ("service_s", "said", "accused"),
    [
        (0.06, 1.0, False),  # X R = 1 present
        (0.06, 0.4, False),  # X (R - S) = 0.4 wait
        (0.06, 0.7, True),
        (None, 0.4, False),  # how many wait nobody knows
        (None, 2.0, True),
    ],
)
def test_a_queue_length_is_of_those_present_or_of_those_that_wait(
    service_s: float | None, said: float, accused: bool
) -> None:
    found = utilisation(LoadFacts(replace(LOAD, queue_length=said, service_s=service_s)))
    assert found is not None and [one.certainty for one in found] == (["likely"] if accused else [])


@pytest.mark.parametrize(
    ("scale_s", "others", "accused"),
    [
        (0.1, {}, True),
        (3e-4, {}, False),  # within 1 us of the mean of such windows the whole lies by chance
        (0.1, {0.999: 2.0}, False),  # who averages one quantile averages all
        (0.1, {0.999: 1.0}, True),
    ],
)
def test_a_quantile_that_is_near_the_mean_of_its_windows_by_chance(
    scale_s: float, others: dict[float, float], accused: bool
) -> None:
    series = scale_s * np.linspace(0.97, 1.03, 20)
    windows = WindowSeries(
        np.arange(20.0), np.ones(20), quantiles={0.99: series, **{q: series * f for q, f in others.items()}}
    )
    whole = {0.99: scale_s, **dict.fromkeys(others, scale_s)}
    found = check_observations([replace(LOAD, quantiles=whole, windows=windows, rounding_s=5e-7)]).findings
    assert ("percentiles_averaged" in [one.law for one in found]) == accused


@pytest.mark.parametrize(
    ("manifest", "is_open", "users", "think_s", "asked_per_s"),
    [
        ({"load": {"lanes": [{"closed": {"users": 3, "think": {"kind": "constant", "mean": 0.5}}}] * 2}}, False, 6, 0.5, None),
        ({"load": {"lanes": [{"closed": {"users": 4}}]}}, False, 4, 0.0, None),
        ({"load": {"lanes": [{"arrivals": {"kind": "poisson", "rate_per_s": 30.0}}] * 2}}, True, None, None, 60.0),
        ({"factors": {"users": 5}}, False, 5, None, None),
        ({"factors": {"rate_per_s": 20.0}}, True, None, None, 20.0),
        ({"factors": {"cores": 2}}, None, None, None, None),
    ],
)  # fmt: skip
def test_run_folders_say_whether_their_users_wait(
    tmp_path: Path, manifest: dict[str, Any], is_open: bool | None, users: float | None, think_s: float | None,
    asked_per_s: float | None,
) -> None:  # fmt: skip
    start = 0.01 * np.arange(200)
    requests = {"intended_s": start, "done_s": start + 0.01, "failure": np.zeros(200, np.int64)}
    folder = write_run(tmp_path / "run", manifest=manifest, requests=requests)
    (one,) = read_observations(folder.path)
    assert (one.open_loop, one.users, one.think_s, one.asked_per_s) == (is_open, users, think_s, asked_per_s)
