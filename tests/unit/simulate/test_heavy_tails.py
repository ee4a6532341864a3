"""Which figures exist under heavy tails, and which intervals of a simulation are believed (issue 26, point 13).

Truths: E[W] of M/G/1 is load E[S^2]/(2 E[S] (1 - load)) (Kleinrock, Queueing Systems, vol. 1 (1975), p. 190); a Pareto time has the
moments below its shape; PS, LCFS-PR and infinite servers are insensitive (Baskett et al., J. ACM 22 (1975)); c servers by
Scheller-Wolf and Vesilo, Queueing Systems 54 (2006).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import sojourn as sj
from sojourn.model.distribution_registry import (
    Deterministic,
    Distribution,
    Empirical,
    Exponential,
    Hyperexponential,
    Lognormal,
    Pareto,
    PhaseType,
    Weibull,
)
from sojourn.simulate import simulate
from sojourn.simulate.heavy_tails import HeavyTailCheck, MetricKey
from sojourn.simulate.rare_times import rare_share

ENDLESS_MEANS = {"queue_length", "residence_time", "response_time", "waiting_time"}


def one_queue(service: Distribution, load: float = 0.5, servers: int = 1, discipline: str = "fcfs") -> sj.Model:
    station = sj.Queue("cpu", servers, discipline)
    return sj.Model([station], [sj.Open("user", load * servers)], {"cpu": {"user": service}})


def infinite(
    model: sj.Model, metric: str = "response_time", cls: int | None = None, station: int | None = None
) -> bool:
    tails = HeavyTailCheck(model.network)
    where = len(model.network.stations) if station is None else station
    return tails.missing(MetricKey(where, cls, metric)) is not None


def statuses(found: sj.Metrics, status: str) -> set[str]:
    return set(found.where(status=status).frame["metric"])


@pytest.mark.parametrize("shape", [1.9, 2.0])
def test_a_mean_that_is_infinite_has_no_value_and_flows_have(shape: float) -> None:
    found = simulate(one_queue(Pareto(1.0, shape)), precision=0.05, max_wall_time_s=20)
    assert found.status == "no_moment"
    assert statuses(found, "no_moment") >= ENDLESS_MEANS
    assert math.isnan(found.value("response_time")) and found.interval("response_time") == (None, None)
    assert found.value("throughput") == pytest.approx(0.5, rel=0.05)
    assert found.value("response_time_quantile", cls="user", q=0.5) > 0
    assert f"shape {shape:g}" in found.message and "quantiles" in found.message


@pytest.mark.parametrize("shape", [2.2, 2.5, 3.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_without_a_fourth_moment_batch_means_are_never_ok(shape: float, seed: int) -> None:
    found = simulate(one_queue(Pareto(1.0, shape)), precision=0.1, seed=seed, max_wall_time_s=10)
    assert found.status == "heavy_tail"
    assert {"response_time", "waiting_time", "queue_length"} <= statuses(found, "heavy_tail")
    assert found.interval("response_time") == (None, None)
    low = (shape - 1) / shape
    exact = 1 + 0.5 * shape * low**2 / (shape - 2) / (2 * 0.5)  # 2.636 s at 2.2
    assert "exact, by method mg1" in found.message and f"response_time {exact:.3f} s" in found.message
    assert statuses(found, "no_moment") == {"waiting_time_variance", "response_time_variance"}
    assert found.where(metric="throughput", status="ok").frame.height


def test_the_message_says_which_times_and_how_long_a_run_would_take() -> None:
    found = simulate(one_queue(Pareto(1.0, 2.2)), precision=0.05, max_wall_time_s=5)
    assert "service of user at cpu (pareto, shape 2.2)" in found.message
    assert "times as long" in found.message


def test_ordinary_models_say_ok_as_before() -> None:
    for service in (Exponential(1.0), Deterministic(1.0)):
        found = simulate(one_queue(service), precision=0.05)
        assert found.status == "ok" and set(found.frame["status"]) == {"ok"}
    assert not HeavyTailCheck(one_queue(Exponential(1.0)).network).sources


def test_what_a_run_hardly_shows_raises_the_upper_bound() -> None:
    model = one_queue(Lognormal(1.0, 4.0))
    found = simulate(model, precision=0.1, seed=3)
    low, high = found.interval("response_time")
    assert found.status == "ok" and low is not None and high is not None
    assert low <= 3.5 <= high  # 1 + 0.5 * 5/(2 * 0.5)
    assert high - found.value("response_time") <= 0.1 * found.value("response_time") * 1.001


def test_what_would_take_too_long_is_not_ok() -> None:
    found = simulate(one_queue(Lognormal(1.0, 100.0)), precision=0.1, max_wall_time_s=1)
    assert found.status in ("heavy_tail", "too_short") and "run" in found.message


@pytest.mark.parametrize(
    ("discipline", "endless"),
    [("fcfs", True), ("siro", True), ("priority", True), ("ps", False), ("lcfs_pr", False)],
)
def test_insensitive_disciplines_have_a_mean(discipline: str, endless: bool) -> None:
    assert infinite(one_queue(Pareto(1.0, 1.9), discipline=discipline)) is endless


def test_delays_closed_classes_and_full_stations_have_a_mean() -> None:
    heavy = Pareto(1.0, 1.9)
    delay = sj.Model([sj.Delay("net")], [sj.Open("user", 0.5)], {"net": {"user": heavy}})
    closed = sj.Model([sj.Queue("cpu")], [sj.Closed("user", 5, 1.0)], {"cpu": {"user": heavy}})
    full = sj.Model([sj.Queue("cpu", capacity=5)], [sj.Open("user", 0.5)], {"cpu": {"user": heavy}})
    assert not any(infinite(model) for model in (delay, closed, full))


@pytest.mark.parametrize(
    ("servers", "load", "shape", "endless"),
    [(2, 0.4, 1.6, False), (2, 0.4, 1.4, True), (2, 0.6, 1.9, True), (4, 0.45, 1.4, False), (4, 0.45, 1.3, True)],
)
def test_spare_servers_need_weaker_moments(servers: int, load: float, shape: float, endless: bool) -> None:
    """E[W] needs the moment 1 + 1/k, k servers less the whole part of the load: 2 - 0, 2 - 1, 4 - 1."""
    assert infinite(one_queue(Pareto(1.0, shape), load, servers)) is endless


def test_a_class_that_preempts_does_not_wait_for_long_services_of_others() -> None:
    model = sj.Model(
        [sj.Queue("cpu", discipline="priority_preemptive")],
        [sj.Open("high", 0.2, priority=0), sj.Open("low", 0.2, priority=1)],
        {"cpu": {"high": 1.0, "low": Pareto(1.0, 1.9)}},
    )
    assert not infinite(model, cls=0, station=0) and infinite(model, cls=1, station=0)


def test_stations_before_a_heavy_one_are_not_concerned() -> None:
    model = sj.Model(
        [sj.Queue("front"), sj.Queue("cpu")],
        [sj.Open("user", 0.5)],
        {"front": {"user": 1.0}, "cpu": {"user": Pareto(1.0, 2.2)}},
    )
    found = simulate(model, precision=0.1, max_wall_time_s=5)
    own = found.where(metric="response_time", station="front").frame
    assert set(own["status"]) == {"ok"} and found.status == "heavy_tail"


LAWS = [
    Pareto(1.0, 3.5), Lognormal(2.0, 4.0), Weibull(1.0, 0.6), Hyperexponential((0.9, 0.1), (0.5, 5.5)),
    PhaseType((1.0, 0.0), ((-2.0, 1.0), (0.5, -0.7))),
]  # fmt: skip


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.kind)
@pytest.mark.parametrize("p", [1, 2])
def test_the_rare_part_of_a_moment_is_the_integral_of_its_tail(law: Distribution, p: int) -> None:
    """E[X^p; X > x] = x^p P(X > x) + p times the integral of y^(p - 1) P(X > y) from x on, by Gauss and Legendre."""
    from scipy.integrate import quad

    from sojourn.solve.single.service_transforms import quantile_s, tail

    x = quantile_s(law, 1 - 1 / 50)
    beyond = quad(lambda y: p * y ** (p - 1) * float(tail(law, np.array([y]))[0]), x, np.inf, limit=500)[0]
    whole = law.first if p == 1 else law.second
    assert rare_share(law, p, 50) == pytest.approx((x**p / 50 + beyond) / whole, rel=1e-4)


def test_the_rare_part_of_recorded_times_is_that_of_the_longest() -> None:
    assert rare_share(Empirical((1.0, 1.0, 1.0, 7.0)), 1, 4) == pytest.approx(0.7)
    assert rare_share(Empirical((1.0, 1.0, 1.0, 7.0)), 1, 5) == 0.0


def test_no_lower_limit_of_a_time_is_negative() -> None:
    for seed in range(1, 6):
        found = simulate(one_queue(Lognormal(1.0, 25.0), 0.7), completions=400, seed=seed)
        lows = [low for low in found.frame["low"] if low is not None]
        assert lows and min(lows) >= 0


def test_a_run_that_is_too_short_does_not_praise_its_intervals() -> None:
    from sojourn.simulate.simulation_status import TEXT

    assert "as wide as they are shown" not in TEXT["too_short"] and "less often" in TEXT["too_short"]


def test_a_difference_of_two_heavy_models_says_so() -> None:
    from sojourn.simulate import compare_simulated

    for shape, status in ((1.9, "no_moment"), (2.5, "heavy_tail")):
        a, b = one_queue(Pareto(1.0, shape)), one_queue(Pareto(0.9, shape))
        found = compare_simulated(a, b, until_s=2000.0, replications=4)
        assert found.status == status and status in found.message
        assert found.interval("response_time") == (None, None)
        assert set(found.where(metric="throughput").frame["status"]) == {"ok"}


def test_a_query_does_not_give_an_infinite_mean() -> None:
    from sojourn.errors import SourceRefused
    from sojourn.query.sources.simulated import SimulatedSource

    with pytest.raises(SourceRefused, match="infinite"):
        SimulatedSource(one_queue(Pareto(1.0, 1.9)), until_s=20_000.0).measure("waiting_time", "cpu", "user")
