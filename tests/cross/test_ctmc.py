"""The state-by-state chain against methods that do not know about states, on random small networks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn as sj
from sojourn.solve.closed import convolution
from sojourn.solve.markov import ctmc
from sojourn.solve.markov.network_chain import network_chain
from sojourn.solve.markov.network_spec import UNLIMITED
from sojourn.solve.markov.state_count import states
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.open import jackson_bcmp

QUICK = settings(max_examples=25, deadline=None, derandomize=True)
demand = st.floats(0.01, 10.0).map(lambda x: float(f"{x:.3g}"))


@st.composite
def station(draw: st.DrawFn, name: str, classes: list[str]) -> tuple[object, dict[str, float]]:
    """A station of a product form and its demands."""
    kind = draw(st.sampled_from(["delay", "ps", "lcfs_pr", "fcfs", "siro"]))
    if kind == "delay":
        return sj.Delay(name), {c: draw(demand) for c in classes}
    servers = draw(st.integers(1, 3))
    if kind in ("fcfs", "siro"):
        same = draw(demand)
        return sj.Queue(name, servers, kind), dict.fromkeys(classes, same)
    if kind == "lcfs_pr":
        servers = 1
    return sj.Queue(name, servers, kind), {c: draw(demand) for c in classes}


@st.composite
def closed_model(draw: st.DrawFn) -> sj.Model:
    classes = ["a", "b"][: draw(st.integers(1, 2))]
    parts = [draw(station(f"s{i}", classes)) for i in range(draw(st.integers(1, 3)))]
    most = 6 if len(classes) == 1 else 2
    customers = [sj.Closed(c, draw(st.integers(1, most)), think_s=draw(st.sampled_from([0.0, 0.5]))) for c in classes]
    return sj.Model([s for s, _ in parts], customers, demands_s={s.name: d for s, d in parts})


@QUICK
@given(closed_model())
def test_closed_product_form(model: sj.Model) -> None:
    """Throughput and mean numbers of the chain are those of convolution."""
    network = model.network
    if convolution.METHOD.refuses(network):
        return
    exact, found = (m.METHOD.run([network], RequestedOutputs(())) for m in (convolution, ctmc))
    assert found.throughput == pytest.approx(exact.throughput, rel=1e-9)
    assert found.queue_length == pytest.approx(exact.queue_length, rel=1e-8, abs=1e-12)
    assert found.utilisation == pytest.approx(exact.utilisation, rel=1e-9, nan_ok=True)


@QUICK
@given(closed_model())
def test_states_are_counted_right(model: sj.Model) -> None:
    """The estimate is the number found; never less."""
    network = model.network
    assert states(network) == pytest.approx(len(network_chain(network)), rel=1e-6)


@QUICK
@given(st.integers(1, 4), st.integers(1, 3), st.integers(2, 6), st.sampled_from(["fcfs", "ps", "siro"]))
def test_states_under_limits_are_counted(size: int, servers: int, population: int, discipline: str) -> None:
    model = sj.Model(
        [sj.Queue("cpu", servers, discipline), sj.Queue("db"), sj.Pool("pool", size, ("cpu", "db"))],
        [sj.Closed("a", population, 1.0), sj.Closed("b", 1, 1.0)],
        demands_s={"cpu": {"a": 1.0, "b": 1.0}, "db": {"a": 1.0, "b": 1.0}},
    )
    found = len(network_chain(model.network))
    assert found <= states(model.network) * (1 + 1e-9)
    assert states(model.network) <= 3 * found + 50


@QUICK
@given(st.data())
def test_open_product_form(data: st.DataObject) -> None:
    """Two stations in a row, classes with rates of their own; what is cut off bounds the difference."""
    classes = ["a", "b"][: data.draw(st.integers(1, 2))]
    busy = data.draw(st.floats(0.1, 0.6))
    parts = [data.draw(station(f"s{i}", classes)) for i in range(2 if len(classes) == 1 else 1)]
    servers = [getattr(s, "servers", np.inf) for s, _ in parts]
    rate = (
        busy * min(m / max(d.values()) for m, (_, d) in zip(servers, parts, strict=True) if np.isfinite(m))
        if any(np.isfinite(servers))
        else 1.0
    )
    if any(max(d.values()) * rate > 3 and m == np.inf for m, (_, d) in zip(servers, parts, strict=True)):
        return
    customers = [sj.Open(c, rate / len(classes)) for c in classes]
    network = sj.Model([s for s, _ in parts], customers, demands_s={s.name: d for s, d in parts}).network
    if states(network, 60) > 60_000:
        return
    exact, found = (m.run([network], RequestedOutputs(())) for m in (jackson_bcmp.MULTICLASS, ctmc.METHOD))
    if found.status and found.status[0] != "ok":
        return
    assert found.throughput == pytest.approx(exact.throughput, rel=1e-7)
    assert found.queue_length == pytest.approx(exact.queue_length, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("discipline", ["fcfs", "siro", "priority"])
def test_who_returns_at_once_is_not_among_those_that_waited(discipline: str) -> None:
    """One who returns at once (a) and one who thinks 0.5 s (b), services of 1 s. By hand: a alone 1/5, b waiting 2/5, a
    waiting 2/5 of the time, since a free server takes the one that waits before a is back, whatever the discipline."""
    customers = [sj.Closed("a", 1, priority=0), sj.Closed("b", 1, think_s=0.5, priority=1)]
    model = sj.Model([sj.Queue("s", 1, discipline)], customers, demands_s={"s": {"a": 1.0, "b": 1.0}})
    found = sj.solve(model, method="ctmc")
    assert [found.value("throughput", cls=c) for c in "ab"] == pytest.approx([0.6, 0.4], rel=1e-12)
    simulated = sj.simulate(model, completions=100_000, seed=1)
    assert [simulated.value("throughput", cls=c) for c in "ab"] == pytest.approx([0.6, 0.4], rel=0.02)


@QUICK
@given(closed_model())
def test_numbers_add_up(model: sj.Model) -> None:
    """Flow in is flow out, numbers sum to the population, utilisation is rate x service: on the raw measures."""
    network = model.network
    chain = network_chain(network, UNLIMITED)
    p, residual, _ = chain.steady(1e-15, 200)
    m = chain.measure(p)
    assert residual < 1e-13
    assert p.sum() == pytest.approx(1.0, rel=1e-12) and p.min() >= 0
    assert m["present"].sum() == pytest.approx(network.population.sum(), rel=1e-12)
    done = m["done"].reshape(-1, len(network.classes))[:-1]
    assert done == pytest.approx(m["exit"] * network.visits, rel=1e-9)
    assert m["busy"].reshape(-1, len(network.classes))[:-1] == pytest.approx(done * network.service_s, rel=1e-9)
    for numbers in m["numbers"]:
        assert numbers.sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("demands", [(1e-9, 1e3, 1.0, 1e-3), (1e-3, 1.0, 1.0, 1e3), (1.0, 1.01, 0.02, 1.0)])
def test_demands_over_twelve_orders_of_magnitude(demands: tuple[float, ...]) -> None:
    """20 customers, 10 626 states, by levels: probabilities down to 1e-240 on the way must not end as zeros."""
    names = [f"s{i}" for i in range(4)]
    model = sj.Model([sj.Queue(n) for n in names], [sj.Closed("u", 20, 0.5)],
                     demands_s={n: {"u": d} for n, d in zip(names, demands, strict=True)})  # fmt: skip
    exact, found = (m.METHOD.run([model.network], RequestedOutputs(())) for m in (convolution, ctmc))
    assert found.throughput == pytest.approx(exact.throughput, rel=1e-12)
    assert found.queue_length == pytest.approx(exact.queue_length, rel=1e-11)
