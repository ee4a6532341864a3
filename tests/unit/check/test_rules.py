"""Each law on observations made by hand: what breaks it is named, what keeps it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sojourn.check import LAWS, check_observations
from sojourn.readers import Observation, Requests, WindowSeries

LOAD = Observation("f", "tool", length_s=100.0, completed=1000, failed=0, throughput_per_s=10.0, mean_s=0.1)


def requests(gap_s: float = 0.1, count: int = 1000, response_s: float = 0.05, factor: object = 1.0) -> Requests:
    """One every `gap_s`, each of `response_s`."""
    chance = np.random.default_rng(1).uniform(0.9, 1.1, count)
    return Requests(np.arange(count) * gap_s, response_s * chance * np.asarray(factor), np.ones(count, bool))


def laws(*observations: Observation, notes: bool = False) -> list[str]:
    return sorted({one.law for one in check_observations(observations).findings if notes or one.severity != "note"})


RATIO = np.linspace(1, 3, 1000)
COLD = np.where(np.arange(1000) < 100, 8.0, 1.0)
SERIAL = Requests(np.arange(1000) * 0.05, np.full(1000, 0.05), np.ones(1000, bool))


@pytest.mark.parametrize(
    ("observation", "law"),
    [
        (replace(LOAD, users=0.8, open_loop=False), "littles_law"),  # 10 x .1 = 1 present
        (replace(LOAD, users=2, think_s=0.2, open_loop=False), "interactive_law"),  # 10 x .3 = 3 users
        (replace(LOAD, users=4, think_s=0.0, open_loop=False), "client_limit"),
        (replace(LOAD, client_busy=0.97), "client_limit"),
        (replace(LOAD, asked_per_s=13.0), "schedule_missed"),  # 10 of 13 is less than four deviations of 1300 below
        (replace(LOAD, dropped=100), "requests_dropped"),
        (replace(LOAD, quantiles={0.5: 0.2, 0.99: 0.1}), "quantiles"),
        (replace(LOAD, quantiles={0.5: 0.3}), "mean_and_quantiles"),  # half of them at least .3: a mean of at least .15
        (replace(LOAD, most_s=0.5, stdev_s=0.3), "mean_and_quantiles"),  # at most sqrt(.4 x .1) = .2
        (replace(LOAD, failed=100), "failures_mixed"),
        (replace(LOAD, throughput_per_s=15.0), "throughput"),  # 1000 in 100 s
        (replace(LOAD, mean_s=0.001, rounding_s=0.0005), "coarse_times"),
        (replace(LOAD, busy={"cpu": 0.3}, service_s=0.06), "utilisation_law"),  # 10 x .06 = .6
        (replace(LOAD, busy={"cpu": 1.3}), "utilisation_law"),
        (replace(LOAD, queue_length=2.0), "littles_law"),
        (replace(LOAD, requests=requests(factor=RATIO)), "not_stationary"),
        (replace(LOAD, requests=requests(factor=COLD)), "warm_up"),
        (replace(LOAD, requests=SERIAL, open_loop=True), "one_connection"),  # each begins when the one before ends
    ],
)  # fmt: skip
def test_what_breaks_a_law_is_named(observation: Observation, law: str) -> None:
    assert law in laws(observation)


@pytest.mark.parametrize(
    "observation",
    [
        replace(LOAD, users=1, think_s=0.0, open_loop=False),
        replace(LOAD, users=3, think_s=0.2, open_loop=False),
        replace(LOAD, users=0.95, open_loop=False),  # 5 % may be the ends of the run
        replace(LOAD, users=0.5, open_loop=True),  # a schedule has no users
        replace(LOAD, asked_per_s=10.3),
        replace(LOAD, dropped=0, failed=5),
        replace(LOAD, quantiles={0.5: 0.08, 0.99: 0.4}, most_s=0.5, least_s=0.01, stdev_s=0.06),
        replace(LOAD, mean_s=0.0051, rounding_s=0.0005),
        replace(LOAD, busy={"cpu": 0.58}, service_s=0.06, queue_length=1.05),
        replace(LOAD, requests=requests()),
        replace(LOAD, requests=requests(), open_loop=True),
        replace(LOAD, requests=requests(factor=np.where(np.arange(1000) < 20, 2.0, 1.0))),  # moves the mean by 2 %
    ],
)
def test_what_keeps_all_laws_is_not_accused(observation: Observation) -> None:
    assert laws(observation) == []


def test_a_stall_that_users_wait_through_and_what_it_hid() -> None:
    """10 users, 1000 requests/s for 10 s, then nothing for 2 s: 2000 requests of 12000 are missing, p99 is 10 ms and not 1.9 s."""
    start = np.repeat(np.arange(1000) * 0.01, 10)
    start = np.where(start >= 5.0, start + 2.0, start)
    response = np.full(start.size, 0.01)
    response[(start < 5.0) & (start > 4.985)] = 2.01
    found = check_observations(
        [replace(LOAD, requests=Requests(start, response, np.ones(start.size, bool)), users=10.0)]
    )
    (finding,) = [one for one in found.findings if one.law == "coordinated_omission"]
    assert finding.numbers["missing"] == pytest.approx(2000, rel=0.05) and finding.numbers["said_s"] == pytest.approx(
        0.01
    )
    assert finding.numbers["up_to_s"] == pytest.approx(2.0 * (1 - 0.01 / (2000 / 12000)), rel=0.05)


def test_a_generator_that_pauses() -> None:
    start = np.arange(1000) * 0.01
    start = np.where((start > 4) & (start < 4.5), 4.5, start)
    observation = replace(LOAD, open_loop=True, requests=Requests(start, np.full(1000, 0.001), np.ones(1000, bool)))
    assert laws(observation) == ["schedule_missed"]


def test_a_mean_of_quantiles_is_no_quantile() -> None:
    windows = WindowSeries(np.arange(6.0), np.ones(6), quantiles={0.99: np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.3])})
    assert laws(replace(LOAD, quantiles={0.99: 0.2}, windows=windows)) == ["percentiles_averaged"]
    assert laws(replace(LOAD, quantiles={0.99: 0.27}, windows=windows)) == []


def test_response_times_that_fall_as_load_rises() -> None:
    few, many = replace(LOAD, users=10.0), replace(LOAD, users=20.0, throughput_per_s=20.0, completed=2000, mean_s=0.05)
    assert laws(few, many) == ["latency_falls"]
    assert laws(few, replace(many, mean_s=0.3)) == []


def test_a_host_that_does_not_notice_the_load() -> None:
    """Ten requests a second, then forty: the host that serves them is busier."""
    start = np.concatenate([np.arange(300) * 0.1, 30 + np.arange(1200) * 0.025])
    load = replace(LOAD, start_s=1e9, requests=Requests(1e9 + start, np.full(1500, 0.01), np.ones(1500, bool)))
    at = 1e9 + np.arange(60.0)
    busier = np.where(at < 1e9 + 30, 0.1, 0.4)
    host = Observation(
        "host",
        "sadf",
        start_s=1e9,
        windows=WindowSeries(at, np.ones(60), busy={"cpu": busier, "disk": np.full(60, 0.1)}),
    )
    other = replace(
        host, windows=WindowSeries(at, np.ones(60), busy={"cpu": busier[::-1].copy(), "disk": np.full(60, 0.1)})
    )
    assert "utilisation_law" not in laws(load, host) and "utilisation_law" in laws(load, other)


def test_a_single_connection_is_noted() -> None:
    assert laws(replace(LOAD, users=1, open_loop=False), notes=True) == ["one_connection"]


def test_every_finding_says_all_that_is_asked_of_it() -> None:
    observation = replace(LOAD, users=0.8, open_loop=False, failed=100, dropped=99)
    for one in check_observations([observation]).findings:
        assert (
            one.law in LAWS
            and one.found
            and one.meaning
            and one.remedy
            and one.numbers
            and one.certainty in ("certain", "likely", "possible")
        )


@pytest.mark.parametrize(
    ("tool", "sure"),
    [
        ("wrk", "certain"),
        ("ab", "certain"),
        ("k6", "likely"),
        ("gatling", "likely"),
        ("jmeter", "likely"),
        ("csv", "likely"),
    ],
)
def test_users_that_may_have_several_requests_at_once_are_accused_as_likely(tool: str, sure: str) -> None:
    """10/s x 100 ms = 1 request at once, of 0.8 users; and 10/s x (100 + 200 ms) = 3 users, of 2."""
    more = replace(LOAD, tool=tool, users=0.8, open_loop=False)
    (finding,) = [one for one in check_observations([more]).findings if one.law == "littles_law"]
    assert finding.certainty == sure
    thinking = replace(LOAD, tool=tool, users=2, think_s=0.2, open_loop=False)
    (finding,) = [one for one in check_observations([thinking]).findings if one.law == "interactive_law"]
    assert finding.certainty == sure


@pytest.mark.parametrize(("tool", "sure"), [("sadf", "certain"), ("csv", "likely")])
def test_more_than_all_of_a_resource_may_be_percent_in_a_csv(tool: str, sure: str) -> None:
    found = check_observations([replace(LOAD, tool=tool, busy={"cpu": 1.2})]).findings
    assert [one.certainty for one in found] == [sure]
