"""A run on a user's own program that is interrupted, or killed: nothing of the program is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine import OWN, heed_signals, made_by_labs, of_another, wait_for
from test_command_system import port, services

from sojourn.lab import cleanup_registry
from sojourn.lab.process_tree import alive, marked

pytestmark = pytest.mark.live
__all__ = ["port"]
SCRIPT = """
import sys
from test_command_system import run, system
try:
    run(system({port}, "--child", "--processes", "2", load={{"for": 30.0}}), Path({out!r}))
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.fixture
def running(tmp_path: Path, port: int, own_registries: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own that has a run going, and of which nothing is left in the end."""
    code = OWN + textwrap.dedent(SCRIPT.format(port=port, out=str(tmp_path)))
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, preexec_fn=heed_signals)
    try:
        wait_for(lambda: list(tmp_path.glob("*/requests.rec")) or process.poll() is not None)
        assert process.poll() is None and len(services(port)) >= 2
        yield process
    finally:
        process.kill()
        process.wait()
    assert [path for path in made_by_labs() if not of_another(Path(path), process.pid)] == []
    assert services(port) == []


def gone(port: int) -> bool:
    deadline = time.monotonic() + 30
    while services(port) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not services(port)


def test_interrupted_leaves_nothing(running: subprocess.Popen[bytes], port: int) -> None:
    running.send_signal(signal.SIGINT)
    assert running.wait(30) == 130
    assert services(port) == [] and sleepers() == []


def test_killed_leaves_nothing(running: subprocess.Popen[bytes], port: int) -> None:
    """The supervisor hears of it, and ends them; what was made of groups is removed by the next start."""
    marks = sleepers()
    assert marks
    running.kill()
    running.wait()
    assert gone(port)
    cleanup_registry.clean_stale()
    assert not any(alive(pid) for pid in marks)


def test_killed_with_its_keeper_leaves_nothing_after_the_next_start(
    running: subprocess.Popen[bytes], port: int
) -> None:
    supervisors = [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if f"sojourn.lab.worker_main\0command\0{running.pid}".encode() in path.read_bytes()
    ]
    left = sleepers()
    running.kill()
    for pid in supervisors:
        os.kill(pid, signal.SIGKILL)
    running.wait()
    assert left
    removed = cleanup_registry.clean_stale()
    assert any("process" in name for name in removed)
    assert gone(port) and not any(alive(pid) for pid in left)


def sleepers() -> list[int]:
    """Processes with the mark of a registry of this test."""
    found = []
    for book in cleanup_registry.directory().glob("lab-*.json"):
        found += marked(f"{cleanup_registry.MARK}={book.stem.removeprefix('lab-')}")
    return found
