"""Models that are large in one way or another: what reading, choosing and solving cost is said before, and does not grow with squares.

The numbers that are counted (bytes, entries, calls) are those of the work; no time of this machine is asserted.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import mpmath
import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import InputError, MethodRefused, ModelError
from sojourn.model.routes import Routes
from sojourn.solve import automatic_method, registry
from sojourn.solve.single.erlang import erlang_b
from sojourn.solve.single.service_transforms import transform, transform_tail

LARGE = 20_000
MANY = 6000  # while each allocation is counted, which is slow


def row(count: int, kind: str = "closed", discipline: str = "ps", **more: object) -> sj.Model:
    stations = [sj.Queue(f"s{i}", discipline=discipline) for i in range(count)]
    cls = sj.Closed("c", 10, 1.0) if kind == "closed" else sj.Open("c", 1.0)
    return sj.Model(stations, [cls], demands_s={f"s{i}": {"c": 1e-3} for i in range(count)}, **more)  # type: ignore[arg-type]


def routed(count: int) -> sj.Model:
    ends = [*(f"s{i}" for i in range(1, count)), "think"]
    routing = {"c": {f"s{i}": {end: 1.0} for i, end in enumerate(ends)}}
    times = {f"s{i}": {"c": 1e-3} for i in range(count)}
    return sj.Model([sj.Queue(s) for s in times], [sj.Closed("c", 10, 1.0)], service_s=times, routing=routing)


def balanced(count: int, customers: int, demand_s: float, think_s: float) -> float:
    """Throughput of equal stations and a think time by exact MVA: R = D (1 + Q), Q = X D (Lazowska et al. 1984, p. 118)."""
    queue = x = 0.0
    for n in range(1, customers + 1):
        response = demand_s * (1 + queue)
        x = n / (think_s + count * response)
        queue = x * response
    return x


@pytest.mark.parametrize("make", [row, routed])
def test_ten_customers_over_thousands_of_stations(make: Callable[[int], sj.Model]) -> None:
    """It took a table of all routes, 8 bytes times the square of 6000: 0.29 GB; and equations of its size: hours with a budget of 1 s."""
    tracemalloc.start()
    try:
        found = sj.solve(make(MANY))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.method == "mva" and most < 8 * MANY**2 / 2
    assert found.value("throughput", "", "c") == pytest.approx(balanced(MANY, 10, 1e-3, 1.0), rel=1e-12)


def test_visits_of_less_than_one_are_not_listed_for_those_who_ask_for_visits() -> None:
    names = [f"s{i}" for i in range(5000)]
    part = {name: {"c": 0.001} for name in names}
    model = sj.Model([sj.Queue(s) for s in names], [sj.Open("c", 1.0)], service_s=part, visits=part)
    found = sj.solve(model, "jackson")
    # M/M/1 each: D/(1 - rho), rho = D = 1e-6
    assert found.value("response_time", "", "c") == pytest.approx(5000 * 1e-6 / (1 - 1e-6), rel=1e-12)
    assert "there are 5000 stations, and at most 600 are taken" in found.message
    with pytest.raises(MethodRefused, match=r"at 5000 stations make more than 1e\+07 routes"):
        _ = model.network.routes.matrix


def test_a_table_of_all_routes_is_refused_with_its_size() -> None:
    network = row(LARGE, "open").network
    with pytest.raises(MethodRefused, match=r"its 20001 routes as a table take 3\.2 GB, and at most 0\.5 are taken"):
        _ = network.route
    assert network.routes.row(3, 0) == [(4, 0, 1.0)] and network.routes.matrix.nnz == LARGE + 1


@pytest.mark.parametrize("seed", range(20))
def test_routes_of_visits_make_these_visits(seed: int) -> None:
    """The series is a chain whose expected visits (I - P)^-1 are those that were asked for."""
    draw = np.random.default_rng(seed)
    visits = draw.choice([0.0, 0.25, 0.9, 1.0, 1.5, 7.0], size=6)
    names = [f"s{i}" for i in range(6)]
    visits[draw.integers(6)] = 1.0
    asked = {s: {"c": float(v)} for s, v in zip(names, visits, strict=True)}
    used = [sj.Queue(s) for s, v in zip(names, visits, strict=True) if v]
    there = {s.name: asked[s.name] for s in used}
    n = sj.Model(used, [sj.Open("c", 1.0)], service_s={s.name: {"c": 1.0} for s in used}, visits=there).network
    inside = n.route[:-1, :-1]
    made = n.route[-1, :-1] @ np.linalg.inv(np.eye(len(inside)) - inside)
    assert made == pytest.approx(n.visits[:, 0], rel=1e-12)
    assert n.route.sum(axis=1) == pytest.approx(np.ones(len(n.route)), rel=1e-12)
    assert (Routes.of(n.route, 1).matrix != n.routes.matrix).nnz == 0


def test_an_exact_method_beyond_the_budget_says_its_cost_before_it_starts() -> None:
    model = row(LARGE, "open", "fcfs")
    with pytest.raises(
        MethodRefused,
        match=r"method jackson takes about 4 s and 0\.01 s are allowed; .* give an exact_time_limit_s above 4",
    ):
        sj.solve(model, exact_time_limit_s=0.01)


def test_auto_takes_an_approximation_that_keeps_to_the_budget() -> None:
    """Linearizer steps at each population less one of each class: a hundred classes make a million numbers a station."""
    stations = [sj.Queue(f"s{i}", discipline="ps") for i in range(200)]
    classes = [sj.Closed(f"c{j}", 10, 1.0) for j in range(100)]
    demands = {
        s.name: {c.name: 1e-5 * (1 + (i + j) % 7) for j, c in enumerate(classes)} for i, s in enumerate(stations)
    }
    model = sj.Model(stations, classes, demands_s=demands)
    costs = {
        name: m.cost_s(model.network) for name, m in registry.all_methods().items() if name in ("linearizer", "aql")
    }
    assert min(costs.values()) > 1.0 and automatic_method.choose(model.network)[0].name == "schweitzer"


@pytest.mark.parametrize(
    ("offered", "servers"), [(1e5, 1e5), (1e6 - 1e3, 1e6), (1e9, 1e9), (1e9 - 1e4, 1e9), (1.1e6, 1e6)]
)
def test_a_thousand_million_servers(offered: float, servers: float) -> None:
    """1/B = integral of exp(-t)(1 + t/a)^m (D. L. Jagerman, Bell Syst. Tech. J. 53(3), 1974, p. 526)."""
    with mpmath.workdps(40):
        a, m = mpmath.mpf(offered), mpmath.mpf(servers)
        ends = [*(mpmath.mpf(x) * mpmath.sqrt(m) for x in (0, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 20)), mpmath.inf]
        inverse = mpmath.quad(lambda t: mpmath.exp(m * mpmath.log1p(t / a) - t), ends)
        expected = float(1 / inverse)
    tracemalloc.start()
    try:
        found = float(erlang_b(offered, servers))
        assert tracemalloc.get_traced_memory()[1] < 1e9
    finally:
        tracemalloc.stop()
    assert found == pytest.approx(expected, rel=1e-12)


def test_more_memory_than_is_allowed_is_said_before() -> None:
    stations = [sj.Queue(f"s{i}", servers=10**7) for i in range(5)]
    model = sj.Model(stations, [sj.Open("c", 1.0)], demands_s={s.name: {"c": 1.0} for s in stations})
    with pytest.raises(MethodRefused, match=r"it would take about .* s and 5 GB of memory, and at most 4 GB are taken"):
        sj.solve(model, "jackson")


def test_a_sweep_takes_no_more_servers_than_a_model() -> None:
    """A plan of a thousand million servers took 22 GB: only models that are lowered again were checked."""
    model = sj.Model([sj.Queue("s")], [sj.Open("c", 0.8)], service_s={"s": {"c": 1.0}})
    with pytest.raises(ModelError, match=r"stations\.s\.servers: 1000000000; give at most 10000000"):
        sj.sweep(model, "stations.s.servers", [10**9])
    with pytest.raises(ModelError, match=r"give at most 10000000"):
        sj.plan(model, {"stations.s.servers": [10**9]}, "mean(response) < 2s", "stations.s.servers")


def test_phases_beyond_number() -> None:
    """Erlang-k of a million phases is nearly fixed: E[W] = rho s (1 + 1/k)/(2 (1 - rho)) (Kleinrock 1975, p. 190)."""
    found = sj.solve(sj.Model([sj.Queue("s")], [sj.Open("c", 0.8)], service_s={"s": {"c": sj.Erlang(1.0, 10**6)}}))
    assert found.value("waiting_time", "s", "c") == pytest.approx(0.8 * (1 + 1e-6) / (2 * 0.2), rel=1e-12)
    both = sj.Open("c", arrivals=sj.Erlang(1.25, 200))
    model = sj.Model([sj.Queue("s")], [both], service_s={"s": {"c": sj.Erlang(1.0, 200)}})
    with pytest.raises(MethodRefused, match=r"its matrices are of order 40000 .* 2\.6e\+02 GB, about 3\.2e\+06 s"):
        sj.solve(model, "qbd")


@pytest.mark.parametrize("shape", [1, 3, 700, 10**6])
@pytest.mark.parametrize("s", [1e-12, 0.3, 40.0])
def test_transforms_of_erlang(shape: int, s: float) -> None:
    """E[exp(-s X)] = (1 + s mean/k)^-k."""
    with mpmath.workdps(50):
        exact = (1 + mpmath.mpf(s) * 2 / shape) ** -shape
        tail = (1 - exact) / mpmath.mpf(s)
    law = sj.Erlang(2.0, shape)
    assert transform(law, s) == pytest.approx(float(exact), rel=1e-12)
    assert transform_tail(law, s) == pytest.approx(float(tail), rel=1e-12)


def test_a_plan_of_more_configurations_than_a_machine_can_count() -> None:
    model = row(64, "open")
    vary = {f"stations.s{i}.servers": [1, 2] for i in range(64)}
    with pytest.raises(InputError, match=r"18446744073709551616 configurations"):
        sj.plan(model, vary, "mean(response) < 2s", "stations.s0.servers")
