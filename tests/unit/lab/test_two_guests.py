"""Guests beside each other: joined by a link, their counters on one clock, programs and folders as files; nothing is booted here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sojourn.errors import InputError, LabError
from sojourn.lab.guest_command import LISTENS, GuestShape, command
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


def test_guests_beside_each_other_are_on_the_clock_of_the_host(tmp_path: Path) -> None:
    """The second guest's clock is 10 s behind and its samples lie between those of the first: at 101.0 s its counter, which grows by 2
    a second, is halfway from 3 to 5. What it was told that it was not given is no state of its cores."""
    head = {"format": "sojourn-host", "cores": [0]}
    first = lines(
        tmp_path / "a", head, *({"t_s": t, "cpu": {"0": {"user": t, "steal": 1}}} for t in (100.0, 101.0, 102.0))
    )
    second = lines(tmp_path / "b", head, *({"t_s": t, "cpu": {"0": {"user": u, "steal": u}}} for t, u in ((90.5, 3), (91.5, 5))),
                   cut='{"t_s": 9')  # fmt: skip
    host = lines(
        tmp_path / "h",
        head,
        {"t_s": 99.0, "cpu": {"0": {"user": 7}}, "procs": {"7": {"run_s": 1}}},
        {"t_s": 103.0, "cpu": {}},
    )
    beside = [{"t_s": 100.5, "guest_threads": {"x": {"run_s": 1.0}}}]
    of = [GuestSamples(first, 0.0, 0), GuestSamples(second, 10.0, 1)]
    assert merge_guests(of, host, beside, tmp_path / "o") == 1
    told, *samples = map(json.loads, (tmp_path / "o").read_text().splitlines())
    assert told["cores"] == [0, 1]
    both = next(one for one in samples if "cpu" in one)
    assert both["t_s"] == 101.0 and both["cpu"] == {"0": {"user": 101.0}, "1": {"user": 4.0}}
    assert both["told_steal"] == {"0": 1, "1": 4.0}
    assert samples[0]["host_cpu"] == {"0": {"user": 7}} and beside[0] in samples
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
