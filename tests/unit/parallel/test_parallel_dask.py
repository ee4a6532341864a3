"""Pieces on a dask cluster of processes of their own: results, a worker killed, one frozen, the scheduler gone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from distributed import Client

import sojourn
from sojourn.errors import WorkerError
from sojourn.parallel import open_workers, run_pieces
from sojourn.parallel.dask_workers import DaskWorkers

DISTRIBUTED = "import sys; from distributed.cli import dask_{0}; sys.argv[0] = '{0}'; dask_{0}.main()"
SHOP = Path(__file__).resolve().parents[3] / "examples/shop.toml"


class Cluster:
    """A scheduler and two workers."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")
        where = (
            "tcp://127.0.0.1:" + str(self.port),
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--local-directory",
        )
        self.workers = [self.start("worker", *where, str(folder)) for _ in range(2)]
        self.address = f"dask://127.0.0.1:{self.port}"
        with Client(f"tcp://127.0.0.1:{self.port}", timeout=30) as client:
            client.wait_for_workers(2, timeout=30)

    def start(self, what: str, *words: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(filter(None, (str(Path(__file__).parent), *sys.path)))
        command = [sys.executable, "-c", DISTRIBUTED.format(what), *words]
        with open(self.folder / "cluster.log", "ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": path})

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One whose processes stay as they are."""
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.end()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """One that a test may do anything to."""
    made = Cluster(tmp_path)
    yield made
    made.end()


def slow(seconds: float, piece: int) -> tuple[int, float]:
    time.sleep(seconds)
    return piece, seconds * piece


def later(seconds: float, act: Callable[[], object]) -> None:
    threading.Timer(seconds, act).start()


def test_replications_on_a_cluster_are_those_of_one_process(kept: Cluster) -> None:
    with ThreadPoolExecutor(1) as one:
        expected = sojourn.simulate(SHOP, precision=0.05, replications=4, parallel=one)
    assert sojourn.simulate(SHOP, precision=0.05, replications=4, parallel=kept.address) == expected
    with Client(f"tcp://127.0.0.1:{kept.port}") as client:
        assert sojourn.simulate(SHOP, precision=0.05, replications=4, parallel=client) == expected
        assert client.status == "running", "a user's client is not ours to close"


def test_workers_of_another_version_are_refused_by_their_addresses(
    kept: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sojourn.__version__", "9.9.9")
    from sojourn.parallel import workers as module

    module.versions.cache_clear()
    try:
        refused = pytest.raises(WorkerError, match=r"this is sojourn 9\.9\.9, and tcp://127\.0\.0\.1:\d+ has")
        with refused, open_workers(kept.address):
            pass
    finally:
        module.versions.cache_clear()


def test_a_worker_killed_in_mid_run_changes_no_result(cluster: Cluster) -> None:
    with open_workers(cluster.address) as workers:
        later(1.5, cluster.workers[0].kill)
        found = run_pieces(workers, slow, workers.send(0.05), list(range(100)), still_s=30)
    assert found == [(piece, 0.05 * piece) for piece in range(100)]


def test_a_frozen_worker_is_one_error_in_bounded_time(cluster: Cluster) -> None:
    with pytest.raises(WorkerError, match="no worker has answered"), open_workers(cluster.address) as workers:
        later(1.0, lambda: cluster.workers[0].send_signal(signal.SIGSTOP))
        run_pieces(workers, slow, workers.send(0.05), list(range(100)), still_s=3)


def test_a_scheduler_that_goes_is_one_error_in_bounded_time(cluster: Cluster) -> None:
    with pytest.raises(WorkerError, match=r"--parallel"), open_workers(cluster.address) as workers:
        later(1.0, cluster.scheduler.kill)
        run_pieces(workers, slow, workers.send(0.05), list(range(200)), still_s=10)


def test_nobody_at_the_address_is_said_soon() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(WorkerError, match="start a scheduler there"), open_workers(f"dask://127.0.0.1:{port}"):
        pass


class _Known:
    """A cluster of which the scheduler says when it last heard of each worker."""

    def __init__(self, **stamps: float) -> None:
        self.stamps, self.heard = stamps, dict[str, tuple[float, float]]()

    def _known(self) -> dict[str, dict[str, float]]:
        return {name: {"last_seen": at} for name, at in self.stamps.items()}

    def silent(self) -> list[str]:
        return DaskWorkers.silent(self, set(), 60.0)  # type: ignore[arg-type]


def test_a_scheduler_whose_clock_is_not_ours_has_workers_that_live(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stamps of an hour ago, and of a clock that is set back by another hour meanwhile."""
    now = [1000.0]
    monkeypatch.setattr("sojourn.parallel.dask_workers.time.monotonic", lambda: now[0])
    cluster = _Known(a=time.time() - 3600, b=time.time() - 3600)
    assert cluster.silent() == []
    now[0] += 61
    cluster.stamps = {name: at - 3600 + 61 for name, at in cluster.stamps.items()}
    assert cluster.silent() == []
    now[0] += 61
    cluster.stamps["a"] += 61  # and b is not heard of
    assert cluster.silent() == ["b"]


def test_the_only_worker_is_silent_where_its_stamp_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("sojourn.parallel.dask_workers.time.monotonic", lambda: now[0])
    cluster = _Known(a=time.time() + 3600)
    assert cluster.silent() == []
    now[0] += 61
    assert cluster.silent() == ["a"]
