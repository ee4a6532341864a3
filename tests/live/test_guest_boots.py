"""Guests that boot: what they say, and that nothing of them is left however their maker ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sojourn.errors import LabError
from sojourn.lab.cleanup_registry import clean_stale
from sojourn.lab.guest import PREFIX, guest
from sojourn.lab.guest_command import GuestShape
from sojourn.lab.guest_parts import guest_parts
from sojourn.lab.guest_probe import probe_guest
from sojourn.lab.process_tree import wait_until

pytestmark = [pytest.mark.live, pytest.mark.alone, pytest.mark.lab]
PARTS = guest_parts()
BOOTS = """
import sys, time
from sojourn.lab.guest import guest
from sojourn.lab.guest_command import GuestShape
from sojourn.lab.guest_parts import guest_parts
with guest(guest_parts(), sys.argv[1], GuestShape()) as made:
    print(made.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture(params=["tcg", "uml"])
def way(request: pytest.FixtureRequest) -> str:
    if missing := PARTS.missing(request.param):
        pytest.skip(f"not installed: {', '.join(missing)}")
    return str(request.param)


def left() -> set[str]:
    """Processes of guests, and their folders."""
    names = {}
    for folder in Path("/proc").glob("[0-9]*/comm"):
        try:
            names[folder.parent.name] = folder.read_text().strip()
        except OSError:
            continue
    folders = {str(path) for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*")}
    return {pid for pid, name in names.items() if name.startswith(("qemu-system", "linux.uml"))} | folders


@pytest.fixture(autouse=True)
def as_before(way: str) -> None:
    assert way
    clean_stale()


def test_it_boots_and_says_what_it_has(way: str) -> None:
    before = left()
    looked = probe_guest(PARTS, way)
    assert looked.good, looked.finding
    assert looked.cpus == (1 if way == "uml" else 2) and len(looked.nics) == (0 if way == "uml" else 2)
    assert looked.boot_s and 0 < looked.boot_s < 60
    assert left() <= before


def test_one_that_stands_still_is_given_up(way: str) -> None:
    before = left()
    given_up = pytest.raises(LabError, match=r"was not ready within 3 s; .*sojourn lab vm --probe")
    with given_up, guest(PARTS, way, GuestShape(), script="while :; do $b sleep 9; done\n", ready_s=3):
        pass
    assert left() <= before


def test_one_that_is_frozen_is_ended(way: str) -> None:
    before = left()
    with guest(PARTS, way, GuestShape()) as made:
        os.kill(made.pid, signal.SIGSTOP)
    assert left() <= before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_its_maker_ends(way: str, number: signal.Signals) -> None:
    before = left()
    process = subprocess.Popen([sys.executable, "-c", BOOTS, way], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    pid = process.stdout.readline().strip()
    assert Path("/proc", pid).exists()
    process.send_signal(number)
    process.wait(30)
    assert wait_until(lambda: not {one for one in left() - before if one.isdigit()}, 10), (
        "its processes end by themselves"
    )
    clean_stale()
    with guest(PARTS, way, GuestShape()):
        pass
    assert left() <= before, "the next start removes the folder"


def test_many_starts_leave_nothing(way: str) -> None:
    before = left()
    for _ in range(20 if way == "uml" else 3):
        with guest(PARTS, way, GuestShape(), script="tell ready\n$b sleep 1000\n"):
            pass
    assert left() <= before
