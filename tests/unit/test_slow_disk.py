"""A slow disk: what is refused and in which words, where its limit is written, and that nothing but itself is removed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sojourn.errors import InputError, LabError, PermissionLacking
from sojourn.lab import cgroups, cleanup_registry, loop_disk, slow_disk
from sojourn.lab.cleanup_registry import CleanupRegistry
from sojourn.units import byte_count


@pytest.fixture(autouse=True)
def registries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup_registry, "directory", lambda: tmp_path)


@pytest.mark.parametrize(
    ("text", "value"),
    [("20M", 20e6), ("20MB", 20e6), ("1.5G", 1.5e9), ("512Ki", 512 * 1024), ("1GiB", 2**30), ("3k", 3e3), ("2T", 2e12), ("7", 7.0)],
)  # fmt: skip
def test_bytes(text: str, value: float) -> None:
    assert byte_count(text, "--bps") == value


@pytest.mark.parametrize("text", ["", "20 MB/s", "M", "-1M", "0", "nan", "inf", "20X", "1e999G"])
def test_bad_bytes_are_named(text: str) -> None:
    with pytest.raises(InputError, match="--bps: .*give a number of bytes above 0 like 20M"):
        byte_count(text, "--bps")


@pytest.mark.parametrize(
    ("bps", "size", "said"),
    [(1.0, 10**9, "--bps: 1 bytes/s; give 10000 to "), (1e12, 10**9, "--bps"), (None, 1000, "--size: 1000 bytes; give 8e"),
     (2e7, 10**13, "--size")],
)  # fmt: skip
def test_rates_and_sizes_out_of_range_are_refused(bps: float | None, size: int, said: str) -> None:
    with pytest.raises(InputError, match=said), slow_disk.slow_disk(bps, size):
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


def test_a_kernel_without_loop_devices_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_user(monkeypatch, 0)
    with pytest.raises(LabError, match="loop-control: no loop devices; run: modprobe loop"):
        loop_disk.check_machine(tmp_path, programs(tmp_path, *loop_disk.PACKAGES))


def block(tmp_path: Path, device: int, partition: bool) -> Path:
    """A machine's /sys/dev/block with a disk 8:0, and perhaps its partition, that has the files."""
    own = tmp_path / "devices/sda" / ("sda1" if partition else "")
    own.mkdir(parents=True)
    (tmp_path / "devices/sda/dev").write_text("8:0\n")
    if partition:
        (own / "partition").write_text("1\n")
        (own / "dev").write_text("8:1\n")
    links = tmp_path / "block"
    links.mkdir()
    (links / f"{os.major(device)}:{os.minor(device)}").symlink_to(own)
    return links


@pytest.mark.parametrize("partition", [False, True])
def test_the_disk_below_is_the_whole_one(tmp_path: Path, partition: bool) -> None:
    """Control groups refuse the number of a partition."""
    assert loop_disk.disk_below(tmp_path, block(tmp_path, tmp_path.stat().st_dev, partition)) == "8:0"


def test_a_folder_on_no_disk_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=f"{tmp_path}: it is on no disk .*give --at a folder on a disk"):
        loop_disk.disk_below(tmp_path, tmp_path / "empty")


def test_no_room_is_told_with_both_sizes(tmp_path: Path) -> None:
    with pytest.raises(
        LabError, match=rf"{tmp_path}: 1e\+06 GB wanted, and 0.27 GB beside it; .* GB are free; give a smaller"
    ):
        loop_disk.check_room(tmp_path, 10**15)


def test_the_limit_of_version_1_is_two_files(tmp_path: Path) -> None:
    for way in slow_disk.WAYS:
        (tmp_path / f"blkio.throttle.{way}_bps_device").touch()
    slow_disk.set_rate(tmp_path, "254:0", 20e6)
    assert (tmp_path / "blkio.throttle.write_bps_device").read_text() == "254:0 20000000"
    assert (tmp_path / "blkio.throttle.read_bps_device").read_text() == "254:0 20000000"


@pytest.mark.parametrize(
    ("bps", "line"), [(20e6, "254:0 rbps=20000000 wbps=20000000"), (None, "254:0 rbps=max wbps=max")]
)
def test_the_limit_of_version_2_is_a_line(tmp_path: Path, bps: float | None, line: str) -> None:
    (tmp_path / "io.max").touch()
    slow_disk.set_rate(tmp_path, "254:0", bps)
    assert (tmp_path / "io.max").read_text() == line


def test_a_kernel_that_limits_no_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "group_parents", lambda listed, controller: [tmp_path])
    monkeypatch.setattr(loop_disk, "check_machine", lambda: None)
    monkeypatch.setattr(loop_disk, "disk_below", lambda folder: "8:0")
    with pytest.raises(
        LabError, match="no control group with a rate of a disk .*use a kernel with the blkio controller, as root"
    ):
        slow_disk.SlowDisk.make(CleanupRegistry("0123ab"), "0123ab", 1e6, 10**8, tmp_path)
    assert not list(tmp_path.glob("sojourn-*"))


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
