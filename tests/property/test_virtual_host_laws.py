"""What must hold for every virtual host: no work is lost or made, no core works more than there is time, nothing ends
before it began, and one seed gives one run."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.simulate.virtual_host import VirtualHost, VirtualHostRun, simulate_host

times = st.floats(1e-5, 1e-2)
laws = st.one_of(
    st.builds(lambda mean: {"kind": "exponential", "mean": mean}, times),
    st.builds(lambda mean: {"kind": "deterministic", "mean": mean}, times),
    st.builds(lambda mean, scv: {"kind": "lognormal", "mean": mean, "scv": scv}, times, st.floats(0.1, 9.0)),
)
placements = st.one_of(
    st.just({"policy": "uniform"}),
    st.just({"policy": "least-loaded"}),
    st.builds(lambda p: {"policy": "pinned", "stay": p}, st.one_of(st.none(), st.floats(0, 1))),
)


@st.composite
def hosts(draw: st.DrawFn) -> VirtualHost:
    cores = draw(st.integers(1, 9))
    order: dict[str, Any] = draw(
        st.sampled_from(
            [
                {},
                {"switch_s": 1e-4},
                {"threads_per_core": 0},
                {"threads_per_core": 3},
                {"threads_per_core": 0, "quantum_s": 1e-3, "switch_s": 1e-5},
                {"threads_per_core": 2, "quantum_s": 4e-3},
            ]
        )
    )
    more = {"crossing_s": draw(st.sampled_from([0.0, 1e-4])), "capacity": draw(st.sampled_from([None, 1, 20]))}
    return VirtualHost(cores, draw(st.integers(1, cores)), draw(laws), draw(laws), draw(placements), **order, **more)


@st.composite
def runs(draw: st.DrawFn) -> VirtualHostRun:
    host = draw(hosts())
    seed = draw(st.integers(0, 2**63))
    if draw(st.booleans()):
        return simulate_host(host, users=draw(st.integers(1, 40)), think_s=1e-3, duration_s=0.5, seed=seed)
    return simulate_host(host, rate_per_s=draw(st.floats(10, 5000)), duration_s=0.5, seed=seed)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(runs())
def test_every_host_keeps_the_laws(run: VirtualHostRun) -> None:
    seen = run.requests
    served = seen["refused"] == 0
    assert (seen["ready_s"] >= seen["intended_s"]).all()
    assert (seen["start_s"] >= seen["ready_s"]).all()
    assert (seen["done_s"] >= seen["start_s"]).all()
    assert (np.diff(seen["intended_s"]) >= 0).all()
    least = (seen["interrupt_s"] + seen["page_s"])[served]
    assert (run.response_s >= least * (1 - 1e-9) - 1e-12).all()
    for state, work in (("softirq", "interrupt_s"), ("user", "page_s")):
        assert np.isclose(run.states[state][-1].sum(), seen[work][served].sum(), rtol=1e-9, atol=1e-12)
    busy = np.sum(list(run.states.values()), axis=0)
    assert (busy <= run.sample_t_s[:, None] * (1 + 1e-9)).all()
    assert (np.diff(busy, axis=0) >= -1e-12).all()
    assert run.states["softirq"][-1, run.host.nics :].sum() == 0
    assert run.host.capacity is not None or served.all()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(hosts(), st.integers(0, 2**63))
def test_one_seed_is_one_run(host: VirtualHost, seed: int) -> None:
    one, two = (simulate_host(host, rate_per_s=900.0, duration_s=0.5, seed=seed) for _ in range(2))
    assert all((one.requests[name] == two.requests[name]).all() for name in one.requests)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(laws, laws, st.integers(0, 2**63))
def test_one_core_does_its_work_whatever_the_order(interrupt: Any, page: Any, seed: int) -> None:
    """When a core is idle does not depend on the order of its pages: the last answer comes at the same time."""
    ends = []
    for order in ({}, {"threads_per_core": 0}, {"threads_per_core": 0, "quantum_s": 2e-3}):
        host = VirtualHost(1, 1, interrupt, page, **order)
        run = simulate_host(host, rate_per_s=300.0, duration_s=0.5, seed=seed)
        ends.append(run.requests["done_s"].max(initial=0.0))
    assert np.allclose(ends, ends[0], rtol=1e-9)
