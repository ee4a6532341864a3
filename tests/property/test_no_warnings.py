"""Nothing that a user may write makes numpy warn: every method on models at their limits (no time, no rate, a load of exactly 1).

pytest makes an error of each warning that a module of ours causes (pyproject.toml).
"""

from __future__ import annotations

import math
from contextlib import suppress

import pytest

import sojourn as sj
from sojourn.errors import SojournError
from sojourn.solve import registry
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.single.mmm import MMm

WANTED = RequestedOutputs((0.5, 0.99), 5)
NAMES = [name for name in registry.all_methods() if name != "ctmc"]
RATES = (0.0, 0.5, 1.0, 2.0)


def one_station(
    discipline: str, rate: float, time: float | sj.Distribution, servers: int, capacity: int | None
) -> sj.Model:
    station = sj.Queue("s", servers=servers, discipline=discipline, capacity=capacity)
    times = {"s": {"a": time, "b": time}}
    return sj.Model([station], [sj.Open("a", rate), sj.Open("b", 0.0, priority=1)], service_s=times)


def mixed(rate: float) -> sj.Model:
    stations = [sj.Queue("s", discipline="ps"), sj.Queue("d", discipline="ps"), sj.Delay("z")]
    demands = {"s": {"o": 1.0, "u": 1.0}, "d": {"u": 0.1}, "z": {"u": 0.1, "o": 1.0}}
    return sj.Model(stations, [sj.Open("o", rate), sj.Closed("u", 3, 1.0)], demands_s=demands)


def ask_all(model: sj.Model) -> None:
    for name in ("auto", *NAMES):
        with suppress(SojournError):
            sj.solve(model, name, requested_outputs=WANTED)


@pytest.mark.parametrize("discipline", ["fcfs", "ps", "priority", "lcfs_pr"])
@pytest.mark.parametrize("time", [0.0, 1.0, sj.Deterministic(0.0), sj.Deterministic(1.0)], ids=str)
def test_issue_26_12_one_station(discipline: str, time: float | sj.Distribution) -> None:
    for rate in RATES:
        for servers, capacity in ((1, None), (2, None), (2, 8)):
            ask_all(one_station(discipline, rate, time, servers, capacity))


@pytest.mark.parametrize("rate", RATES)
def test_issue_26_12_open_and_closed(rate: float) -> None:
    ask_all(mixed(rate))


def test_a_station_of_no_time_is_never_unstable() -> None:
    """Utilisation is rate times service time (Lazowska et al. 1984, p. 42): 0, so that no rate is too much."""
    for discipline in ("fcfs", "ps"):
        for time in (0.0, sj.Deterministic(0.0)):
            found = sj.solve(one_station(discipline, 2.0, time, 1, None))
            assert found.status == "ok" and found.value("response_time", "s", "a") == 0.0


def test_issue_26_12_closed_forms_by_themselves() -> None:
    """An exponential of mean 0 is over at once, however many come: it drains infinitely fast."""
    q = MMm([0.5], [0.0], 1)
    assert q.drain_per_s[0] == math.inf and q.waiting_s[0] == q.response_s[0] == 0.0
