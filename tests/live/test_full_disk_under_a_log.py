"""A service whose record log cannot be written goes on without it, says so at once, and counts the rows that are not there."""

from __future__ import annotations

import json
import os
import resource
import shutil
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from machine import Command, wait_for
from message_cluster import Client, Service, needs_postgres

from sojourn.errors import StorageFull
from sojourn.lab.worker_process import WorkerProcess
from sojourn.load.http_load import http_load
from sojourn.measure.execute_run import execute
from sojourn.runs.record_logs import read_log
from sojourn_cases.common.postgres import Postgres

pytestmark = pytest.mark.live
ROOM_BYTES = 3000  # for a header and some rows; the rest of the last one is cut off


def limit_files(pid: int, most_bytes: int) -> None:
    """No file of the process grows beyond this: what a full disk is to it."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))


@needs_postgres
def test_messages_are_taken_and_given_and_what_is_not_logged_is_counted(postgres: Postgres, tmp_path: Path) -> None:
    log, complaints = tmp_path / "app.rec", tmp_path / "complaints"
    service = Service(postgres, complaints, log=str(log), period_s=0.05)
    try:
        limit_files(service.worker.process.pid, service.ready and ROOM_BYTES)
        with service.client() as client:
            client.create("full")
            for _ in range(99):
                assert client.put("full", b"x").status == 201
            wait_for(lambda: complaints.read_text().count(" error log_stopped ") == 2)
            assert client.take("full").body == b"x"
        summary = service.stop()
    finally:
        service.close()
    assert summary["completions"] == 101
    assert [
        str(tmp_path / name) in why
        for why, name in zip(sorted(summary["lost_logs"]), ("app-levels.rec", "app.rec"), strict=True)
    ]
    (requests, _), (levels, _) = read_log(log), read_log(tmp_path / "app-levels.rec")
    assert 0 < len(requests) < 101 and len(levels) > 0
    assert summary["lost_rows"] >= 101 - len(requests), "of both logs"


def test_pages_are_served_and_what_is_not_logged_is_counted(tmp_path: Path) -> None:
    web = {"listen": ["127.0.0.1:0"], "cores": [0], "leading": [0], "pinned": False, "out": str(tmp_path)}
    worker = WorkerProcess("web", {"network": None, "web": web}, log=tmp_path / "complaints")
    try:
        url = f"http://{worker.ready()['addresses'][0]}/item/7"
        limit_files(worker.process.pid, ROOM_BYTES)
        for _ in range(100):
            assert urlopen(url, timeout=10).status == 200
        wait_for(lambda: " error log_stopped " in (tmp_path / "complaints").read_text())
        assert urlopen(url, timeout=10).status == 200
        done = worker.stop()
    finally:
        worker.close()
    assert done is not None
    summary = done["summary"]
    assert summary["requests"] == 101 and len(summary["lost_logs"]) == 1
    rows, _ = read_log(tmp_path / "app.rec")
    assert 0 < len(rows) < 101 and len(rows) + summary["lost_rows"] == 101
    assert (tmp_path / "app.rec").stat().st_size <= ROOM_BYTES


@needs_postgres
@pytest.mark.lab
@pytest.mark.skipif(shutil.which("unshare") is None or os.geteuid() != 0, reason="needs unshare (util-linux), as root")
def test_a_small_disk_under_the_log_of_the_command(open_folder: Path) -> None:
    (open_folder / "small").mkdir()
    mounted = 'mount -t tmpfs -o size=8k none small || exit 99; exec "$@"'
    command = Command(
        open_folder, "serve", "messages", "--listen", "127.0.0.1:0", "--request-log", "small/app.rec", "--log-period", "0.01",
        before=("unshare", "-m", "sh", "-c", mounted, "sh"),
    )  # fmt: skip
    try:
        command.wait_for(lambda: " error log_stopped " in command.said())
        address = command.answered().split("http://")[1].split("/")[0]
        with Client(address) as client:
            client.create("q")
            assert client.put("q", b"x").status == 201
        command.process.terminate()
        assert command.end() == 0, command.said()
    finally:
        command.process.kill()
    assert "No space left on device" in command.said()
    assert (
        "a log ends before the service did: " in command.answered()
        and "rows of logs were not written" in command.answered()
    )
    assert command.left() == []


class ServiceWhoseLogEnded:
    """A service whose log was given up, as it says at its end."""

    def __init__(self, said: dict[str, Any]) -> None:
        self.pids: dict[str, int] = {}
        self._said = said

    def stop(self) -> dict[str, Any]:
        return self._said


def test_a_run_whose_service_lost_its_records_is_cut_off(tmp_path: Path, service: str) -> None:
    why = "cannot write to /x/app.rec: No space left on device (os error 28); free space or choose another path"
    load = http_load([f"{service}/ok"], rate_per_s=50.0, duration_s=0.5, connections=4)
    with pytest.raises(StorageFull, match="cannot write to /x/app.rec: No space left on device"):
        execute(
            tmp_path / "run",
            load,
            what={"name": "x"},
            service=ServiceWhoseLogEnded({"middlewares": [{"lost_logs": [why]}]}),
        )
    assert json.loads((tmp_path / "run/manifest.json").read_text())["status"] == "cut off"
