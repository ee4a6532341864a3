"""Engset's formulas against 50 digits where they are hard: a million sources, loads from nothing to everything."""

from __future__ import annotations

import pytest
from mpmath import mp

import sojourn as sj
from sojourn.solve.method import RequestedOutputs


def exactly(sources: int, servers: int, room: int, idle: float) -> dict[str, mp.mpf]:
    """Everything from the products C(N, n) idle^n …, idle = S/Z, by recurrence in 50 digits; S = 1."""
    idle = mp.mpf(idle)

    def law(size: int) -> list[mp.mpf]:
        w = [mp.mpf(1)]
        for n in range(1, min(size, room) + 1):
            w.append(w[-1] * (size - n + 1) * idle / min(n, servers))
        total = mp.fsum(w)
        return [x / total for x in w]

    p, found = law(sources), law(sources - 1)
    busy = mp.fsum(min(n, servers) * x for n, x in enumerate(p))
    mean = mp.fsum(n * x for n, x in enumerate(p))
    return {
        "throughput": busy, "queue_length": mean, "loss_probability": found[room] if len(found) > room else mp.mpf(0),
        "full": p[room] if len(p) > room else mp.mpf(0),
        "queue_length_variance": mp.fsum((n - mean) ** 2 * x for n, x in enumerate(p)),
        "waiting_time": mp.fsum(max(n - servers, 0) * x for n, x in enumerate(p)) / busy,
    }  # fmt: skip


@pytest.mark.parametrize("idle", [1e-9, 1e-4, 9e-4, 1e-3, 2e-3, 1.0, 1e9])
@pytest.mark.parametrize("room", [1000, 1100])
def test_a_million_sources(idle: float, room: int) -> None:
    model = sj.Model(
        [sj.Queue("q", 1000, capacity=room)], [sj.Closed("c", 10**6, 1.0 / idle)], service_s={"q": {"c": 1.0}}
    )
    m = sj.solve(model, "engset", requested_outputs=RequestedOutputs(quantiles=()))
    with mp.workdps(50):
        right = exactly(10**6, 1000, room, mp.mpf(1) / mp.mpf(1.0 / idle))
        right["queue_length_probability"] = right.pop("full")
    for metric, value in right.items():
        told = m.value(metric, "q", **({"n": room} if metric == "queue_length_probability" else {}))
        assert told == pytest.approx(float(value), rel=1e-11, abs=1e-290), (metric, float(value))


@pytest.mark.parametrize(("sources", "servers", "room"), [(1, 1, 1), (2, 1, 1), (30, 4, 4), (30, 4, 12), (13, 12, 12)])
@pytest.mark.parametrize("idle", [1e-9, 0.1, 1e9])
def test_few_sources(sources: int, servers: int, room: int, idle: float) -> None:
    model = sj.Model(
        [sj.Queue("q", servers, capacity=room)], [sj.Closed("c", sources, 1.0 / idle)], service_s={"q": {"c": 1.0}}
    )
    m = sj.solve(model, "engset")
    with mp.workdps(50):
        right = exactly(sources, servers, room, mp.mpf(1) / mp.mpf(1.0 / idle))
    right.pop("full")
    for metric, value in right.items():
        assert m.value(metric, "q") == pytest.approx(float(value), rel=1e-12, abs=1e-290), (metric, float(value))
