"""Approximations against exact answers, and bounds around them, on random models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.model import Closed, Delay, Exponential, Hyperexponential, Model, Queue
from sojourn.solve import solve
from sojourn.solve.bounds import asymptotic, balanced, geometric, one_chain

STEADY = settings(max_examples=60, deadline=None, derandomize=True)
demand = st.one_of(st.floats(1e-6, 10.0), st.sampled_from([0.5, 0.5, 1.0]))


@given(
    st.lists(demand, min_size=1, max_size=6),
    st.sampled_from([0.0, 1e-3, 1.0, 100.0]),
    st.sampled_from([1, 2, 3, 7, 40, 3000]),
)
@STEADY
def test_bounds_enclose_the_exact_throughput(demands: list[float], think_s: float, n: int) -> None:
    stations = [Queue(f"s{k}") for k in range(len(demands))]
    times = {f"s{k}": {"u": d} for k, d in enumerate(demands)}
    model = Model(stations=stations, classes=[Closed("u", n, think_s=think_s)], demands_s=times)
    x, b = solve(model, "mva").value("throughput"), one_chain.of([model.network])
    ends = (asymptotic.between(b, [model.network]), balanced.between(b), geometric.between(b))
    for low, high in ends:
        assert low[0] * (1 - 1e-9) <= x <= high[0] * (1 + 1e-9)
    assert ends[2][0][0] >= ends[0][0][0] * (1 - 1e-9)


@given(st.integers(1, 12), st.integers(1, 64), st.sampled_from([0.0, 1.0, 30.0]))
@STEADY
def test_asymptotic_bounds_hold_for_several_servers(servers: int, n: int, think_s: float) -> None:
    stations = [Queue("cpu", servers=servers), Queue("disk"), Delay("net")]
    times = {"cpu": {"u": 1.0}, "disk": {"u": 0.1}, "net": {"u": 0.5}}
    model = Model(stations=stations, classes=[Closed("u", n, think_s=think_s)], demands_s=times)
    low, high = asymptotic.between(one_chain.of([model.network]), [model.network])
    assert low[0] * (1 - 1e-9) <= solve(model, "convolution").value("throughput") <= high[0] * (1 + 1e-9)


@given(st.data())
@STEADY
def test_approximations_are_near_the_exact_answer(data: st.DataObject) -> None:
    """Known errors (Zahorjan, Eager, Sweillam 1988, section 4): Linearizer and AQL a few per cent, Schweitzer more."""
    classes, stations = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    population = [data.draw(st.integers(1, 6)) for _ in range(classes)]
    times = {f"s{k}": {f"c{r}": data.draw(st.floats(0.05, 1.0)) for r in range(classes)} for k in range(stations)}
    made = Model(
        stations=[Queue(f"s{k}", discipline="ps") for k in range(stations)],
        classes=[Closed(f"c{r}", n, think_s=data.draw(st.sampled_from([0.0, 1.0]))) for r, n in enumerate(population)],
        demands_s=times,
    )
    exact = solve(made, "mva-multiclass")
    x = np.array([exact.value("throughput", cls=f"c{r}") for r in range(classes)])
    for method, error in (("linearizer", 0.03), ("aql", 0.05), ("schweitzer", 0.20)):
        m = solve(made, method)
        assert m.status == "approximate"
        found = np.array([m.value("throughput", cls=f"c{r}") for r in range(classes)])
        assert np.abs(found / x - 1).max() < error
        total = m.value("queue_length") + sum(
            m.value("throughput", cls=c.name) * float(c.think_s)
            for c in made.classes  # type: ignore[union-attr, arg-type]
        )
        assert total == pytest.approx(sum(population), rel=1e-9)


@given(st.integers(1, 30), st.integers(1, 6), st.sampled_from([0.0, 2.0]))
@STEADY
def test_fcfs_approximation_is_schweitzer_where_the_form_is_a_product(n: int, servers: int, think_s: float) -> None:
    stations = [Queue("cpu", servers=servers), Queue("disk")]
    times = {"cpu": {"u": 0.7}, "disk": {"u": 0.4}}
    made = Model(stations=stations, classes=[Closed("u", n, think_s=think_s)], demands_s=times)
    a, b = solve(made, "schweitzer"), solve(made, "amva-fcfs")
    assert a.value("throughput") == pytest.approx(b.value("throughput"), rel=1e-8)


def chain_of_two_classes(first_s: float, second_s: float, n: tuple[int, int], think_s: float) -> np.ndarray:
    """Throughputs of two classes at one fcfs server, by the chain over the order of those present (a tuple of classes)."""
    states: dict[tuple[int, ...], int] = {(): 0}
    moves: list[tuple[int, int, float]] = []
    todo: list[tuple[int, ...]] = [()]
    while todo:
        here = todo.pop()
        ways = [((*here, r), (n[r] - here.count(r)) / think_s) for r in (0, 1) if here.count(r) < n[r]]
        if here:
            ways.append((here[1:], 1 / (first_s, second_s)[here[0]]))
        for there, rate in ways:
            if there not in states:
                states[there] = len(states)
                todo.append(there)
            moves.append((states[here], states[there], rate))
    q = np.zeros((len(states), len(states)))
    for i, j, rate in moves:
        q[i, j] += rate
        q[i, i] -= rate
    p = np.linalg.lstsq(np.vstack([q.T, np.ones(len(states))]), np.r_[np.zeros(len(states)), 1.0], rcond=None)[0]
    busy = [sum(p[i] for s, i in states.items() if s and s[0] == r) for r in (0, 1)]
    return np.array([busy[0] / first_s, busy[1] / second_s])


@pytest.mark.parametrize(("first_s", "second_s"), [(0.1, 0.4), (0.5, 0.5), (1.0, 0.2)])
def test_fcfs_with_means_that_differ_against_the_chain(first_s: float, second_s: float) -> None:
    """All orders of up to seven customers at the server, enumerated. The worst of these is 10.7 % off: Schweitzer's
    estimate of who is found is at its worst with few customers at one busy station."""
    exact = chain_of_two_classes(first_s, second_s, (3, 4), 2.0)
    classes = [Closed("a", 3, think_s=2.0), Closed("b", 4, think_s=2.0)]
    times = {"cpu": {"a": first_s, "b": second_s}}
    m = solve(Model(stations=[Queue("cpu")], classes=classes, demands_s=times), "amva-fcfs")
    found = np.array([m.value("throughput", cls=c) for c in "ab"])
    assert np.abs(found / exact - 1).max() < 0.12


def test_general_service_waits_longer_with_a_larger_spread() -> None:
    found = []
    for service in (Exponential(0.5), Hyperexponential((0.9, 0.1), (0.5 / 1.8, 2.5))):
        made = Model(stations=[Queue("cpu"), Queue("disk")], classes=[Closed("u", 6, think_s=3.0)],
                     service_s={"cpu": {"u": service}, "disk": {"u": 0.2}})  # fmt: skip
        found.append(solve(made, "amva-fcfs").value("response_time"))
    assert found[1] > found[0]
