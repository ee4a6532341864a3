"""What a user can get wrong, and what a service can: one message with value, place and remedy, its exit code, no trace."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from machine import Command, tiny_study

pytestmark = pytest.mark.live
LOAD = ("--rate", "100", "--duration", "1s")


def one_message(command: Command, code: int, *parts: str) -> None:
    """The command ended with `code`, said one line of ours with all `parts`, and left nothing."""
    assert command.end() == code, command.said()
    ours = [line for line in command.said().splitlines() if line.startswith("sojourn: ")]
    assert len(ours) == 1 and "Traceback" not in command.said(), command.said()
    assert all(part in ours[0] for part in parts), ours[0]
    assert command.left() == []


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize("verb", ["load", "measure"])
def test_no_such_host(tmp_path: Path, verb: str) -> None:
    length = ("--duration", "1s") if verb == "load" else ("--for", "1s")
    command = Command(tmp_path, verb, "http://no-such-host.invalid/", "--rate", "10", *length, "--out", "a/run")
    one_message(
        command, 5, "http://no-such-host.invalid/", "no address for host no-such-host.invalid", "check the name"
    )
    assert not (tmp_path / "a").exists(), "nothing was measured, so nothing is kept, not even the parent"


def test_refused(tmp_path: Path) -> None:
    port = closed_port()
    command = Command(tmp_path, "load", f"http://127.0.0.1:{port}/", *LOAD, "--out", "run")
    one_message(command, 5, f"nothing listens at 127.0.0.1:{port}", "start the service or check the port")
    assert not (tmp_path / "run").exists()


def test_a_url_that_answers_500(tmp_path: Path, service: str) -> None:
    command = Command(tmp_path, "load", f"{service}/broken", *LOAD, "--json")
    one_message(command, 5, "requests after the warm-up failed (HTTP 500: ", "see the failures above")
    summary = json.loads(command.answered(), parse_constant=pytest.fail)
    assert summary["ok"] == 0 and summary["failures"] == {"status": summary["failed"]}
    assert summary["latency"]["from_intended"]["to_done"]["count"] == 0, "failures are no latencies of successes"


def test_a_service_that_answers(tmp_path: Path, service: str) -> None:
    command = Command(tmp_path, "load", f"{service}/ok", *LOAD, "--json")
    assert command.end() in (0, 3), command.said()  # 3: this machine was busy with something else
    summary = json.loads(command.answered(), parse_constant=pytest.fail)
    assert summary["ok"] == summary["requested"] > 0 and summary["status"] == "complete"
    assert command.left() == [], "without --out the run folder was temporary"


def test_a_run_folder_is_never_written_over(tmp_path: Path, service: str) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/mine.txt").write_text("mine")
    one_message(Command(tmp_path, "load", f"{service}/ok", *LOAD, "--out", "kept"), 2, "kept", "the folder exists")
    assert (tmp_path / "kept/mine.txt").read_text() == "mine"


def test_a_port_that_is_taken(tmp_path: Path, service: str) -> None:
    port = service.rpartition(":")[2]
    one_message(Command(tmp_path, "serve", "web", "--port", port), 5, f"port {port} is taken", "choose --port")


def test_an_out_that_holds_something_else(tmp_path: Path) -> None:
    study = tiny_study(tmp_path)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/thesis.tex").write_text("")
    one_message(Command(tmp_path, "study", study, "--out", "precious"), 2, "precious", "holds no study", "--out")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/study.json").write_text('{"fingerprint": "0"}')
    one_message(Command(tmp_path, "study", study, "--out", "other"), 2, "other", "another study", "--out")
    assert [p.name for p in (tmp_path / "precious").iterdir()] == ["thesis.tex"]


def test_an_out_that_cannot_be_written(open_folder: Path, service: str) -> None:
    study = Command(open_folder, "study", tiny_study(open_folder), "--out", "/proc/x", plain=True)
    one_message(study, 2, "/proc/x", "can write to")
    load = Command(open_folder, "load", f"{service}/ok", *LOAD, "--out", "/proc/x", plain=True)
    one_message(load, 2, "/proc/x", "can write to")


def test_two_measurements_at_once(tmp_path: Path, service: str) -> None:
    first = Command(tmp_path, "measure", f"{service}/ok", "--rate", "50", "--for", "20s", "--out", "first")
    try:
        first.wait_for((tmp_path / "first/rate-50/requests.rec").exists)
        second = Command(tmp_path, "measure", f"{service}/ok", "--rate", "50", "--for", "1s", "--out", "second")
        one_message(second, 4, f"process {first.process.pid}", "wait for it (--wait 10m) or stop it")
        third = Command(tmp_path, "study", tiny_study(tmp_path), "--out", "third")
        one_message(third, 4, "study tiny: another measurement is running", f"process {first.process.pid}")
        assert not (tmp_path / "second").exists() and not (tmp_path / "third").exists()
    finally:
        assert first.interrupt() == 130


@pytest.mark.lab
def test_two_measurements_at_once_of_two_users(tmp_path: Path, service: str) -> None:
    """Each user has a registry of their own; the machine is one."""
    first = Command(tmp_path, "measure", f"{service}/ok", "--rate", "50", "--for", "20s", "--out", "first")
    try:
        first.wait_for((tmp_path / "first/rate-50/requests.rec").exists)
        arguments = ("measure", f"{service}/ok", "--rate", "50", "--for", "1s", "--out", "second")
        second = Command(tmp_path, *arguments, plain=True)
        one_message(second, 4, f"process {first.process.pid} of user 0", "wait for it (--wait 10m) or stop it")
    finally:
        assert first.interrupt() == 130
