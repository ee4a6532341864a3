"""Who runs on which core, and the network of cores: bounds and cases with a closed form."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from sojourn.study.kv.models import Shape, fit_times, placed_cores
from sojourn.system.kv.affinity import Affinity, assigned, pin

CPU = {"client_cpu_s": 8e-6, "net_cpu_s": 10e-6, "worker_cpu_s": 0.0, "server_cpu_s": 6e-6}
REST = {"workload": "get", "servers": 1, "proxies": 1}


def times(clients: tuple[int, ...] = (1, 8, 64), response_s: float = 50e-6, **more: float):  # type: ignore[no-untyped-def]
    rows = [
        {
            "clients": n,
            "response_s": response_s,
            "own_s": 0.0,
            "mw_response_s": 30e-6,
            "service_s": 20e-6,
            "net_s": 10e-6,
            **REST,
            **CPU,
            **more,
        }
        for n in clients
    ]
    return fit_times(pl.DataFrame(rows))


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
    """The response time at the fewest clients is what was measured, whatever the delay is."""
    found = placed_cores(times(), Shape(1, 1, 0), 1, assigned([0, 1], 1, 1))
    assert found.cycle_s == pytest.approx(50e-6, rel=1e-6)


def test_many_clients_fill_the_core_that_works_most() -> None:
    """Asymptotic bound: one over the sum of the CPU times on the busiest core, server and middleware on core 0."""
    found = placed_cores(times(), Shape(1, 1, 0), 500, assigned([0, 1], 1, 1))
    assert found.throughput_per_s == pytest.approx(1 / 16e-6, rel=1e-3)
    assert found.bottleneck == "cores 0 (middleware, server)"
    apart = placed_cores(times(), Shape(1, 1, 0), 500, assigned([0, 1, 2], 1, 1))
    assert apart.throughput_per_s == pytest.approx(1 / 10e-6, rel=1e-3)


def test_two_balanced_queues_have_the_textbook_throughput() -> None:
    """Balanced network of K queues, no delay: X = N/(D (N + K - 1)), Lazowska et al. 1984, section 5.4."""
    balanced = times(client_cpu_s=16e-6, response_s=32e-6)
    for n in (1, 5, 20):
        found = placed_cores(balanced, Shape(1, 1, 0), n, assigned([0, 1], 1, 1))
        assert found.throughput_per_s == pytest.approx(n / (16e-6 * (n + 1)), rel=1e-4)


def test_workers_bound_what_gets_through() -> None:
    own = {"worker_cpu_s": 20e-6, "net_cpu_s": 2e-6}
    few, many = (placed_cores(times(**own), Shape(1, 1, w), 64, assigned(range(8), 1, 1)) for w in (1, 64))
    assert few.throughput_per_s <= 1 / 26e-6 * 1.001 < many.throughput_per_s


def test_times_between_fitted_counts_are_straight_in_one_over_the_clients() -> None:
    rows = pl.DataFrame(
        [{"clients": n, "response_s": 1e-4, "own_s": 0.0, "mw_response_s": 5e-5, "service_s": 2e-5, "net_s": 1e-5, **REST, **CPU,
          "server_cpu_s": 1e-6 + 9e-6 / n} for n in (1, 16, 64)]
    )  # fmt: skip
    for n in (4, 25):
        assert fit_times(rows).at("server_cpu_s", n) == pytest.approx(1e-6 + 9e-6 / n, rel=1e-9)
