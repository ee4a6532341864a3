"""Whether CPU time limits a service for sure. Windows by formula: U = b + X D, R = D + what is not CPU time."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.fit.candidate_models import candidates
from sojourn.fit.cpu_limit import limits_for_sure, may_be_all, work_without_requests
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.run_contents import cores_told


def windows(cpu_s: float, rest_s: float, cores: int, other: float = 0.0, one_at_a_time: bool = False) -> FitRuns:
    """`rest_s` beyond CPU time; of a lock (M/M/1) it grows with the rate."""
    found = []
    for rate in np.linspace(5.0, 20.0, 6):
        response_s = cpu_s + (rest_s / (1 - rate * rest_s) if one_at_a_time else rest_s)
        means = {("", "response_time"): (response_s, 0.005), ("", "throughput"): (float(rate), 0.005)}
        found.append(FitRun(f"{rate:g}", {"rate_per_s": float(rate)}, means, {"cpu": other + rate * cpu_s}, cores))
    return FitRuns(found)


def test_the_rest_of_a_response_may_be_full_first() -> None:
    """One at a time 12.4 ms: full at 81/s. Sixteen cores with 17.4 ms: at 920/s, although that is most of a response."""
    lock = windows(0.0174, 0.0124, 16, one_at_a_time=True)
    assert not limits_for_sure(lock, "cpu")
    assert {"1 server, a delay", "1 server, beside cpu", "16 servers, a delay, utilised like cpu"} <= candidates(
        lock
    ).keys()


@pytest.mark.parametrize(("rest_s", "sure"), [(0.0099, True), (0.0101, False)])
def test_cores_that_are_full_before_the_rest_could_be_limit_for_sure(rest_s: float, sure: bool) -> None:
    """Two cores with 20 ms are full at 100/s, the rest at 1/`rest_s`."""
    assert limits_for_sure(windows(0.02, rest_s, 2), "cpu") is sure


def test_cpu_time_beyond_the_response_time_is_not_of_a_request() -> None:
    means = {("", "response_time"): (0.031, 0.005), ("", "throughput"): (5.0, 0.005)}
    alone = FitRuns([FitRun("5", {"rate_per_s": 5.0}, means, {"cpu": 0.35}, 16)])  # 70 ms of 31
    assert not limits_for_sure(alone, "cpu")


def test_work_without_requests_is_the_intercept() -> None:
    busy = windows(0.0174, 0.0001, 16, other=0.32)
    assert work_without_requests(busy, "cpu") == pytest.approx(0.32)
    assert limits_for_sure(busy, "cpu") and work_without_requests(windows(0.0174, 0.001, 16), "cpu") == 0
    names = candidates(windows(0.0174, 0.0124, 16, other=0.32)).keys()
    assert {"1 server, a delay", "1 server, a delay, utilised like cpu, beside other work"} <= names


def test_little_cpu_time_on_idle_cores_is_not_all_of_a_response() -> None:
    """10 ms of 30 at a twentieth of one core: M/M/1 would be 10/0.95 ms. At a busy share of 0.7 it would be 33 ms."""
    idle = windows(0.01, 0.02, 1)
    assert not may_be_all(idle, "cpu", 1)
    assert not any(n.startswith("1 server, utilised") for n in candidates(idle))
    means = {("", "response_time"): (0.03, 0.005), ("", "throughput"): (70.0, 0.005)}
    assert may_be_all(FitRuns([FitRun("70", {"rate_per_s": 70.0}, means, {"cpu": 0.7}, 1)]), "cpu", 1)


def test_the_map_of_telemetry_says_how_many_cores_there_are() -> None:
    assert cores_told({"disk": {"capacity": 4}, "cpu": {"capacity": 16.0}}) == 16
    assert cores_told({"cpu": {"capacity": 1.0}}) == cores_told({"cpu": {"capacity": 2.5}}) == cores_told({}) == 0
