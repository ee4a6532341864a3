"""Worker processes: what they say when they cannot, and that none is left."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sojourn.errors import InputError, LabError, ServiceError, StorageFull
from sojourn.lab import worker_process
from sojourn.lab.worker_process import WorkerProcess
from sojourn.load.http_load import http_load
from sojourn.measure import execute_run
from sojourn.runs.run_folder import RunFolder


def gone(worker: WorkerProcess) -> bool:
    return worker.process.poll() is not None and not Path(f"/proc/{worker.process.pid}").exists()


def test_a_configuration_that_is_refused_is_an_input_error() -> None:
    worker = WorkerProcess("load", {"load": {"lanes": []}, "out": "nowhere"})
    with pytest.raises(InputError, match="duration_s"):
        worker.finish(10)
    assert gone(worker)


def test_a_worker_that_cannot_start_its_work_is_gone_when_it_says_so() -> None:
    worker = WorkerProcess("host", {"network": "/run/netns/of-nobody", "host": {}})
    with pytest.raises((ServiceError, InputError)):
        worker.ready()
    assert gone(worker)


def test_a_worker_that_says_nothing_in_time_is_ended() -> None:
    worker = WorkerProcess("load")
    with pytest.raises(LabError, match=r"no 'ready' within 0\.1 s"):
        worker.ready(0.1)
    assert gone(worker)


def test_stop_says_nothing_and_does_not_wait_the_second_time() -> None:
    worker = WorkerProcess("load")
    worker.process.kill()
    assert worker.stop() is None
    assert worker.stop(3600) is None and worker.stop(3600) is None
    with pytest.raises(LabError, match="load ended with -9"):
        worker.result(3600)
    assert gone(worker)


def test_the_end_of_a_service_is_the_services() -> None:
    service = WorkerProcess("web")
    service.process.kill()
    with pytest.raises(ServiceError, match="web ended with -9"):
        service.ready()
    assert gone(service)


def test_what_is_told_to_a_dead_worker_is_no_error_of_its_own() -> None:
    worker = WorkerProcess("load")
    worker.process.kill()
    worker.process.wait()
    worker.begin({"load": {}})
    with pytest.raises(LabError, match="ended with -9"):
        worker.finish(10)


def test_a_worker_without_its_control_group_is_not_left_running(tmp_path: Path) -> None:
    before = children()
    with pytest.raises(OSError):
        WorkerProcess("spin", {"cores": [0]}, cgroup=str(tmp_path / "nowhere"))
    assert children() == before


def test_a_worker_whose_parent_is_gone_does_nothing() -> None:
    """The parent may die before the worker asks the kernel to be ended with it."""
    command = [sys.executable, "-m", "sojourn.lab.worker_main", "spin", str(os.getppid())]
    done = subprocess.run(command, input=b'{"cores": [0]}\n', capture_output=True, timeout=20, check=False)
    assert done.returncode == 1 and done.stdout == b""


def test_a_second_worker_that_cannot_start_takes_the_first_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[WorkerProcess] = []

    def start(kind: str, *, log: Path, **_: object) -> WorkerProcess:
        if kind == "load":
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        started.append(WorkerProcess(kind, log=log))
        return started[-1]

    monkeypatch.setattr(execute_run, "WorkerProcess", start)
    with pytest.raises(OSError, match="temporarily unavailable"):
        execute_run.execute(tmp_path / "run", http_load(["http://127.0.0.1:1/"], rate_per_s=1.0), what={})
    assert len(started) == 1 and gone(started[0])
    assert RunFolder.open(tmp_path / "run").manifest["status"] == "cut off"


@pytest.mark.parametrize(
    ("event", "kind", "text"),
    [
        ({"message": "lanes is 0; give 1", "type": "ValueError"}, InputError, "load: lanes is 0; give 1"),
        ({"message": "port 80 is taken; choose", "type": "OSError"}, ServiceError, "load: port 80 is taken; choose"),
        ({"message": "cannot write x: No space left on device (os error 28); free space", "type": "OSError"},
         StorageFull, "load: cannot write x: No space left on device (os error 28); free space"),
        ({"message": "it broke", "type": "OSError"}, ServiceError, "load: it broke; change what it names"),
    ],
)  # fmt: skip
def test_native_errors_become_ours(event: worker_process.Event, kind: type[Exception], text: str) -> None:
    error = worker_process._error("load", event)
    assert type(error) is kind and str(error) == text


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
