"""Issue 10: instability that no single station shows; what a bound on the open customers may cut off; time blocked."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import MethodRefused
from sojourn.solve.markov.stability import saturation, unstable

ONE = {"c": 1.0}


def tandem(rate_per_s: float, capacity: int = 1) -> sj.Model:
    """Two servers of 1 s in a row, `capacity` at the second."""
    stations = [sj.Queue("a"), sj.Queue("b", capacity=capacity, on_full="block")]
    return sj.Model(stations, [sj.Open("c", rate_per_s)], {"a": ONE, "b": ONE})


def held(rate_per_s: float, size: int, *, region: bool = False, service_s: float = 2.0) -> sj.Model:
    """`size` at most in a delay."""
    stations: list[object] = [sj.Delay("work")] + ([] if region else [sj.Pool("threads", size, ("work",))])
    regions = [sj.Region("room", size, ("work",))] if region else []
    return sj.Model(stations, [sj.Open("c", rate_per_s)], {"work": {"c": service_s}}, regions=regions)


# room for K at the second of two equal servers, the one in service included: (K + 1)/(K + 2), as M/M/1/K + 1 by hand
CAPACITIES = [
    (tandem(0.7), 2 / 3),
    (tandem(0.99, 2), 3 / 4),
    (tandem(0.99, 50), 51 / 52),
    (held(1.05, 2), 1.0),
    (held(0.6, 1, region=True), 0.5),
    (held(25.0, 40), 20.0),
]


@pytest.mark.parametrize(("model", "most_per_s"), CAPACITIES)
def test_what_holds_customers_back_has_a_capacity(model: sj.Model, most_per_s: float) -> None:
    found = saturation(model.network)
    assert found is not None and found.exact and found.rate_per_s == pytest.approx(most_per_s, rel=1e-9)
    r = sj.solve(model)
    assert r.status == "unstable" and f"unstable from {found.rate_per_s:.9g}/s on" in r.message


def test_the_drift_of_the_level_says_the_same() -> None:
    """Neuts' mean drift for the tandem: level = number at a; b empty, busy, or busy with a blocked, while a always works.
    The phases have rates 1 (a ends) and 1 (b ends): p = 1/3 each, and a's server works in two of three."""
    q = np.array([[-1, 1, 0], [1, -2, 1], [0, 1, -1]], float)  # empty, busy, blocked
    p = np.linalg.lstsq(np.vstack([q.T, np.ones(3)]), np.r_[0, 0, 0, 1], rcond=None)[0]
    found = saturation(tandem(0.1).network)
    assert found is not None and found.rate_per_s == pytest.approx(p[0] + p[1], rel=1e-12)


def test_a_loss_upstream_is_not_offered_downstream() -> None:
    """10/s into one place that loses: 10/11 a second go on, and a server of 0.9 s keeps up with them, one of 1.2 s not."""

    def model(service_s: float) -> sj.Model:
        return sj.Model(
            [sj.Queue("a", capacity=1), sj.Queue("b")], [sj.Open("c", 10.0)], {"a": ONE, "b": {"c": service_s}}
        )

    stable = sj.solve(model(0.9))
    assert stable.status == "ok" and stable.value("throughput", cls="c") == pytest.approx(10 / 11, rel=1e-9)
    assert sj.solve(model(1.2)).status == "unstable"


def test_several_places_to_pile_up_give_a_lower_bound_or_the_capacity() -> None:
    """A pool of 3 over a delay of 1 s behind a station that passes 10/s: 3/s."""
    stations = [sj.Queue("a"), sj.Delay("work"), sj.Pool("threads", 3, ("work",))]
    model = sj.Model(stations, [sj.Open("c", 3.1)], {"a": {"c": 0.1}, "work": ONE})
    assert "unstable from 3/s on" in unstable(model.network)


def test_a_bound_that_cuts_off_is_refused() -> None:
    """M/M/100 with room for 100 000 at a load above 1: 58 228 present; the chain had said 33 017."""
    model = sj.Model([sj.Queue("q", 100, capacity=100_000)], [sj.Open("c", 100.1)], {"q": ONE})
    with pytest.raises(
        MethodRefused, match="it would have to count open customers up to 100001, and counts at most 60000; use mmmk"
    ):
        sj.solve(model, "ctmc")
    rho = 1.001  # by hand: from 100 on p(n) is geometric, and what is below has no weight
    n = np.arange(100, 100_001)
    p = rho ** (n - 100_000.0)
    assert sj.solve(model).value("queue_length", "q") == pytest.approx(float(n @ p / p.sum()), rel=1e-6)


def test_what_is_cut_off_is_told() -> None:
    """Round one station that shares: M/M/1 at 0.8 with a pool that never holds back."""
    model = sj.Model([sj.Queue("q", discipline="ps"), sj.Pool("p", 10_000, ("q",))], [sj.Open("c", 0.8)], {"q": ONE})
    r = sj.solve(model, "ctmc")
    assert r.status == "ok" and "would not change any number by more than a share of" in r.message
    told = float(r.message.split("a share of ")[1].split()[0])
    assert told < 1e-7 and r.value("queue_length", "q") == pytest.approx(4.0, rel=max(told, 1e-12))


@pytest.mark.parametrize("discipline", ["fcfs", "siro"])
def test_time_blocked_is_no_wait(discipline: str) -> None:
    """Solver and simulator mean the same three times, which add up to the response."""
    stations = [sj.Queue("a", discipline=discipline), sj.Queue("b", capacity=1, on_full="block")]
    model = sj.Model(stations, [sj.Open("c", 0.6)], {"a": ONE, "b": ONE})
    r, s = sj.solve(model), sj.simulate(model, precision=0.02, level=0.999, seed=3)
    parts = [r.value(metric, "a", "c") for metric in ("waiting_time", "service_time", "blocked_time")]
    assert sum(parts) == pytest.approx(r.value("response_time", "a", "c"), rel=1e-9)
    for metric in ("waiting_time", "blocked_time", "response_time"):
        low, high = s.interval(metric, "a", "c")
        assert low is not None and high is not None and low <= r.value(metric, "a", "c") <= high, metric
