"""What a guest is made of, as Debian's packages install it: a kernel with its modules, a virtual machine, a user space.

Nothing is downloaded. QEMU boots an ordinary kernel; user-mode-linux (UML) is a kernel that is a program of its own.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from sojourn.errors import InputError, LabError
from sojourn.lab.loop_disk import SEARCHED

KVM, TCG, UML = "kvm", "tcg", "uml"
WAYS = {KVM: "QEMU with KVM", TCG: "QEMU that translates (TCG)", UML: "user-mode-linux"}
QEMU_PACKAGES = {
    "qemu": "qemu-system-x86",
    "kernel": "linux-image-cloud-amd64",
    "busybox": "busybox-static",
}
UML_PACKAGES = {"uml": "user-mode-linux", "busybox": "busybox-static"}
WHAT = "lab vm"
DEPENDENCIES = "modules.dep"
INTERPRETER, NOTE = 3, 4  # PT_INTERP, elf(5): a program that needs a dynamic linker; PT_NOTE
# XEN_ELFNOTE_PHYS32_ENTRY, include/xen/interface/elfnote.h of Linux: where a vmlinux is entered that QEMU boots as it is
PVH_NOTE = struct.pack("<I", 18) + b"Xen\0"
ELF_HEADER_BYTES, MOST_NOTES_BYTES = 56, 1 << 20
# Documentation/arch/x86/boot.rst: where the head of a bzImage has its magic number
BOOT_MAGIC_AT, BOOT_MAGIC, ELF_MAGIC = 0x202, b"HdrS", b"\x7fELF"


@dataclass(frozen=True)
class GuestParts:
    """Paths of what is installed, None for what is not; `modules`, `uml_modules`: folders with a modules.dep."""

    qemu: Path | None
    kernel: Path | None
    modules: Path | None
    uml: Path | None
    uml_modules: Path | None
    busybox: Path | None

    def missing(self, way: str) -> list[str]:
        """The packages without which there is no such guest."""
        packages = UML_PACKAGES if way == UML else QEMU_PACKAGES
        return [package for part, package in packages.items() if getattr(self, part) is None]

    def check(self, way: str) -> None:
        """Raises:
        InputError: no such way. LabError: packages are missing, which it names, or this is no x86-64.
        """
        if way not in WAYS:
            raise InputError(way, WHAT, f"give one of {', '.join(WAYS)}")
        if platform.machine() != "x86_64":
            raise LabError(f"this machine is {platform.machine()}", WHAT, "use an x86-64 machine")
        if packages := self.missing(way):
            found = f"{WAYS[way]} lacks {', '.join(packages)}"
            raise LabError(found, WHAT, f"run: apt-get install --no-install-recommends {' '.join(packages)}")


def guest_parts(root: Path = Path("/"), searched: str | None = None) -> GuestParts:
    """What is installed here, of programs in the folders of `searched` [PATH]; of several kernels the newest, one for virtual machines
    first."""
    searched = SEARCHED if searched is None else searched
    version = _newest(root)
    busybox = _program("busybox", searched)
    return GuestParts(
        qemu=_program("qemu-system-x86_64", searched),
        kernel=root / f"boot/vmlinuz-{version}" if version else None,
        modules=root / f"lib/modules/{version}" if version else None,
        uml=_program("linux.uml", searched),
        uml_modules=max((root / "usr/lib/uml/modules").glob("*/"), key=lambda one: _order(one.name), default=None),
        busybox=busybox if busybox and is_static(busybox) else None,
    )


def with_kernel(parts: GuestParts, kernel: Path, modules: Path | None = None) -> GuestParts:
    """`parts` with another kernel for guests of QEMU: a bzImage (`vmlinuz-…`), or a vmlinux with a PVH entry. `modules`: its folder with
    a modules.dep; by default that of its version (the name behind the first "-") in lib/modules beside its folder or on this machine,
    and if there is none, the kernel has what it needs built in.

    Raises:
        InputError: no kernel of x86, or no folder of modules.
    """
    try:
        if kernel.exists() and not kernel.is_file():  # a pipe would be waited for
            raise InputError(str(kernel), "kernel of guests", "no plain file; give the file of a kernel")
        with open(kernel, "rb") as file:
            head = file.read(BOOT_MAGIC_AT + len(BOOT_MAGIC))
    except OSError as error:
        raise InputError(str(kernel), "kernel of guests", f"{error.strerror}; give the file of a kernel") from None
    if not (head.endswith(BOOT_MAGIC) or (head.startswith(ELF_MAGIC) and has_pvh_entry(kernel))):
        raise InputError(
            str(kernel),
            "kernel of guests",
            "give a bzImage (vmlinuz), or a vmlinux of x86-64 with a PVH entry (CONFIG_PVH)",
        )
    if modules is None:
        version = kernel.name.partition("-")[2]
        beside = (kernel.resolve().parent.parent / "lib/modules" / version, Path("/lib/modules") / version)
        modules = next((one for one in beside if version and (one / DEPENDENCIES).is_file()), None)
    elif not (modules / DEPENDENCIES).is_file():
        raise InputError(
            str(modules), "modules of guests", f"give the folder that has {DEPENDENCIES}, as depmod makes it"
        )
    return replace(parts, kernel=kernel, modules=modules)


def _program(name: str, searched: str) -> Path | None:
    found = shutil.which(name, path=searched)
    return Path(found) if found else None


def _newest(root: Path) -> str | None:
    """The version of a kernel that can be read and has its modules."""
    versions = [path.name.removeprefix("vmlinuz-") for path in (root / "boot").glob("vmlinuz-*")]
    usable = [
        one
        for one in versions
        if os.access(root / f"boot/vmlinuz-{one}", os.R_OK) and (root / f"lib/modules/{one}/{DEPENDENCIES}").is_file()
    ]
    return max(usable, key=lambda one: ("cloud" in one, _order(one)), default=None)


def _order(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def is_static(program: Path) -> bool:
    """Whether an ELF program of 64 bits runs without a dynamic linker: it has no PT_INTERP (elf(5))."""
    with open(program, "rb") as file:
        headers = _program_headers(file)
    return headers is not None and all(kind != INTERPRETER for kind, _, _ in headers)


def has_pvh_entry(kernel: Path) -> bool:
    """Whether an ELF file of 64 bits has the note by which QEMU finds where a kernel begins."""
    with open(kernel, "rb") as file:
        for kind, offset, size in _program_headers(file) or ():
            if kind == NOTE:
                file.seek(offset)
                if PVH_NOTE in file.read(min(size, MOST_NOTES_BYTES)):
                    return True
    return False


def _program_headers(file: BinaryIO) -> list[tuple[int, int, int]] | None:
    """(type, offset, size in the file) of each, of an ELF file of 64 bits (elf(5)); None of another file."""
    head = file.read(64)
    if head[:5] != b"\x7fELF\x02" or len(head) < 64:
        return None
    offset, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
    file.seek(offset)
    table = file.read(size * count)
    if size < ELF_HEADER_BYTES or len(table) < size * count:
        return None
    found = (struct.unpack_from("<I4xQ16xQ", table, k * size) for k in range(count))
    return [(kind, at, length) for kind, at, length in found]
