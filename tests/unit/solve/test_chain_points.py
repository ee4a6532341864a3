"""Chains that differ in speeds are found once (`same_chains`): each point has the law of its own speeds."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.model.network_points import NetworkPoints
from sojourn.solve.markov import ctmc
from sojourn.solve.markov.network_chain import same_chains
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.solution import Solution

REPAIR = """
[stations.crew]
servers = 2
[classes.machine]
kind = "closed"
population = 7
think_s = 4.0
[demands_s]
crew = { machine = 1.0 }
"""
POOL = """
[stations.cpu]
servers = 2
[stations.back]
[stations.pool]
kind = "pool"
size = 3
held_over_stations = ["back"]
[classes.user]
kind = "closed"
population = 6
think_s = 0.1
[demands_s]
cpu = { user = 0.01 }
back = { user = { kind = "erlang", mean = 0.05, shape = 2 } }
"""


def repairman(service_s: float, think_s: float) -> tuple[float, float]:
    """Throughput and mean number of M/M/2//7 by its birth and death rates."""
    p = [1.0]
    for n in range(7):
        p.append(p[n] * (7 - n) / think_s * service_s / min(n + 1, 2))
    law = np.array(p) / sum(p)
    n = np.arange(8)
    return float(law @ np.minimum(n, 2)) / service_s, float(law @ n)


def points(text: str, service_s: np.ndarray, think_s: np.ndarray) -> NetworkPoints:
    network = sj.Model.parse(text).network
    return NetworkPoints([network], np.zeros(len(think_s), int)).altered(service_s=service_s, think_s=think_s[:, None])


def solved(networks: NetworkPoints) -> Solution:
    return ctmc.run(networks, RequestedOutputs(()))


def test_each_point_has_the_law_of_the_machine_repairman() -> None:
    rng = np.random.default_rng(1)
    service, think = rng.uniform(0.2, 3, 150), rng.uniform(1, 9, 150)
    found = solved(points(REPAIR, service[:, None, None], think))
    law = [repairman(s, z) for s, z in zip(service, think, strict=True)]
    assert found.throughput[:, 0] == pytest.approx([x for x, _ in law], rel=1e-12)
    assert found.queue_length[:, 0, 0] == pytest.approx([n for _, n in law], rel=1e-12)
    assert found.status == []


def test_points_of_a_pool_are_as_each_alone() -> None:
    rng = np.random.default_rng(2)
    service, think = rng.uniform(0.005, 0.08, (9, 2, 1)), rng.uniform(0.05, 0.5, 9)
    many = points(POOL, service, think)
    assert len(list(same_chains(many))) == 1
    together = solved(many)
    for p, network in enumerate(many):
        alone = solved(NetworkPoints([network]))
        for name in ("throughput", "queue_length", "utilisation", "waiting_s", "outside"):
            one, other = getattr(together, name)[p], getattr(alone, name)[0]
            assert one == pytest.approx(other, rel=1e-12, nan_ok=True), name


def test_a_time_that_is_none_at_a_point_is_another_chain() -> None:
    think = np.array([1.0, 0.0])
    many = points(REPAIR, np.ones((2, 1, 1)), think)
    assert len(list(same_chains(many))) == 2
    found = solved(many)
    assert found.throughput[:, 0] == pytest.approx(
        [repairman(1.0, 1.0)[0], 2.0], rel=1e-12
    )  # nobody thinks: both always busy
