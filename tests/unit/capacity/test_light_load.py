"""The first look: users who wait, in a closed loop whose throughput is known (asymptotic bounds: X <= min(N/(D+Z), m/D))."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sojourn.capacity import light_load
from sojourn.errors import ServiceError
from sojourn.query.objectives import read_objectives
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_folder import write_run

SERVICE_S, WORKERS, RUN_S = 0.01, 4, 2.0


class Closed:
    """Four workers of 10 ms each and users without think time: X = min(N, 4)/10 ms, R = N/X."""

    def __init__(self, out: Path, fails_above: int = 10**9, disturbed: tuple[int, ...] = ()) -> None:
        self.out, self.fails_above, self.disturbed, self.asked = out, fails_above, disturbed, list[int]()

    def __call__(self, users: int) -> RunFolder:
        self.asked.append(users)
        rate = min(users, WORKERS) / SERVICE_S * (0.6 if users in self.disturbed else 1.0)
        begun = np.arange(0, RUN_S, 1 / rate)
        requests = {"intended_s": begun, "done_s": begun + users / rate}
        if users > self.fails_above:
            requests["failure"] = np.ones(len(begun), int)
        about = {"name": f"users-{users}", "factors": {"users": users}, "duration_s": RUN_S}
        about["load"] = {"lanes": [{"closed": {"users": users, "think_s": 0.0}}]}
        return write_run(self.out / f"users-{users}", manifest=about, requests=requests)


def test_ends_when_somebody_waits(tmp_path: Path) -> None:
    users = Closed(tmp_path)
    found = light_load(users, [])
    assert users.asked == [1, 2, 4, 8, 16]  # 8 users wait for each other: 20 ms; 16 get no more
    assert found.few_full_per_s is not None and found.few_full_per_s.low < 400 < found.few_full_per_s.high  # type: ignore[operator]
    assert found.few_full_per_s.value == pytest.approx(400, rel=0.02)
    assert found.borne_per_s == pytest.approx(400, rel=0.02) and found.response_s == pytest.approx(0.01, rel=0.01)
    assert found.full_per_s is None and not found.missed


def test_more_users_that_were_disturbed_take_nothing_from_what_fewer_got(tmp_path: Path) -> None:
    found = light_load(Closed(tmp_path, disturbed=(8, 16)), [])
    assert found.borne_per_s == pytest.approx(400, rel=0.02)
    assert found.few_full_per_s is not None and found.few_full_per_s.value == pytest.approx(400, rel=0.02)


def test_saturates_where_that_is_allowed(tmp_path: Path) -> None:
    found = light_load(Closed(tmp_path), [], saturate=True)
    assert found.full_per_s is not None
    assert found.full_per_s.low <= 400 <= found.full_per_s.high  # type: ignore[operator]
    assert found.full_per_s.half_width < 0.1


def test_the_level_is_that_which_was_asked_for(tmp_path: Path) -> None:
    """Student's t with 19 degrees of freedom (any table): 1.729 at 90 %, 2.861 at 99 %."""
    usual, sure = (light_load(Closed(tmp_path / f"{level}"), [], True, level).full_per_s for level in (0.9, 0.99))
    assert usual is not None and sure is not None and sure.value == usual.value
    assert (sure.value - sure.low) / (usual.value - usual.low) == pytest.approx(2.861 / 1.729, rel=1e-3)


def test_a_single_user_misses(tmp_path: Path) -> None:
    users = Closed(tmp_path)
    found = light_load(users, read_objectives(["mean < 5ms"]))
    assert users.asked == [1] and "mean < 5ms" in found.missed


def test_nothing_good_is_answered(tmp_path: Path) -> None:
    with pytest.raises(ServiceError):
        light_load(Closed(tmp_path, fails_above=0), [])


def test_failures_of_many_users_end_the_growth_only(tmp_path: Path) -> None:
    found = light_load(Closed(tmp_path, fails_above=4), [], saturate=True)
    assert found.borne_per_s == pytest.approx(400, rel=0.02)


def test_a_service_that_takes_few_users_has_what_these_got(tmp_path: Path) -> None:
    """It refuses from the third connection on: two users of 10 ms had 200/s."""
    users = Closed(tmp_path, fails_above=2)
    found = light_load(users, [])
    assert users.asked == [1, 2, 4] and found.borne_per_s == pytest.approx(200, rel=0.02)
