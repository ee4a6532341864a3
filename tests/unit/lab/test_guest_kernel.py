"""A kernel of the user's own for guests, and what is said of a KVM that runs only some kernels; nothing is booted here."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

import pytest

from sojourn.errors import InputError, LabError
from sojourn.lab.guest_command import GuestShape, command
from sojourn.lab.guest_parts import GuestParts, with_kernel
from sojourn.lab.guest_probe import probe_guest

EVERYTHING = GuestParts(
    Path("/usr/bin/qemu"), Path("/boot/vmlinuz"), Path("/lib/modules/6"), Path("/usr/bin/linux.uml"), Path("/u/6"),
    Path("/bin/busybox"),
)  # fmt: skip


def _elf(pvh: bool) -> bytes:
    """One program header of 64 bits, PT_NOTE (elf(5)); its note XEN_ELFNOTE_PHYS32_ENTRY (18) is what `readelf -n vmlinux` shows."""
    note = struct.pack("<III", 4, 4, 18 if pvh else 1) + b"Xen\0" + bytes(4)
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return head + struct.pack("<IIQQQQQQ", 4, 4, 120, 0, 0, len(note), len(note), 4) + note


def test_a_program_or_a_pipe_is_no_kernel(tmp_path: Path) -> None:
    """QEMU was booted with any ELF file, and the error asked for another kind of guest; a pipe was waited for."""
    program, pipe = tmp_path / "program", tmp_path / "pipe"
    program.write_bytes(_elf(pvh=False))
    os.mkfifo(pipe)
    for path in (program, Path(sys.executable).resolve()):
        with pytest.raises(InputError, match="a vmlinux of x86-64 with a PVH entry"):
            with_kernel(EVERYTHING, path)
    with pytest.raises(InputError, match="no plain file"):
        with_kernel(EVERYTHING, pipe)


def test_a_kernel_of_ones_own_comes_with_its_modules(tmp_path: Path) -> None:
    """A bzImage has "HdrS" at 0x202 (Documentation/arch/x86/boot.rst), a vmlinux is an ELF file."""
    own, modules = tmp_path / "boot/vmlinuz-6.12-own", tmp_path / "lib/modules/6.12-own"
    own.parent.mkdir()
    own.write_bytes(bytes(0x202) + b"HdrS" + bytes(8))
    assert with_kernel(EVERYTHING, own).modules is None, "all that it needs is built in"
    modules.mkdir(parents=True)
    (modules / "modules.dep").touch()
    have = with_kernel(EVERYTHING, own)
    assert (have.kernel, have.modules) == (own, modules) and have.qemu == EVERYTHING.qemu
    assert str(own) in command(have, "kvm", GuestShape(), Path("/t/image"))
    elsewhere = tmp_path / "vmlinux"
    elsewhere.write_bytes(_elf(pvh=True))
    assert with_kernel(EVERYTHING, elsewhere, modules).modules == modules
    with pytest.raises(InputError, match=r"give a bzImage \(vmlinuz\), or a vmlinux"):
        with_kernel(EVERYTHING, modules / "modules.dep")
    with pytest.raises(InputError, match="none; No such file or directory; give the file of a kernel"):
        with_kernel(EVERYTHING, tmp_path / "none")
    with pytest.raises(InputError, match=r"boot; give the folder that has modules\.dep"):
        with_kernel(EVERYTHING, own, tmp_path / "boot")


def test_a_kvm_that_interprets_says_which_kernels_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kvm").touch()
    (tmp_path / "module/kvm_pvm").mkdir(parents=True)

    def silent(*_: object, **__: object) -> None:
        raise LabError("QEMU with KVM: it was not ready within 15 s", "lab vm", "try another kind")

    monkeypatch.setattr("sojourn.lab.guest_probe.guest", silent)
    looked = probe_guest(EVERYTHING, "kvm", tmp_path, tmp_path)
    assert "KVM of this host is PVM" in looked.finding and "CONFIG_PVM_GUEST: --kernel FILE" in looked.remedy
    assert probe_guest(EVERYTHING, "kvm", tmp_path, tmp_path / "module").remedy == "use another kind"
