"""Times that depend on how busy their station is: the fixed point, where it saturates, and what refuses such a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import sojourn as sj
from sojourn.errors import MethodRefused, ModelError
from sojourn.query.sources.simulated import SimulatedSource
from sojourn.simulate.simulated_run import as_run
from sojourn.solve.load_dependent_times import saturation
from sojourn.solve.markov.transient_means import over_time

OPEN = """
[parameters]
work_s = 0.01
by = {by}
[stations.cpu]
servers = {servers}
[classes.user]
kind = "open"
rate_per_s = {rate}
[demands_s.cpu]
user = "work_s * {law}"
"""
CLOSED = """
[parameters]
work_s = 0.03
[stations.cpu]
[classes.user]
kind = "closed"
population = {users}
think_s = 0.5
[demands_s.cpu]
user = "work_s * {law}"
"""
FALLS, GROWS = "(1 + by*(1-u)**2)", "(1 + by*u)"


def open_model(rate: float, law: str, by: float = 0.8, servers: int = 1) -> sj.Model:
    return sj.Model.parse(OPEN.format(rate=rate, law=law, by=by, servers=servers))


@pytest.mark.parametrize("servers", [1, 3])
@pytest.mark.parametrize("rate", [1.0, 30.0, 90.0])
def test_open_the_utilisation_is_the_one_that_it_makes(rate: float, servers: int) -> None:
    rate *= servers
    u = brentq(lambda u: rate * 0.01 * (1 + 0.8 * (1 - u) ** 2) / servers - u, 0, 1)
    found = sj.solve(open_model(rate, FALLS, servers=servers))
    assert found.value("utilisation", "cpu") == pytest.approx(u, rel=1e-9)
    if servers == 1:  # M/M/1 with the time of that load
        service = u / rate
        assert found.value("response_time") == pytest.approx(service / (1 - u), rel=1e-8)


def test_a_time_that_grows_in_proportion_has_a_closed_form() -> None:
    """u = a (1 + b u) gives u = a / (1 - a b); full at a = 1 / (1 + b)."""
    found = sj.solve(open_model(40.0, GROWS, by=0.5))
    assert found.value("utilisation", "cpu") == pytest.approx(0.4 / (1 - 0.4 * 0.5), rel=1e-9)
    assert 40 * saturation([open_model(40.0, GROWS, by=0.5).network])[0] == pytest.approx(100 / 1.5, rel=1e-9)


def test_a_time_that_falls_saturates_by_its_time_under_load() -> None:
    assert 40 * saturation([open_model(40.0, FALLS).network])[0] == pytest.approx(100.0, rel=1e-9)
    assert sj.solve(open_model(99.9, FALLS)).status == "ok"
    assert sj.solve(open_model(100.1, FALLS)).status == "unstable"


def test_a_time_that_grows_steeply_is_full_before_its_servers_are_busy() -> None:
    """u / (0.01 (1 + 8 u^4)) is largest at u = (1/24)^(1/4), where it is 0.75 u / 0.01."""
    law = "(1 + by*u**4)"
    most = (1 / 24) ** 0.25 * 0.75 / 0.01
    network = open_model(30.0, law, by=8.0).network
    assert 30.0 * saturation([network])[0] == pytest.approx(most, rel=1e-3)
    assert sj.solve(open_model(0.99 * most, law, by=8.0)).status == "ok"
    assert sj.solve(open_model(1.01 * most, law, by=8.0)).status == "unstable"


@pytest.mark.parametrize("law", ["(1 + 0.5*u)", "(1 + 0.8*(1-u)**2)", "(1 + 2*u**3)"])
@pytest.mark.parametrize("users", [1, 8, 20, 60])
def test_closed_the_fixed_point_holds_by_mean_value_analysis(users: int, law: str) -> None:
    """Exact MVA (M. Reiser, S. S. Lavenberg, J. ACM 27 (1980)) of one queue and thinking, by hand."""

    def busy(u: float) -> float:
        service = 0.03 * eval(law, {"u": u})
        queue = x = 0.0
        for n in range(1, users + 1):
            response = service * (1 + queue)
            x = n / (0.5 + response)
            queue = x * response
        return x * service

    u = brentq(lambda u: busy(u) - u, 0, 1)
    found = sj.solve(sj.Model.parse(CLOSED.format(users=users, law=law)))
    assert found.value("utilisation", "cpu") == pytest.approx(u, abs=3e-6)


def test_a_sweep_has_the_time_of_each_point() -> None:
    rates = [10.0, 50.0, 90.0]
    found = sj.sweep(open_model(1.0, FALLS), "classes.user.rate_per_s", rates)
    each = [sj.solve(open_model(r, FALLS)).value("response_time") for r in rates]
    rows = found.frame.filter(metric="response_time", station="", **{"class": ""})["value"].to_list()
    assert rows[:3] == pytest.approx(each, rel=1e-9)


def test_a_simulation_has_the_times_of_the_load() -> None:
    it = open_model(50.0, FALLS)
    simulated = sj.simulate(it, completions=200_000, seed=3)
    low, high = simulated.interval("utilisation", "cpu")
    assert low is not None and high is not None
    assert low * 0.99 <= sj.solve(it).value("utilisation", "cpu") <= high * 1.01


def test_another_law_than_the_exponential_keeps_its_kind() -> None:
    text = OPEN.format(rate=50, law="X", by=0.8, servers=1).replace(
        'user = "work_s * X"', 'user = { kind = "deterministic", mean = "work_s * (1 + by*u)" }'
    )
    found = sj.solve(sj.Model.parse(text))
    u = 0.5 / (1 - 0.5 * 0.8)
    service = u / 50
    assert found.value("response_time") == pytest.approx(service + u * service / (2 * (1 - u)), rel=1e-8)  # M/D/1


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(ModelError, match="at u ="):
        sj.solve(open_model(10.0, "(1 - 2*u)"))
    delay = OPEN.format(rate=1, law=FALLS, by=0.1, servers=1).replace("servers = 1", 'kind = "delay"')
    with pytest.raises(ModelError, match="use u at a queue"):
        sj.Model.parse(delay)


def test_many_points_at_once_are_what_each_is_alone() -> None:
    networks = [open_model(r, FALLS, by=b).network for r, b in ((10.0, 0.1), (90.0, 2.0), (150.0, 0.5))]
    assert saturation(networks) == pytest.approx([saturation([n])[0] for n in networks])
    assert np.isinf(saturation([sj.Model.parse(CLOSED.format(users=2, law="1")).network]))[0]


def test_whoever_simulates_or_asks_takes_the_times_of_the_load(tmp_path: Path) -> None:
    """M/M/1 at u = 0.5: an idle server would take 1.8 times as long and be full."""
    it = sj.Model.parse(OPEN.format(rate=60, law="(1 + by*(1-u))", by=2.0, servers=1))
    u = 0.6 * 3 / (1 + 0.6 * 2)
    service = u / 60
    assert sj.solve(it).value("service_time", "cpu") == pytest.approx(service)
    run = as_run(it, tmp_path / "run", until_s=400, seed=3)
    busy = run.metrics().frame.filter(metric="utilisation")["value"].to_list()
    assert busy and all(abs(b - u) < 0.06 for b in busy)
    assert sj.compare_simulated(it, it, replications=3, until_s=50.0).status == "ok"
    asked = sj.query("mean", SimulatedSource(it, seed=2, until_s=2000.0)).value
    assert asked == pytest.approx(service / (1 - u), rel=0.2)
    with pytest.raises(MethodRefused, match="in the long run only"):
        over_time(it, [1.0])


def test_a_station_that_loses_is_as_busy_as_what_it_carries_makes_it() -> None:
    """M/M/4/4 (A. K. Erlang): the carried load is found with the time at that utilisation."""
    text = OPEN.format(rate=30, law="(1 + by*u)", by=1.0, servers=4).replace("work_s = 0.01", "work_s = 0.1")
    found = sj.solve(sj.Model.parse(text.replace("servers = 4", "servers = 4\ncapacity = 4")))

    def carried(u: float) -> float:
        offered, blocked = 30 * 0.1 * (1 + u), 1.0
        for m in range(1, 5):
            blocked = offered * blocked / (m + offered * blocked)
        return offered * (1 - blocked) / 4

    u = brentq(lambda u: carried(u) - u, 0, 1)
    assert found.value("utilisation", "cpu") == pytest.approx(u, abs=2e-6)
    assert found.value("service_time", "cpu") == pytest.approx(0.1 * (1 + u), rel=1e-5)


def test_one_station_says_the_saturation_of_its_time_under_load() -> None:
    rows = sj.solve(open_model(40.0, FALLS)).frame.filter(metric="saturation_rate")
    assert rows["value"].to_list() == pytest.approx([100.0] * rows.height) and rows.height


def test_a_plan_of_a_fit_of_such_a_time_asks_for_it_at_each_load() -> None:
    """One server of M/M/1 at 60/s: the time at u, and not at rest, meets 40 ms."""
    service = brentq(lambda u: 60 * 0.01 * (1 + 0.8 * (1 - u) ** 2) - u, 0, 1) / 60
    response_s = service / (1 - 60 * service)
    found = sj.plan(
        open_model(60.0, FALLS),
        {"stations.cpu.servers": [1, 2]},
        f"mean < {response_s * 1050:.1f}ms",
        "stations.cpu.servers",
    )
    choice = found.cheapest or found.cheapest_outside_validated_range
    assert choice is not None and dict(choice.settings) == {"stations.cpu.servers": 1}
    less = sj.plan(
        open_model(60.0, FALLS),
        {"stations.cpu.servers": [1, 2]},
        f"mean < {response_s * 950:.1f}ms",
        "stations.cpu.servers",
    )
    choice = less.cheapest or less.cheapest_outside_validated_range
    assert choice is not None and dict(choice.settings) == {"stations.cpu.servers": 2}
