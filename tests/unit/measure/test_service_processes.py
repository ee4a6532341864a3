"""Whose CPU time it is: issue 29, point 14. A launcher's pid was taken, and a request "took 2.16 µs of process 20325"."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sojourn.errors import InputError
from sojourn.measure.service_processes import ServiceProcesses, service_processes
from sojourn.runs.watched_resources import WatchedResources

LAUNCHER = f"{sys.executable} -c 'import time; print(1, flush=True); time.sleep(60)' & wait"


@contextmanager
def launcher() -> Iterator[int]:
    """A shell that waits for a child."""
    shell = subprocess.Popen(["sh", "-c", LAUNCHER], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert shell.stdout is not None
    try:
        assert shell.stdout.readline().strip() == "1"
        yield shell.pid
    finally:
        os.killpg(shell.pid, 9)
        shell.wait()
        shell.stdout.close()


def load(port: int) -> dict[str, object]:
    return {"lanes": [{"targets": [{"url": f"http://127.0.0.1:{port}/a"}]}]}


def test_the_children_of_a_launcher_are_its_service() -> None:
    with launcher() as pid:
        service = service_processes(WatchedResources(pids=(pid,)), load(9))
        assert pid in service.now().pids and len(service.now().pids) == 2
        assert service.told() == ""  # somebody named it


def test_who_listens_is_found_and_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        service = service_processes(None, load(port))
        assert service.found and service.watched.pids == (os.getpid(),)
        assert f"process {os.getpid()} (" in service.told() and "by its listening socket" in service.told()
        assert set(service.cores()) <= os.sched_getaffinity(0) and service.cores()
        disk = service_processes(WatchedResources(disks=("vda",)), load(port))
        assert disk.found and disk.watched.disks == ("vda",)
        assert not service_processes(None, {**load(port), "unix_socket": "/tmp/a"}).found


@pytest.mark.parametrize(("used_s", "serves"), [(2.16e-6, False), (20e-6, True)])  # what issue 29 saw; a fast server's
def test_a_process_that_uses_no_cpu_while_answers_come_is_refused_by_name(used_s: float, serves: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, launcher() as pid:
        service = service_processes(WatchedResources(pids=(pid,)), load(server.getsockname()[1]))
        demands = {f"process {one}": used_s / 2 for one in service.now().pids} | {"processes": used_s}
        if serves:
            service.check(demands)
            return
        with pytest.raises(
            InputError,
            match=rf"process {pid} \(sh\) and its children used 2\.2 µs .* listens there: give --service-pids {os.getpid()}",
        ):
            service.check(demands)


def test_of_what_was_found_nothing_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        service = service_processes(None, load(server.getsockname()[1]))
        service.check({f"process {os.getpid()}": 0.0})


def test_pinned_threads_say_where_a_service_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first thread may use all, its two workers a core each."""
    cores = {1: {0, 1, 2, 3}, 2: {0}, 3: {2}}
    monkeypatch.setattr("sojourn.measure.service_processes.threads_of", lambda pid: list(cores))
    monkeypatch.setattr("sojourn.measure.service_processes.service_tree", lambda pids: pids)
    monkeypatch.setattr(os, "sched_getaffinity", cores.__getitem__)
    service = ServiceProcesses(WatchedResources(pids=(1,)), may_use=(0, 1, 2, 3))
    assert service.pinned_cores() == (0, 2)
    cores[2] = cores[3] = cores[1]
    assert service.pinned_cores() == ()
