"""A slow disk: what is refused and in which words, how long a request takes, and that nothing but itself is removed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sojourn.errors import InputError, LabError, PermissionLacking
from sojourn.lab import cleanup_registry, loop_disk, slow_disk, slow_file
from sojourn.lab.slow_file import SlowFile
from sojourn.units import byte_count


@pytest.fixture(autouse=True)
def registries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup_registry, "directory", lambda: tmp_path)


@pytest.mark.parametrize(
    ("text", "value"),
    [("20M", 20e6), ("20MB", 20e6), ("1.5G", 1.5e9), ("512Ki", 512 * 1024), ("1GiB", 2**30), ("3k", 3e3), ("2T", 2e12), ("7", 7.0)],
)  # fmt: skip
def test_bytes(text: str, value: float) -> None:
    assert byte_count(text, "--bytes-per-s") == value


@pytest.mark.parametrize("text", ["", "20 MB/s", "M", "-1M", "0", "nan", "inf", "20X", "1e999G"])
def test_bad_bytes_are_named(text: str) -> None:
    with pytest.raises(InputError, match="--bytes-per-s: .*give a number of bytes above 0 like 20M"):
        byte_count(text, "--bytes-per-s")


@pytest.mark.parametrize(
    ("bps", "size", "said"),
    [(1.0, 10**9, "--bytes-per-s: 1 bytes/s; give 10000 to "), (1e12, 10**9, "--bytes-per-s"), (None, 1000, "--size: 1000 bytes; give 8e"),
     (2e7, 10**13, "--size")],
)  # fmt: skip
def test_rates_and_sizes_out_of_range_are_refused(bps: float | None, size: int, said: str) -> None:
    with pytest.raises(InputError, match=said), slow_disk(bps, size):
        pass


def as_user(monkeypatch: pytest.MonkeyPatch, uid: int) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)


def programs(tmp_path: Path, *names: str) -> str:
    folder = tmp_path / "sbin"
    folder.mkdir()
    for name in names:
        (folder / name).touch(0o755)
    return str(folder)


def test_a_plain_user_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    as_user(monkeypatch, 1000)
    with pytest.raises(PermissionLacking, match="slow disk: user 1000 may not mount; run as root"):
        loop_disk.check_machine()


def test_a_missing_program_is_named_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_user(monkeypatch, 0)
    with pytest.raises(LabError, match="mkfs.ext4: no such command; install the package e2fsprogs"):
        loop_disk.check_machine(tmp_path, programs(tmp_path, "losetup", "mount", "umount"))


@pytest.mark.parametrize(
    ("there", "said"),
    [((), "loop-control: no such device; run: modprobe loop"), (("loop-control",), "fuse: no such device; run: modprobe fuse")],
)  # fmt: skip
def test_a_kernel_without_a_device_is_named(
    there: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_user(monkeypatch, 0)
    for name in there:
        (tmp_path / name).touch()
    with pytest.raises(LabError, match=said):
        loop_disk.check_machine(tmp_path, programs(tmp_path, *loop_disk.PACKAGES))


def test_no_room_is_told_with_both_sizes(tmp_path: Path) -> None:
    with pytest.raises(
        LabError,
        match=rf"{tmp_path}: 1e\+06 GB are requested, and 0.27 GB must stay free; .* GB are free; give a smaller",
    ):
        loop_disk.check_room(tmp_path, 10**15)


def test_mounts_are_found_without_looking_into_them(tmp_path: Path) -> None:
    """One whose server is gone answers nothing; and nobody else's are ours."""
    place = Path("/tmp/sojourn-disk-0123ab")
    points = [place / "slow", place / "files", place / "files/deeper", "/tmp/sojourn-disk-0123ac/files", "/"]
    table = tmp_path / "mountinfo"
    table.write_text("".join(f"36 35 98:0 / {point} rw,noatime - ext4 /dev/loop0 rw\n" for point in points))
    assert loop_disk.mounts(place, table) == [place / "files", place / "slow"]


class Clock:
    """Time that passes while somebody sleeps, and `late_s` more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, late_s: float = 0.0) -> None:
        self.now_s, self.late_s = 100.0, late_s
        monkeypatch.setattr(slow_file.time, "monotonic", lambda: self.now_s)
        monkeypatch.setattr(slow_file.time, "sleep", self.sleep)

    def sleep(self, wait_s: float) -> None:
        self.now_s += wait_s + self.late_s


def served(tmp_path: Path, rate: float) -> SlowFile:
    (tmp_path / "rate").write_bytes(slow_file.RATE.pack(rate))
    with open(tmp_path / "image", "w+b") as image, open("/dev/zero") as device:
        image.truncate(1 << 20)
        return SlowFile(os.dup(device.fileno()), os.dup(image.fileno()), tmp_path / "rate")


def write_request(size: int) -> memoryview:
    """As the kernel sends it, without the head: at 4096."""
    return memoryview(slow_file.TRANSFER.pack(0, 4096, size, 0, 0, 0, 0) + b"x" * size)


def test_a_request_takes_its_bytes_over_the_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, file = Clock(monkeypatch), served(tmp_path, 1e5)
    assert file._done(slow_file.WRITE, write_request(10_000), 100.0) == bytes([0x10, 0x27, 0, 0, 0, 0, 0, 0])
    assert clock.now_s == pytest.approx(100.1)
    assert (tmp_path / "image").read_bytes()[4096 : 4096 + 10_000] == b"x" * 10_000


def test_who_wakes_late_makes_no_slower_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of requests that wait, each begins when the one before it ended: 50 of 0.05 s take 2.5 s and one delay."""
    clock, file = Clock(monkeypatch, late_s=0.01), served(tmp_path, 1e5)
    for _ in range(50):
        file._take(5000, 100.0)
    assert clock.now_s == pytest.approx(102.5, abs=0.011)


def test_a_new_rate_holds_for_what_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, file = Clock(monkeypatch), served(tmp_path, 1e5)
    slept = clock.sleep

    def change(wait_s: float) -> None:
        slept(wait_s)
        (tmp_path / "rate").open("r+b").write(slow_file.RATE.pack(0.0))

    monkeypatch.setattr(slow_file.time, "sleep", change)
    file._take(10**9, 100.0)
    assert clock.now_s == pytest.approx(100.05)


@pytest.mark.parametrize(
    "name", ["sojourn-disk-0123a", "sojourn-disk-0123ab/files", "sojourn-disk-0123AB", "x", "sojourn-disk-0123ab/../sojourn-disk-0123ab"]
)  # fmt: skip
def test_other_folders_are_not_ours(name: str) -> None:
    assert not loop_disk.PLACE.fullmatch(f"/var/tmp/{name}")


def test_what_a_killed_start_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    """Killed before it was mounted; a file in `files` is somebody's, were the folder not ours or still mounted."""
    half, strange, other = tmp_path / "sojourn-disk-0123ab", tmp_path / "sojourn-disk-0123ac", tmp_path / "precious"
    for folder in (half, strange / "files", other):
        folder.mkdir(parents=True)
    (half / "image").touch()
    (strange / "files/precious").touch()
    path = tmp_path / "lab-0123ab.json"
    path.write_text(json.dumps({"pid": 1, "started": "0", "disks": [str(half), str(strange), str(other)]}))
    assert cleanup_registry.clean_stale() == [str(half)]
    assert not half.exists() and (strange / "files/precious").exists() and other.exists()
    assert path.exists(), "what resists stays listed"
