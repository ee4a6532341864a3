"""Guests beside each other: joined by a link, their counters on one clock, programs and folders as files; nothing is booted here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sojourn.errors import InputError, LabError
from sojourn.lab.guest_command import LISTENS, GuestDisk, GuestShape, command
from sojourn.lab.guest_parts import GuestParts
from sojourn.lab.guest_programs import folder_files, program_files
from sojourn.lab.guest_samples import GuestSamples, merge_guests

PARTS = GuestParts(Path("/q"), Path("/k"), Path("/m"), Path("/u"), Path("/um"), Path("/b"))


def lines(path: Path, *samples: object, cut: str = "") -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in samples) + cut)
    return path


def test_a_link_joins_two_guests() -> None:
    """One listens at a socket beside its image, the other connects to it (qemu(1), -netdev stream); each has its own address and MAC."""
    listens, connects = GuestShape(ports=(), link=LISTENS), GuestShape(link="/t/link")
    one = command(PARTS, "tcg", listens, Path("/t/image"))
    other = command(PARTS, "tcg", connects, Path("/o/image"))
    nets = [json.loads(word) for words in (one, other) for word in words if word.startswith("{")]
    sockets = [{"type": "unix", "path": "/t/link"}] * 2
    assert [net["addr"] for net in nets] == sockets and [net["server"] for net in nets] == [True, False]
    macs = [word.partition("mac=")[2] for words in (one, other) for word in words if "netdev=link" in word]
    assert len(set(macs)) == 2
    with pytest.raises(InputError, match="a link"):
        connects.check("uml")


def test_a_disk_goes_past_the_hosts_cache_or_through_it() -> None:
    """qemu(1): cache.direct bypasses the page cache, and aio=native needs it; an IOThread is an object that the device names."""
    shape = GuestShape(disks=("/d/plain", GuestDisk("/d/own", 2, cached=True, own_thread=True)))
    words = command(PARTS, "tcg", shape, Path("/t/image"))
    plain, own = (json.loads(word) for word in words if word.startswith("{"))
    assert (plain["file"]["filename"], plain["cache"]["direct"], plain["file"]["aio"]) == ("/d/plain", True, "native")
    assert (own["file"]["filename"], own["cache"]["direct"], own["file"]["aio"]) == ("/d/own", False, "threads")
    assert "iothread,id=thread1" in words and "virtio-blk-pci,drive=disk0,num-queues=1" in words
    assert "virtio-blk-pci,drive=disk1,num-queues=2,iothread=thread1" in words


def test_guests_beside_each_other_are_on_the_clock_of_the_host(tmp_path: Path) -> None:
    """The second guest's clock is 10 s behind, so both are known from 100.5 s on; the first is late with its third sample, and its counter
    grows by 1 a second all the while, the second's by 2, and the host's by 1 from 7 at 99.0 s. What a guest was told that it was not
    given is no state of its cores, and which core a thread was on is no counter."""
    head = {"format": "sojourn-host", "cores": [0]}
    first = lines(
        tmp_path / "a", head, *({"t_s": t, "cpu": {"0": {"user": t, "steal": 1}}} for t in (99.0, 100.0, 101.0, 103.5))
    )
    second = lines(
        tmp_path / "b", head, *({"t_s": t, "cpu": {"0": {"user": u, "steal": u}}} for t, u in ((90.5, 3), (91.5, 5))),
        cut='{"t_s": 9',
    )  # fmt: skip
    inside = {"threads": {"7": {"run_s": 1, "core": 3}}}
    host = lines(
        tmp_path / "h", head,
        *({"t_s": t, "cpu": {"0": {"user": u}}, "procs": {"7": {"run_s": 2.0, **inside}}} for t, u in ((99.0, 7), (103.0, 11))),
    )  # fmt: skip
    beside = [{"t_s": t, "guest_threads": {"x": {"run_s": r}}} for t, r in ((100.5, 1.0), (101.5, 2.0))]
    of = [GuestSamples(first, 0.0, 0), GuestSamples(second, 10.0, 1)]
    assert merge_guests(of, host, beside, tmp_path / "o") == 2
    told, *both = map(json.loads, (tmp_path / "o").read_text().splitlines())
    assert told["cores"] == [0, 1] and [one["t_s"] for one in both] == [100.5, 101.5]
    assert both[1] == {
        "t_s": 101.5, "cpu": {"0": {"user": 101.5}, "1": {"user": 5.0}}, "told_steal": {"0": 1, "1": 5.0},
        "host_cpu": {"0": {"user": 9.5}}, "procs": {"7": {"run_s": 2.0}}, "guest_threads": {"x": {"run_s": 2.0}},
    }  # fmt: skip
    assert merge_guests([of[0], GuestSamples(second, 900.0, 1)], host, [], tmp_path / "o") == 0


def test_a_program_goes_with_its_libraries(tmp_path: Path) -> None:
    """ldd(1) names libc and the linker of every dynamic program; a script has none of its own."""
    found = program_files(Path(sys.executable).resolve())
    assert any(name.endswith("libc.so.6") for name in found) and any("ld-linux" in name for name in found)
    (tmp_path / "no program").write_text("text")
    with pytest.raises(LabError, match="install the package that has it"):
        program_files(tmp_path / "no program")


def test_a_folder_is_copied_with_its_empty_folders(tmp_path: Path) -> None:
    (tmp_path / "data/empty").mkdir(parents=True)
    (tmp_path / "data/base").mkdir()
    (tmp_path / "data/base/1").write_bytes(b"x")
    files, empty = folder_files(tmp_path / "data", Path("/there"))
    assert files == {"there/base/1": (b"x", 0o600)} and empty == ["/there", "/there/empty"]
