"""Guests: what is found installed, what their archive holds, how they are booted, what they say; nothing is booted here."""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import struct
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from sojourn.errors import InputError, LabError, StorageFull
from sojourn.lab import cleanup_registry
from sojourn.lab import guest as guests
from sojourn.lab.doctor import guest_packages
from sojourn.lab.guest import Guest, guest, said
from sojourn.lab.guest_command import GuestShape, command
from sojourn.lab.guest_image import PROBE, READY, START, archive, image, load_order
from sojourn.lab.guest_parts import GuestParts, guest_parts, is_static
from sojourn.lab.guest_probe import found, probe_guest

NOTHING = GuestParts(None, None, None, None, None, None)
EVERYTHING = GuestParts(
    Path("/usr/bin/qemu"), Path("/boot/vmlinuz"), Path("/lib/modules/6"), Path("/usr/bin/linux.uml"), Path("/u/6"),
    Path("/bin/busybox"),
)  # fmt: skip
# depmod(8): a module, a colon, those that it needs; the last one is to be loaded first
DEPENDENCIES = """kernel/drivers/virtio/virtio.ko: kernel/drivers/virtio/virtio_ring.ko
kernel/drivers/virtio/virtio_ring.ko:
kernel/drivers/net/virtio_net.ko: kernel/net/failover.ko kernel/drivers/virtio/virtio.ko kernel/drivers/virtio/virtio_ring.ko
kernel/net/failover.ko:
kernel/drivers/char/hw_random/virtio-rng.ko: kernel/drivers/virtio/virtio.ko kernel/drivers/virtio/virtio_ring.ko
"""


@pytest.fixture(autouse=True)
def registries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup_registry, "directory", lambda: tmp_path)


def entries(cpio: bytes) -> dict[str, tuple[int, bytes]]:
    """A reader of its own, after Documentation/driver-api/early-userspace/buffer-format.rst: path → mode and content."""
    at, read = 0, {}
    while True:
        assert cpio[at : at + 6] == b"070701"
        numbers = [int(cpio[at + 6 + 8 * k : at + 14 + 8 * k], 16) for k in range(13)]
        mode, size, name_size = numbers[1], numbers[6], numbers[11]
        name = cpio[at + 110 : at + 110 + name_size - 1].decode()
        begin = (at + 110 + name_size + 3) // 4 * 4
        if name == "TRAILER!!!":
            return read
        read[name] = (mode, cpio[begin : begin + size])
        at = (begin + size + 3) // 4 * 4


def test_an_archive_has_its_files_and_their_folders() -> None:
    read = entries(archive({"init": (b"#!x\n", 0o755), "a/b/c": (b"12345", 0o644), "empty": (b"", 0o600)}))
    assert list(read) == ["a", "a/b", "init", "a/b/c", "empty"], "a folder is made before what is in it"
    assert read["init"] == (stat.S_IFREG | 0o755, b"#!x\n") and read["a/b/c"] == (stat.S_IFREG | 0o644, b"12345")
    assert read["a/b"] == (stat.S_IFDIR | 0o755, b"") and read["empty"][1] == b""


@pytest.mark.skipif(shutil.which("busybox") is None, reason="needs busybox")
def test_another_program_unpacks_it(tmp_path: Path) -> None:
    content = archive({"deep/er/one": (b"abc", 0o640), "two": (bytes(range(256)), 0o755)})
    subprocess.run(["busybox", "cpio", "-id"], input=content, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "deep/er/one").read_bytes() == b"abc" and (tmp_path / "two").read_bytes() == bytes(range(256))
    assert stat.S_IMODE((tmp_path / "deep/er/one").stat().st_mode) == 0o640


def test_modules_come_after_those_that_they_need() -> None:
    order = [Path(path).stem for path in load_order(DEPENDENCIES, ["virtio_net", "virtio_rng", "not_there"])]
    assert order == ["virtio_ring", "virtio", "failover", "virtio_net", "virtio-rng"]


def test_an_image_holds_the_shell_the_modules_and_the_script(tmp_path: Path) -> None:
    folder = tmp_path / "modules"
    for line in DEPENDENCIES.splitlines():
        path = folder / line.partition(":")[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(path.name.encode())
    ring = folder / "kernel/drivers/virtio/virtio_ring.ko"
    ring.with_suffix(".ko.xz").write_bytes(lzma.compress(b"unpacked"))
    (folder / "modules.dep").write_text(DEPENDENCIES.replace("virtio_ring.ko", "virtio_ring.ko.xz"))
    (tmp_path / "busybox").write_bytes(b"shell")
    parts = GuestParts(None, None, folder, None, None, tmp_path / "busybox")
    read = entries(image(parts, "tcg", files={"bin/service": (b"s", 0o755)}))
    assert read["bin/busybox"] == (stat.S_IFREG | 0o755, b"shell") and read["bin/service"][1] == b"s"
    assert read["init"][1].decode() == START + PROBE
    listed = read["modules"][1].decode().split()
    assert listed == [f"/modules.d/{name}.ko" for name in ("virtio_ring", "virtio", "failover", "virtio_net")]
    assert read["modules.d/virtio_ring.ko"][1] == b"unpacked"
    assert "modules.d/virtio_net.ko" not in entries(image(parts, "uml"))


def elf(*types: int) -> bytes:
    """Of 64 bits, its program headers right behind the head (elf(5))."""
    head = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 64, 0, 0, 64, 56, len(types), 0, 0, 0)
    )
    return head + b"".join(struct.pack("<I52x", kind) for kind in types)


def test_a_static_program_asks_for_no_linker(tmp_path: Path) -> None:
    one = tmp_path / "one"
    for content, static in ((elf(1, 2), True), (elf(6, 3, 1), False), (b"#!/bin/sh\n", False), (b"", False)):
        one.write_bytes(content)
        assert is_static(one) == static


def installed(root: Path, *versions: str, modules: bool = True) -> None:
    for version in versions:
        (root / "boot").mkdir(exist_ok=True)
        (root / f"boot/vmlinuz-{version}").touch()
        (root / f"lib/modules/{version}").mkdir(parents=True)
        if modules:
            (root / f"lib/modules/{version}/modules.dep").touch()


def test_the_newest_kernel_for_virtual_machines_is_taken(tmp_path: Path) -> None:
    installed(tmp_path, "6.1.0-9-cloud-amd64", "6.1.0-12-cloud-amd64", "6.12.1-amd64")
    installed(tmp_path, "6.1.0-99-cloud-amd64", modules=False)
    assert guest_parts(tmp_path, str(tmp_path)).kernel == tmp_path / "boot/vmlinuz-6.1.0-12-cloud-amd64"


def test_missing_packages_are_named(tmp_path: Path) -> None:
    empty = guest_parts(tmp_path, str(tmp_path))
    assert empty == NOTHING
    assert empty.missing("tcg") == ["qemu-system-x86", "linux-image-cloud-amd64", "busybox-static"]
    assert empty.missing("uml") == ["user-mode-linux", "busybox-static"]
    with pytest.raises(
        LabError, match="lab vm: user-mode-linux lacks user-mode-linux, busybox-static; run: apt-get install"
    ):
        empty.check("uml")
    with pytest.raises(InputError, match="lab vm: xen; give one of kvm, tcg, uml"):
        EVERYTHING.check("xen")
    looked = probe_guest(empty, "tcg")
    assert not looked.boots and "lacks qemu-system-x86" in looked.finding and "apt-get install" in looked.remedy
    assert not guest_packages(empty).works and guest_packages(EVERYTHING).works


def test_without_the_device_there_is_no_kvm(tmp_path: Path) -> None:
    looked = probe_guest(EVERYTHING, "kvm", tmp_path)
    assert (looked.boots, looked.finding) == (False, "no /dev/kvm")


def test_a_command_line_of_qemu() -> None:
    words = command(EVERYTHING, "tcg", GuestShape(cpus=2, memory_mib=128, ports=(8081, None)), Path("/t/image"))
    assert words[0] == "/usr/bin/qemu" and "-nodefaults" in words

    def of(option: str) -> list[str]:
        return [value for name, value in pairwise(words) if name == option]

    assert (of("-accel"), of("-smp"), of("-m"), of("-initrd")) == (["tcg,thread=multi"], ["2"], ["128"], ["/t/image"])
    first, second = of("-netdev")
    assert "restrict=on" in first and "hostfwd=tcp:127.0.0.1:8081-10.0.1.15:80" in first
    assert "restrict=on" in second and "hostfwd" not in second
    assert len(of("-device")) == 2 and all("virtio-net-pci" in device for device in of("-device"))
    assert "spawn=deny" in of("-sandbox")[0]
    assert "kvm" in command(EVERYTHING, "kvm", GuestShape(), Path("/t/image"))


def test_root_gives_user_mode_linux_no_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    words = command(EVERYTHING, "uml", GuestShape(), Path("/t/image"))
    assert words[0] == "unshare" and "--kill-child=SIGKILL" in words and "--reuid=65534" in words
    assert words.index("/usr/bin/linux.uml") > words.index("setpriv") and "initrd=/t/image" in words
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert command(EVERYTHING, "uml", GuestShape(), Path("/t/image"))[0] == "/usr/bin/linux.uml"


@pytest.mark.parametrize(
    ("shape", "way", "message"),
    [
        (GuestShape(cpus=0), "tcg", "lab vm: 0 CPUs; give 1 to 16"),
        (GuestShape(cpus=2), "uml", "lab vm: 2 CPUs; user-mode-linux has one CPU"),
        (GuestShape(memory_mib=1), "tcg", "lab vm: 1 MiB; give 128 to 65536"),
        (GuestShape(ports=(None,) * 5), "kvm", "lab vm: 5 NICs; give 0 to 4"),
    ],
)
def test_shapes_that_no_guest_has_are_refused(shape: GuestShape, way: str, message: str) -> None:
    with pytest.raises(InputError, match=message), guest(EVERYTHING, way, shape):
        pass


CONSOLE = f"""Probing EDD (edd=off to disable)... ok
sojourn: booted 1.50\r
[    1.9] a kernel's line sojourn: refused /modules.d/nfsd.ko
sojourn: refused /modules.d/other.ko
sojourn: kernel 6.1.0-56-cloud-amd64
sojourn: cpus 2
sojourn: nics eth0 eth1
sojourn: filesystems sysfs nfs4 ext4 nfs
sojourn: begins 3.00
sojourn: ends 4.20
{READY} 4.30
sojourn:
"""


def test_what_a_guest_says() -> None:
    words = said(CONSOLE)
    assert words["booted"] == ["1.50"] and words["nics"] == ["eth0", "eth1"] and words["ready"] == ["4.30"]
    assert words["refused"] == ["/modules.d/nfsd.ko", "/modules.d/other.ko"]


def test_what_the_probe_makes_of_it(tmp_path: Path) -> None:
    """The loop took 1.2 s there and 0.1 s here; ready after 6 s on the host's clock, 2.8 s after it had booted."""
    (tmp_path / "console").write_text(CONSOLE)
    one = found(Guest("tcg", 1, tmp_path / "console", 6.0), 0.1)
    assert one.boot_s == pytest.approx(3.2) and one.slowdown == pytest.approx(12.0)
    assert (one.cpus, one.nics, one.kernel_nfs_support) == (2, ("eth0", "eth1"), ("nfs", "nfs4"))
    assert (
        one.finding
        == "boots in 3.2 s; a loop takes 12.0 times as long as here; Linux 6.1.0-56-cloud-amd64, 2 CPUs, 2 NICs"
    )


def stand_in(tmp_path: Path, script: str) -> GuestParts:
    """A program in the place of user-mode-linux, and a folder of no modules."""
    (tmp_path / "modules.dep").touch()
    program = tmp_path / "stand-in"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return GuestParts(None, None, None, program, tmp_path, Path(shutil.which("sh") or "/bin/sh"))


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No namespace, no other user: what stands in lies in a folder that is this user's alone."""
    monkeypatch.setattr("sojourn.lab.guest_command.os.geteuid", lambda: 1000)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo panic; exit 3", r"user-mode-linux: it ended with 3; its last words: panic; try another kind"),
        (
            "echo hello; exec sleep 60",
            r"user-mode-linux: it was not ready within 0.5 s; its last words: hello; try another kind",
        ),
        ("exec sleep 60", r"it was not ready within 0.5 s; it said nothing; try another kind"),
    ],
)
def test_one_that_ends_or_freezes_is_one_error_and_gone(tmp_path: Path, script: str, message: str) -> None:
    parts = stand_in(tmp_path, f"echo $$ > {tmp_path}/pid; {script}")
    with pytest.raises(LabError, match=message), guest(parts, "uml", GuestShape(), ready_s=0.5):
        pass
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()
    assert not list(tmp_path.glob("lab-*.json"))


@pytest.mark.usefixtures("plain")
def test_one_that_is_ready_is_there_and_then_gone(tmp_path: Path) -> None:
    parts = stand_in(tmp_path, f"echo '{READY} 1.0'; exec sleep 60")
    with guest(parts, "uml", GuestShape(), ready_s=10) as made:
        assert Path("/proc", str(made.pid)).exists() and made.said() == {"ready": ["1.0"]}
        folder = made.console.parent
    assert not Path("/proc", str(made.pid)).exists() and not folder.exists()


@pytest.mark.usefixtures("plain")
def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> bytes:
        raise OSError(28, "No space left on device", "/t/image")

    monkeypatch.setattr(guests, "image", full)
    said_so = pytest.raises(StorageFull, match="/t/image: No space left on device; make room there, or set TMPDIR")
    with said_so, guest(stand_in(tmp_path, "true"), "uml", GuestShape()):
        pass
