"""The search for a capacity on services of known truth, which are simulated."""

from __future__ import annotations

from pathlib import Path

import pytest
from capacity.virtual_service import VirtualService

from sojourn.capacity import LightLoad, SearchLimits, search
from sojourn.errors import InputError, ServiceError
from sojourn.query.objectives import read_objectives
from sojourn.runs.run_folder import RunFolder


def test_four_constant_workers(tmp_path: Path) -> None:
    service = VirtualService(tmp_path, workers=4, law="constant")
    found = search(service.run, service.light(), read_objectives(["mean < 9ms"]))
    truth = service.truth("mean", 9e-3)  # by a long simulation; M/D/4 has no closed form
    assert found.rate_per_s is not None and found.rate_per_s.high is not None
    assert found.rate_per_s.low <= truth <= found.rate_per_s.high
    assert found.rate_per_s.half_width <= 0.1
    assert max(service.asked) <= 0.9 * 4 / service.service_s
    assert len(service.asked) <= 8
    assert str(found).splitlines()[0].endswith("/s)")
    assert found.to_dict()["runs"][0]["name"] == f"rate-{service.asked[0]:.10g}"


def test_never_beyond_what_was_allowed(tmp_path: Path) -> None:
    service = VirtualService(tmp_path, workers=4)
    found = search(service.run, service.light(), read_objectives(["mean < 1s"]), SearchLimits(max_rate_per_s=100))
    assert max(service.asked) <= 100
    assert "--max-rate" in found.stop_reason


def test_stops_where_requests_fail(tmp_path: Path) -> None:
    service = VirtualService(tmp_path, workers=4, fails_above=250)
    found = search(service.run, service.light(), read_objectives(["errors < 1%"]), SearchLimits(max_runs=6))
    assert service.asked[-1] > 250 and max(service.asked[:-1]) < 250
    assert "failed" in found.stop_reason


def test_nothing_is_run_where_a_single_user_misses(tmp_path: Path) -> None:
    service = VirtualService(tmp_path)
    found = search(service.run, LightLoad(100, 7e-3, "mean < 5ms: 7.00 ms"), read_objectives(["mean < 5ms"]))
    assert not service.asked and found.rate_per_s is None and found.single_user_misses
    assert "a single user misses mean < 5ms: 7.00 ms" in str(found)


@pytest.mark.parametrize("text", ["rate > 5/s", "p99 > 5ms", "mean >= 1ms"])
def test_an_objective_without_an_upper_limit(tmp_path: Path, text: str) -> None:
    service = VirtualService(tmp_path)
    with pytest.raises(InputError, match="give an upper limit"):
        search(service.run, service.light(), read_objectives([text]))
    assert not service.asked


@pytest.mark.parametrize(
    "wrong",
    [{"max_runs": 2}, {"within_s": 5}, {"precision": 0}, {"precision": 0.041}, {"level": 1}, {"max_rate_per_s": 0}],
)
def test_limits_that_cannot_be(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        SearchLimits(**wrong)  # type: ignore[arg-type]


def test_goes_on_below_a_rate_of_which_more_came_than_left(tmp_path: Path) -> None:
    service = VirtualService(tmp_path, workers=2, law="constant")  # full at 333/s
    wrong = LightLoad(600, 7e-3)  # 0.8 of it is far too much
    found = search(service.run, wrong, read_objectives(["mean < 9ms"]), SearchLimits(max_runs=6))
    over = [rate for rate in service.asked if rate > 2 / service.service_s]
    assert len(over) == 1 and max(service.asked[service.asked.index(over[0]) + 1 :]) <= 0.8 * over[0]
    assert found.rate_per_s is not None


def test_ends_when_it_is_known_whether_at_least_that_much(tmp_path: Path) -> None:
    """Full at 667/s: with a precision that takes many more runs, 400/s is surely met, and 660/s surely missed."""
    for number, (least, outcome) in enumerate(((200.0, "met"), (660.0, "missed"))):
        service = VirtualService(tmp_path / str(number), workers=4, law="constant")
        limits = SearchLimits(precision=0.042, required_rate_per_s=least)
        found = search(service.run, service.light(), read_objectives(["mean < 9ms"]), limits)
        assert found.outcome == outcome and "--required-rate" in found.stop_reason
        assert len(found.runs) < 8 and "--required-rate" not in str(found).splitlines()[1]


def test_a_service_that_dies_leaves_what_was_known(tmp_path: Path) -> None:
    service = VirtualService(tmp_path, workers=4, law="constant")

    def run(rate_per_s: float, length_s: float) -> RunFolder:
        if len(service.asked) == 3:
            raise ServiceError("connection refused", "http://x/", "start it")
        return service.run(rate_per_s, length_s)

    found = search(run, service.light(), read_objectives(["mean < 9ms"]))
    assert "the service no longer answers: connection refused" in found.stop_reason and len(found.runs) == 3
    assert found.service_failed == "the service no longer answers: connection refused"
    assert found.rate_per_s is not None


def test_a_service_that_ends_in_a_run_is_named(tmp_path: Path) -> None:
    service, said = (
        VirtualService(tmp_path, workers=4, law="constant"),
        "the service exited during the run: process 5941 (orders)",
    )

    def run(rate_per_s: float, length_s: float) -> RunFolder:
        folder = service.run(rate_per_s, length_s)
        if len(service.asked) == 4:
            folder.manifest |= {"valid": False, "reasons": [said, "9 of 90 requests after the warm-up failed"]}
        return folder

    found = search(run, service.light(), read_objectives(["mean < 9ms"]))
    assert found.service_failed == said and found.stop_reason.endswith(said) and len(found.runs) == 4


def test_the_time_that_is_up_is_said_with_what_is_known(tmp_path: Path) -> None:
    service = VirtualService(tmp_path, workers=4, law="constant")
    now = iter(range(0, 10_000, 12))
    found = search(
        service.run, service.light(), read_objectives(["mean < 9ms"]), SearchLimits(within_s=100, precision=0.042),
        clock=lambda: float(next(now)),
    )  # fmt: skip
    assert "--within" in found.stop_reason
    assert len(found.runs) < 8


def test_a_time_limit_that_was_meant_in_minutes_is_told_with_its_unit() -> None:
    with pytest.raises(InputError, match=r"--within: 3 s; give 20s to 24h"):
        SearchLimits(within_s=3.0)
