"""What a diagnosis takes from intervals of run folders, and from a model that was fitted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import sojourn as sj
from sojourn.diagnosis import LoadLevel, WatchedResource, diagnose_levels, lines
from sojourn.diagnosis.load_levels import read_level
from sojourn.simulate.simulated_run import as_run
from sojourn.table import Metrics

ONE = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 40
[demands_s]
cpu = { user = 0.01 }
"""


def levels(response_s: float, busy: float, rates: tuple[float, ...]) -> list[LoadLevel]:
    """Of an open loop; the cores are as busy at the last, and in proportion before."""
    return [
        LoadLevel(r, r, response_s, sent_s=response_s, throughput_error=0.01, response_error=0.01,
              resources=(WatchedResource("cores 0-1", "cores", busy * r / rates[-1]),))
        for r in rates
    ]  # fmt: skip


def test_the_error_of_a_level_is_that_of_its_batches(tmp_path: Path) -> None:
    """20 batches, so that half an interval at 90 % is 1.729 standard errors: Student's t with 19 degrees of freedom (tables)."""
    folder = as_run(sj.Model.parse(ONE), tmp_path / "run", until_s=60, seed=1)
    level, metrics = read_level(folder), Metrics.read(folder.path / "metrics.parquet")
    low, high = metrics.interval("response_time")
    assert level is not None and level.response_error is not None and low is not None and high is not None
    assert 1.729 * level.response_error * level.response_s == pytest.approx((high - low) / 2, rel=1e-3)


def test_where_a_fitted_model_is_full_counts_for_more_than_the_law() -> None:
    """A lock that holds longer the more wait for it, full at 532/s: from what it takes at 40/s the law said 1 958/s."""
    few = levels(0.011, 0.02, (10, 20, 30, 40))
    found = diagnose_levels(few, 532.0)
    assert (
        found.saturation_rate_per_s == (532.0, None, None)
        and "full at 532 /s" in found.next_step
        and "up to 505 /s" in found.next_step
    )
    surer = diagnose_levels(few, (532.0, 480.0, 590.0)).next_step
    assert "up to 480 /s" in surer, "never beyond the lower end of where the model is full"
    assert "up to 80 /s" in diagnose_levels(few).next_step, "without a model no more than twice what was measured"
    assert "fitted" not in diagnose_levels(few).next_step and diagnose_levels(few, 39.0) == diagnose_levels(few)
    full = levels(0.02, 0.95, (10, 25, 40, 55, 70, 95))
    assert (
        "would be full at 100 /s; by the fitted model the service is full at 107 /s"
        in diagnose_levels(full, 107.0).sentence
    )
    assert "fitted" not in diagnose_levels(full, 101.0).sentence, "they say the same"


def test_a_few_users_are_advised_where_rates_did_not_tell_saturation() -> None:
    few = levels(0.011, 0.02, (10, 20, 30, 40))
    assert "--users 4" in diagnose_levels(few, (532.0, 400.0, 700.0)).next_step
    assert "--users" not in diagnose_levels(few, (532.0, 480.0, 590.0)).next_step


def test_four_levels_that_are_there_are_not_asked_for_again() -> None:
    told = diagnose_levels(levels(0.011, 0.02, (10, 15, 20, 30, 40))).next_step
    assert "four levels" not in told and told.startswith("measure at higher rates, up to 80 /s")
    assert "four levels" in diagnose_levels(levels(0.011, 0.02, (10, 40))).next_step
    near = diagnose_levels(levels(0.011, 0.45, (10, 15, 20, 30, 40)), (60.0, 41.0, 90.0)).next_step
    assert "run longer, or more often" in near, "where the model may be full at 41/s, 40/s is as far as one goes"


def test_a_client_that_is_idle_is_not_the_limit() -> None:
    """Cores 89 % busy, beside 2 % of the client: together beyond 90 %; and a run that was called late by 1 % of its response time."""
    cores = levels(0.011, 0.89, (10, 20, 30, 40, 55))
    beside = diagnose_levels([replace(level, client_shares=0.02, client_busy=0.02) for level in cores])
    assert (beside.kind, beside.name) == ("cores", "cores 0-1")
    late = diagnose_levels([*cores[:-1], replace(cores[-1], late=True, sent_s=0.99 * 0.011)])
    assert late.kind == "cores"
    half = [*cores[:-1], replace(cores[-1], late=True, sent_s=0.005, client_busy=0.05)]
    found = diagnose_levels(half)
    assert (
        found.kind == "unknown"
        and "other programs delayed it" in found.sentence
        and "55 % of the response" in found.sentence
    )


def test_a_time_that_changes_with_the_load_is_said() -> None:
    """Go: 3.50 ms at 50/s, 2.80 ms at 300/s, in a straight line."""
    rates = (50.0, 100.0, 200.0, 300.0)
    served = [3.50e-3 - (rate - 50) / 250 * 0.70e-3 for rate in rates]
    falling = [replace(level, resources=(WatchedResource("cores 0-1", "cores", rate * cpu_s / 2),))
               for level, rate, cpu_s in zip(levels(0.011, 0.1, rates), rates, served, strict=True)]  # fmt: skip
    found = diagnose_levels(falling)
    assert found.changing_times.startswith(
        "a request takes 20 % less of cores 0-1 at 300 /s than at 50.0 /s (1.40 ms, 1.75 ms)"
    ), found
    assert "falls with the load" in found.changing_times
    assert lines({"": found})[1].strip() == found.changing_times and len(lines({"": found})) == 3
    assert (
        diagnose_levels(levels(0.011, 0.5, rates)).changing_times == "" == diagnose_levels(falling[:2]).changing_times
    )


def test_where_the_queue_cannot_tell_a_fitted_model_does() -> None:
    """Cores of 60 % at 60/s are full at 100/s; a model that is full at 55 to 70 has something else full, one of 90 to 110 has them, one of
    80 to 110 does not say."""
    cores = levels(0.011, 0.6, (20, 40, 60))
    kinds = [
        diagnose_levels(cores, rate).kind
        for rate in ((65.0, 61.0, 70.0), (100.0, 90.0, 110.0), (95.0, 80.0, 110.0), None)
    ]
    assert kinds == ["unseen", "cores", "unknown", "unknown"]
