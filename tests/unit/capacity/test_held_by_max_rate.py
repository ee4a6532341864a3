"""`--max-rate` on services of known truth: what it holds is no saturation (an outsider was told 286/s of a service that takes 1100/s)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from capacity.test_capacity_report import RUN, result
from capacity.test_light_load import Closed
from capacity.virtual_service import VirtualService

from sojourn.capacity import CapacityRun, LightLoad, RateInterval, SearchLimits, capacity_document, light_load, search
from sojourn.capacity.capacity_answer import _held
from sojourn.capacity.search_state import SearchState
from sojourn.capacity.users_evidence import DIFFERS, DISTURBED, _weights
from sojourn.query.objectives import read_objectives
from sojourn.runs.assess_run import NOT_BALANCED

USERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
AT_LEAST = "saturation not seen; at least"


def users_who_think(path: Path, response_s: float, full_per_s: float, most_per_s: float) -> Closed:
    """X = min(full, N/(Z + R)) with Z = N/most (response time law)."""
    return Closed(path, rates={n: min(full_per_s, n / (n / most_per_s + response_s)) for n in USERS})


@pytest.mark.parametrize("saturate", [False, True])
def test_users_who_come_near_the_largest_rate_do_not_say_that_the_service_is_full(
    tmp_path: Path, saturate: bool
) -> None:
    """A service of 9.6 ms that takes 1100/s, and users who think until they are below 400/s: 32 of them get 357/s."""
    users = users_who_think(tmp_path, 0.0096, 1100.0, 400.0)
    assert users.rates[32] == pytest.approx(357, abs=1)
    found = light_load(users, [], saturate, max_rate_per_s=400.0)
    assert found.few_full_per_s is None and found.full_per_s is None
    assert found.held_per_s is not None and found.held_per_s.high is None
    assert 350 < found.held_per_s.value < 400 and found.borne_per_s == found.held_per_s.value


def test_users_who_wait_far_below_the_largest_rate_do(tmp_path: Path) -> None:
    """400/s is all that it takes, and 4000/s is allowed."""
    found = light_load(users_who_think(tmp_path, 0.01, 400.0, 4000.0), [], max_rate_per_s=4000.0)
    assert found.few_full_per_s is not None and found.few_full_per_s.value == pytest.approx(400, rel=0.02)
    assert found.held_per_s is None


def at_most(path: Path, most: float, objective: list[str], **more: float) -> tuple[VirtualService, str, object]:
    """A service that is full at 667/s, whose users were held at 0.93 of what is allowed."""
    service = VirtualService(path, workers=4, law="constant", watched=True)
    users = LightLoad(0.93 * most, 7e-3, held_per_s=RateInterval(0.93 * most, 0.9 * most, None))
    # the service answers at once, and the fits between its runs take as long as this machine is busy
    limits = SearchLimits(max_rate_per_s=most, **{"max_runs": 5, "within_s": 3600.0, **more})  # type: ignore[arg-type]
    found = search(service.run, users, read_objectives(objective), limits)
    assert max(service.asked) <= most
    return service, str(found), found


def test_no_saturation_and_no_limit_is_stated(tmp_path: Path) -> None:
    _, text, found = at_most(tmp_path, 300.0, ["mean < 1s"], required_rate_per_s=250.0, max_runs=4)
    assert AT_LEAST in text and "held by --max-rate" in text
    assert "it saturates at" not in text and "what limits it" not in text
    assert found.saturation_per_s is None and found.limit is None  # type: ignore[attr-defined]
    assert found.saturation_at_least_per_s == pytest.approx(290, rel=0.1)  # type: ignore[attr-defined]
    assert found.rate_per_s.high is None and found.rate_per_s.value <= 1.1 * 300  # type: ignore[attr-defined]
    assert found.outcome == "met", "250/s were asked for, and met"  # type: ignore[attr-defined]


def test_without_an_objective_it_is_what_came(tmp_path: Path) -> None:
    _, text, found = at_most(tmp_path, 300.0, [], max_runs=4)
    first, second, *_ = text.splitlines()
    assert first.startswith(AT_LEAST) and second == "cannot tell: the interval has no upper end"
    assert not found.answered and found.to_dict()["limit"] is None  # type: ignore[attr-defined]


def test_an_answer_below_the_largest_rate_is_one(tmp_path: Path) -> None:
    service, text, found = at_most(tmp_path, 620.0, ["mean < 7.5ms"])
    truth = service.truth("mean", 7.5e-3)
    assert truth < 600
    assert found.rate_per_s.low <= truth <= found.rate_per_s.high  # type: ignore[attr-defined]
    assert AT_LEAST in text.splitlines()[0] and "it saturates" not in text


def test_a_run_of_which_more_came_than_left_has_seen_it() -> None:
    users = LightLoad(357.0, 0.01, held_per_s=RateInterval(357.0, 350.0, None))
    limits = SearchLimits(max_rate_per_s=400.0)
    full = CapacityRun(
        "rate-390", 390.0, 300.0, 0.5, 0.1, {}, False, False, (f"{NOT_BALANCED}: 780 requests, 600 answers",)
    )
    held = _held(SearchState(), [RUN], users, limits)
    assert held is not None and held.value == RUN.achieved_per_s
    assert _held(SearchState(), [RUN, full], users, limits) is None
    assert _held(SearchState(), [RUN], users, SearchLimits()) is None


def test_a_draw_that_is_full_above_what_came_counts_in_full() -> None:
    """Below it by two standard errors: exp(-2)."""
    error = math.hypot(math.log(100 / 96) / 1.6449, DIFFERS)
    weights = _weights(
        np.array([100 * math.exp(-2 * error), 100.0, 500.0, math.inf]), RateInterval(100.0, 96.0, None), 0.9
    )
    assert weights - DISTURBED == pytest.approx([math.exp(-2), 1, 1, 1], rel=1e-3)


def test_the_report_says_so_too() -> None:
    held = result(rate_per_s=RateInterval(388, 388, None), saturation_per_s=None, saturation_at_least_per_s=390.0)
    document = capacity_document(held, "http://x/")
    assert (
        document.verdict[0]
        == f"at least 388 /s meet p99 < 50ms and errors < 0.1%; {AT_LEAST} 390 /s, held by --max-rate"
    )
    assert document.numbers[1] == ("390 /s", "at least, held by --max-rate; saturation not seen")
    assert document.status == "warn" and "cannot tell: the interval has no upper end" in document.verdict
