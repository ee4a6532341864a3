"""Guests that boot: what they say, and that nothing of them is left however their maker ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import pytest

from sojourn.errors import LabError
from sojourn.lab.cleanup_registry import clean_stale
from sojourn.lab.guest import PREFIX, Guest, guest
from sojourn.lab.guest_command import GuestShape
from sojourn.lab.guest_parts import guest_parts
from sojourn.lab.guest_probe import probe_guest
from sojourn.lab.namespaces import in_namespace
from sojourn.lab.process_tree import wait_until
from sojourn.lab.worker_in_guest import guest_worker

pytestmark = [pytest.mark.live, pytest.mark.lab]
PARTS = guest_parts()
BOOTS = """
import sys, time
from sojourn.lab.guest import guest
from sojourn.lab.guest_command import GuestShape
from sojourn.lab.guest_parts import guest_parts
with guest(guest_parts(), sys.argv[1], GuestShape(), script="tell ready\\n$b sleep 1000\\n", modules=()) as made:
    print(made.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture(params=["tcg", "uml"])
def way(request: pytest.FixtureRequest) -> str:
    if missing := PARTS.missing(request.param):
        pytest.skip(f"not installed: {', '.join(missing)}")
    return str(request.param)


def left() -> set[str]:
    """Processes of this test's guests, and their folders."""
    own = str(Path(tempfile.gettempdir(), PREFIX))
    pids = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it ended meanwhile
            if f"\0HOME={own}".encode() in b"\0" + path.read_bytes():
                pids.add(path.parent.name)
    return pids | {str(path) for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*")}


@contextmanager
def bare_guest(way: str) -> Iterator[Guest]:
    """One that loads no modules and does nothing."""
    before = left()
    with guest(PARTS, way, GuestShape(), script="tell ready\n$b sleep 1000\n", modules=()) as made:
        assert {str(made.pid), str(made.console.parent.parent)} <= left() - before
        yield made


@pytest.fixture(autouse=True)
def as_before(way: str, open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its guests have their folders in a place of its own: a test beside it may have guests, too."""
    assert way
    monkeypatch.setattr(tempfile, "tempdir", str(open_folder))
    monkeypatch.setenv("TMPDIR", str(open_folder))
    clean_stale()


def test_it_boots_and_says_what_it_has(way: str) -> None:
    before = left()
    looked = probe_guest(PARTS, way)
    assert looked.boots, looked.finding
    assert looked.cpus == (1 if way == "uml" else 2) and len(looked.nics) == (0 if way == "uml" else 2)
    assert looked.boot_s and 0 < looked.boot_s < 60
    assert left() <= before


def test_one_that_stands_still_is_given_up(way: str) -> None:
    before = left()
    given_up = pytest.raises(LabError, match=r"was not ready within 3 s; .*sojourn lab vm --boot-guests")
    with given_up, guest(PARTS, way, GuestShape(), script="while :; do $b sleep 9; done\n", ready_s=3, modules=()):
        pass
    assert left() <= before


def test_one_that_is_frozen_is_ended(way: str) -> None:
    before = left()
    with bare_guest(way) as made:
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
    with bare_guest(way):
        pass
    assert left() <= before, "the next start removes the folder"


def test_many_starts_leave_nothing(way: str) -> None:
    before = left()
    for _ in range(10 if way == "uml" else 3):
        with bare_guest(way):
            pass
    assert left() <= before


PORT = 18090
LINES = 3  # of a NIC: configuration, in, out
WEB = {
    "listen": ["10.0.1.15:80", "10.0.2.15:80"], "cores": [0, 1], "leading": [0, 1], "page_bytes": 1024, "demand": None, "seed": 1,
}  # fmt: skip


def test_a_service_in_a_guest_is_asked_through_its_nics(way: str) -> None:
    """Each page is a packet in at least, and each NIC's interrupts are counted by the virtual CPU that they were given to."""
    if way == "uml":
        pytest.skip("user-mode-linux has no virtio ports")
    before, shape = left(), GuestShape(cpus=2, memory_mib=384, ports=[PORT, PORT + 1])
    config = {"network": None, "web": WEB}
    with guest_worker(
        PARTS, way, shape, "sojourn_cases.worker_kinds:web", config, cores=[0], interrupt_cores=[0, 1]
    ) as made:
        counted = made.interrupts()
        for _ in range(20):
            with urlopen(f"http://127.0.0.1:{PORT + 1}/item/7", timeout=20) as answer:
                assert len(answer.read()) == 1024
        after = made.interrupts()
        grown = [now - then for now, then in zip(after["eth1"], counted["eth1"], strict=True)]
        assert grown[1] >= 20 and grown[0] <= LINES, "a line is moved when it is next raised"
        offset_s, error_s = made.clock_offset_s()
        assert error_s < 1.0 and offset_s > 0
        assert set(made.cpu_s()) == {"CPU 0", "CPU 1", "others"}
        assert made.stop()["requests"] == 20
        head, first = [json.loads(line) for line in made.samples.read_text().splitlines()[:2]]
        assert head["cores"] == [0, 1] and set(first["cpu"]) == {"0", "1"}
    assert left() <= before


def test_queues_of_a_nic_have_a_core_each(way: str) -> None:
    """On a network of the lab: what is served on a virtual CPU comes in by its queue."""
    if way == "uml":
        pytest.skip("user-mode-linux has no virtio ports")
    before, shape = left(), GuestShape(cpus=2, memory_mib=384, queues=2)
    web = {**WEB, "listen": ["10.0.1.15:80"], "leading": [0]}
    config = {"network": None, "web": web}
    with guest_worker(
        PARTS, way, shape, "sojourn_cases.worker_kinds:web", config, cores=[0], interrupt_cores=[0]
    ) as made:
        counted = made.interrupts()["eth0"]

        def ask() -> None:
            for _ in range(40):
                with urlopen("http://10.0.1.15/item/7", timeout=20) as answer:
                    assert len(answer.read()) == 1024

        in_namespace(made.guest.network, ask)
        assert made.guest.network
        assert all(now - then >= 10 for now, then in zip(made.interrupts()["eth0"], counted, strict=True))
    assert left() <= before and not Path(made.guest.network).exists()
