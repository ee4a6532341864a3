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

    def __init__(
        self,
        out: Path,
        fails_above: int = 10**9,
        disturbed: tuple[int, ...] = (),
        rates: dict[int, float] | None = None,
    ) -> None:
        self.out, self.fails_above, self.disturbed, self.asked = out, fails_above, disturbed, list[int]()
        self.rates = rates or {}

    def __call__(self, users: int) -> RunFolder:
        self.asked.append(users)
        rate = min(users, WORKERS) / SERVICE_S * (0.6 if users in self.disturbed else 1.0)
        rate = self.rates.get(users, rate)
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


def test_a_look_that_was_too_low_by_chance_does_not_hide_where_it_is_full(tmp_path: Path) -> None:
    """Seed 833 of the bench: 4 workers of 17 ms behind 46 ms bear 236/s; 32 users got 202, so that 64 seemed to get much more."""
    seen = {1: 16.3, 2: 28.7, 4: 66.3, 8: 121.5, 16: 220.1, 32: 202.1, 64: 267.9, 128: 236.0, 256: 236.0}
    users = Closed(tmp_path, rates=seen)
    found = light_load(users, [])
    assert users.asked[-1] == 256 and found.few_full_per_s is not None
    assert found.few_full_per_s.low < 236 < found.few_full_per_s.high  # type: ignore[operator]
    assert found.borne_per_s < 260


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


def test_a_single_user_misses_by_chance(tmp_path: Path) -> None:
    """Exponential times of 10 ms: 99 % are below 10 ms x ln 100 = 46.05 ms."""

    def users(count: int) -> RunFolder:
        times = np.random.default_rng(count).exponential(SERVICE_S, 200)
        times[-3:] = 1.2 * SERVICE_S * np.log(100)  # three of 200 above it, where two are expected
        begun = np.cumsum(times) - times
        about = {"name": f"users-{count}", "factors": {"users": count}, "duration_s": RUN_S}
        about["load"] = {"lanes": [{"closed": {"users": count, "think_s": 0.0}}]}
        requests = {"intended_s": begun, "done_s": begun + times}
        return write_run(tmp_path / limit / f"{count}", manifest=about, requests=requests)

    for limit, missed in (("46.05ms", False), ("20ms", True)):  # of 200 above it: 3 where 2 are expected; some 27
        assert bool(light_load(users, read_objectives([f"p99 < {limit}"])).missed) == missed


def test_the_largest_of_few_answers_is_not_where_it_is_full(tmp_path: Path) -> None:
    """Poisson counts of answers, 34/s from two users on, as they came of seed 822 of benches/capacity: 46.7/s once, 34.1 in the mean."""
    came = {1: 12.2, 2: 28.4, 4: 25.5, 8: 46.7, 16: 31.2, 32: 42.5, 64: 23.6, 128: 26.6}
    assert np.mean([came[n] for n in (8, 16, 32, 64, 128)]) == pytest.approx(34.1, abs=0.05)

    def users(count: int) -> RunFolder:
        begun = np.arange(0, RUN_S, 1 / came[count])
        about = {"name": f"users-{count}", "factors": {"users": count}, "duration_s": RUN_S}
        about["load"] = {"lanes": [{"closed": {"users": count, "think_s": 0.0}}]}
        requests = {"intended_s": begun, "done_s": begun + max(count / 34.0, 0.08)}
        return write_run(tmp_path / f"{count}", manifest=about, requests=requests)

    found = light_load(users, [])
    assert found.few_full_per_s is not None and found.few_full_per_s.low < 34.1 < found.few_full_per_s.high  # type: ignore[operator]
    assert found.borne_per_s == found.few_full_per_s.value < 38


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
