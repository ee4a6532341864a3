"""`sojourn compare --service-urls` and `--commands` on this machine: services of known times in turn, and interrupted."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from machine import Command

pytestmark = pytest.mark.live
SERVICE = Path(__file__).parent / "services/queueing.py"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def urls() -> Iterator[list[str]]:
    """Four workers each, that wait 5 and 10 ms."""
    ports, processes = [free_port(), free_port()], []
    try:
        for port, mean_ms in zip(ports, ("5", "10"), strict=True):
            words = ["--port", str(port), "--workers", "4", "--sleep-ms", mean_ms]
            processes.append(subprocess.Popen([sys.executable, str(SERVICE), *words]))
        for port in ports:
            for _ in range(100):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.1)
        yield [f"http://127.0.0.1:{port}/" for port in ports]
    finally:
        for process in processes:
            process.terminate()
            process.wait()


@pytest.mark.alone
def test_a_service_that_takes_twice_as_long(tmp_path: Path, urls: list[str]) -> None:
    words = ["--rate", "120", "--for", "1s", "--blocks", "5", "--out", "out", "--json"]
    command = Command(tmp_path, "compare", "--service-urls", *urls, *words)
    assert command.end(120) == 7, command.said()
    found = json.loads(command.answered())
    assert found["verdict"] == "worse" and command.left() == []
    mean = next(one for one in found["metrics"] if one["metric"] == "mean")
    assert mean["low"] < 1.0 and mean["high"] > 0.5, "10 ms against 5 ms, and what both take beside them"
    assert "demand" in {one["metric"] for one in found["metrics"]}, "who listens there is watched"
    again = Command(tmp_path, "compare", "out", "--json")
    assert again.end() == 7 and json.loads(again.answered())["metrics"] == found["metrics"]


def test_commands_that_are_interrupted_are_ended(tmp_path: Path) -> None:
    command = Command(tmp_path, "compare", "--commands", "sleep 61", "sleep 61")
    command.wait_for(lambda: any(line.strip() == "sleep 61" for line in command.processes()))
    assert command.interrupt() == 130
    assert command.left() == []
