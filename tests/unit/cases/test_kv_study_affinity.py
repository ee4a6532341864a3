"""Who runs on which core, and the network of cores: bounds and cases with a closed form."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from kv_rows import row, rows_of

from sojourn.lab.cpu_affinity import pin
from sojourn_cases.kv.middleware.affinity import Affinity, assigned
from sojourn_cases.kv.models.operation_work import CLIENT, NET, SERVER, WORKERS
from sojourn_cases.kv.models.pinned_cores import named, shares_of, solved

CPU = {CLIENT: 8e-6, NET: 10e-6, WORKERS: 0.0, SERVER: 6e-6}


def solve(clients: int, cores: Sequence[int], workers: int = 0, delay_s: float = 0.0, **more: float) -> float:
    """Throughput of one server behind one middleware."""
    rows = rows_of(row(1.0, clients, workers=workers))
    times = {name: np.array([value]) for name, value in (CPU | more).items()}
    return float(solved(rows, times, np.array([delay_s]), cores).throughput_per_s[0])


def test_the_client_has_a_core_of_its_own_and_the_rest_is_dealt() -> None:
    assert assigned([0, 1], 3, 2) == Affinity((1,), ((0,),) * 3, ((0,),) * 2)
    assert assigned([0], 1, 1) == Affinity((0,), ((0,),), ((0,),))
    assert assigned([0, 1, 2, 3], 1, 1) == Affinity((3,), ((1,),), ((0, 2),))
    many = assigned(range(16), 3, 2)
    assert many.client == (15,) and many.proxies == ((0, 5, 10), (1, 6, 11)) and many.servers == ((2,), (3,), (4,))


def test_every_core_given_is_one_that_there_is() -> None:
    for cores in range(1, 9):
        for servers in range(1, 5):
            for proxies in range(3):
                found = assigned(range(cores), servers, proxies)
                sets = [found.client, *found.servers, *found.proxies]
                assert all(own and set(own) <= set(range(cores)) for own in sets)
                assert len(found.servers) == servers and len(found.proxies) == proxies


def test_a_process_is_kept_with_all_its_threads() -> None:
    """Of a process that is gone there is nothing to keep."""
    program = "import threading, time; threading.Thread(target=time.sleep, args=(9,)).start(); print(1, flush=True)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"1\n"
        only = min(os.sched_getaffinity(0))
        pin([child.pid, 1 << 22], [only])
        tasks = [int(path.name) for path in Path(f"/proc/{child.pid}/task").iterdir()]
        assert len(tasks) == 2 and all(os.sched_getaffinity(task) == {only} for task in tasks)
        child.kill()


def test_one_client_meets_nobody() -> None:
    """Its cycle is all times and the delay."""
    assert solve(1, [0, 1], delay_s=26e-6) == pytest.approx(1 / 50e-6, rel=1e-6)


def test_many_clients_fill_the_core_that_works_most() -> None:
    """Asymptotic bound: one over the sum of the CPU times on the busiest core, server and middleware on core 0."""
    assert solve(500, [0, 1]) == pytest.approx(1 / 16e-6, rel=1e-3)
    assert solve(500, [0, 1, 2]) == pytest.approx(1 / 10e-6, rel=1e-3)
    where = assigned([0, 1], 1, 1)
    assert [named(cores, where) for cores in shares_of(where, False)] == [
        "cores 1 (client)",
        "cores 0 (middleware, server)",
    ]


def test_two_balanced_queues_have_the_textbook_throughput() -> None:
    """Balanced network of K queues, no delay: X = N/(D (N + K - 1)), Lazowska et al. 1984, section 5.4."""
    for n in (1, 5, 20):
        assert solve(n, [0, 1], **{CLIENT: 16e-6}) == pytest.approx(n / (16e-6 * (n + 1)), rel=1e-3)


def test_workers_bound_what_gets_through() -> None:
    own = {WORKERS: 20e-6, NET: 2e-6}
    few, many = (solve(64, range(8), workers, **own) for workers in (1, 64))
    assert few <= 1 / 26e-6 * 1.001 < many


def test_points_of_many_configurations_are_solved_at_once() -> None:
    """Each as by itself, in the order of the rows."""
    rows = rows_of(row(1.0, 3, workers=0), row(1.0, 30, servers=2, workers=0), row(1.0, 3, proxies=2, workers=4))
    times = {name: np.full(3, value) for name, value in CPU.items()}
    together = solved(rows, times, np.zeros(3), [0, 1, 2]).throughput_per_s
    one = {name: value[:1] for name, value in times.items()}
    alone = [solved(part, one, np.zeros(1), [0, 1, 2]).throughput_per_s[0] for part in rows.iter_slices(1)]
    assert together == pytest.approx(alone)
