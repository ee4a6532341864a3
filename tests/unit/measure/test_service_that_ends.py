"""A service that is gone: said by its name, and before anything else that may be wrong with the measurement."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sojourn.cli.load_run import end
from sojourn.errors import ServiceError
from sojourn.measure import measure
from sojourn.measure.service_processes import ServiceProcesses, named
from sojourn.measure.surroundings import add_demands
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.watched_resources import WatchedResources
from sojourn.simulate.simulated_folder import write_run


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def a_run(path: Path) -> RunFolder:
    begun = np.arange(0, 2.0, 0.02)
    about = {"name": path.name, "factors": {"rate_per_s": 50.0}, "duration_s": 2.0}
    return write_run(path, manifest=about, requests={"intended_s": begun, "done_s": begun + 0.01})


def ended(*others: int) -> tuple[ServiceProcesses, int]:
    """Of a process that has ended; `others`: that listen beside it."""
    with subprocess.Popen([sys.executable, "-c", "pass"]) as one:
        pid = one.pid
    listening = (pid, *others)
    return ServiceProcesses(WatchedResources(pids=listening), listening, True, names={pid: "orders"}), pid


def test_a_service_that_ended_is_why_the_run_is_not_valid(tmp_path: Path) -> None:
    service, pid = ended()
    folder = a_run(tmp_path / "rate-50")
    add_demands(folder, service, WatchedResources())
    manifest = RunFolder.open(folder.path).manifest
    assert not manifest["valid"]
    assert manifest["reasons"][0] == f"the service exited during the run: process {pid} (orders)"
    assert f"the service is process {pid} (orders), found" in manifest["found"]
    with pytest.raises(ServiceError, match=rf"exited during the run: process {pid} \(orders\)"):
        end(manifest["reasons"], "load")


def test_one_of_several_that_ended_is_told(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        service, pid = ended(other.pid)
        folder = a_run(tmp_path / "rate-50")
        add_demands(folder, service, WatchedResources())
        other.kill()
    assert (
        folder.manifest["valid"] and folder.manifest["warnings"][0] == f"process {pid} (orders) exited during the run"
    )


def test_a_process_without_a_name_has_no_brackets() -> None:
    service, pid = ended()
    assert named([pid]) == f"process {pid}" and named([pid], service.names) == f"process {pid} (orders)"


def test_that_nothing_listens_comes_before_the_conditions_of_runs_that_are_there(tmp_path: Path) -> None:
    """An outsider was told of `placement.interrupts`, and to choose another --out."""
    folder = a_run(tmp_path / "rate-50")
    folder.manifest["conditions"] = {"placement": {"interrupts": [0]}}
    folder.save()
    port = closed_port()
    with pytest.raises(ServiceError, match=f"nothing listens at 127.0.0.1:{port}; start the service or check the port"):
        measure(f"http://127.0.0.1:{port}/", tmp_path, rates_per_s=[60], duration_s=1.0)
