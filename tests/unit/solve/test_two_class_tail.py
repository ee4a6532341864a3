"""Quantiles of the two-class model: exact where the law is known, near the simulated ones where it is not."""

from __future__ import annotations

import math

import pytest

import sojourn as sj
from sojourn.solve.method import RequestedOutputs


def found(q: float, rate: float, cores: int, nics: int, interrupt_s: float = 0.0, handoff_s: float = 0.0) -> float:
    station = sj.Multicore("cpu", cores, nics, interrupt_s, handoff_s=handoff_s)
    model = sj.Model([station], [sj.Open("web", rate)], service_s={"cpu": {"web": 1 / 300}})
    return sj.solve(model, requested_outputs=RequestedOutputs((q,))).value("response_time_quantile", q=q)


def test_without_interrupts_a_core_is_mm1() -> None:
    for rate in (50.0, 150.0, 290.0):
        for q in (0.5, 0.99):
            assert found(q, 2 * rate, 2, 2) == pytest.approx(-math.log(1 - q) / (300 - rate), rel=1e-6)
            assert found(q, 2 * rate, 2, 2, handoff_s=0.003) == pytest.approx(
                0.003 - math.log(1 - q) / (300 - rate), rel=1e-6
            )


def test_beyond_saturation_there_is_none() -> None:
    assert math.isnan(found(0.99, 601, 2, 2)) and math.isnan(found(0.9, 1e4, 4, 1, interrupt_s=1 / 3000))


def host(rate: float, cores: int, nics: int, interrupt_s: float, page_s: float) -> sj.Model:
    """The same host as stations: interrupts preempt pages, a page stays with probability nics/cores."""
    first, rest = [f"core{k}" for k in range(nics)], [f"core{k}" for k in range(nics, cores)]
    stations = [sj.Queue(name, discipline="priority_preemptive") for name in first] + [sj.Queue(name) for name in rest]
    stay = nics / cores
    away = {f"{name}/page": (1 - stay) / len(rest) for name in rest}
    routing = {
        "interrupt": {"source": dict.fromkeys(first, 1 / nics)} | {n: {f"{n}/page": stay} | away for n in first},
        "page": {name: {"exit": 1.0} for name in (*first, *rest)},
    }
    service = {name: {"interrupt": sj.Deterministic(interrupt_s), "page": page_s} for name in first}
    service |= {name: {"page": page_s} for name in rest}
    return sj.Model(
        [*stations],
        [sj.Open("interrupt", rate, priority=0), sj.Open("page", 0.0, priority=1)],
        service_s=service,
        routing=routing,
    )


@pytest.mark.parametrize(("rate", "cores", "nics"), [(500.0, 4, 1), (800.0, 4, 4)])
def test_near_the_simulated(rate: float, cores: int, nics: int) -> None:
    """The event-driven engine knows nothing of moments: 100 000 requests, within 5 %."""
    told = sj.simulate(
        host(rate, cores, nics, 1 / 3000, 1 / 300),
        completions=100_000,
        seed=1,
        quantiles=(0.9, 0.99),
        max_wall_time_s=30,
    )
    for q in (0.9, 0.99):
        simulated = told.value("response_time_quantile", cls="interrupt", q=q)
        assert found(q, rate, cores, nics, interrupt_s=1 / 3000) == pytest.approx(simulated, rel=0.05)
