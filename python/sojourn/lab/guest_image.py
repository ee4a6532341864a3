"""The first file system of a guest, an initramfs: an archive of installed files and a script that the kernel runs.

The archive is cpio's "newc" format, which the kernel unpacks (Documentation/driver-api/early-userspace/buffer-format.rst).
"""

from __future__ import annotations

import lzma
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sojourn.errors import LabError
from sojourn.lab.guest_parts import UML, GuestParts

VIRTIO = ("virtio_pci", "virtio_net", "virtio_console", "virtio_blk")
NFS = ("nfsv4", "nfsd")
LAST = "TRAILER!!!"
SAID = "sojourn:"  # how a line of ours begins on the console
READY = f"{SAID} ready"
ROUNDS = 40_000
LOOP = f"i=0; while [ $i -lt {ROUNDS} ]; do i=$((i+1)); done"
START = f"""#!/bin/busybox sh
b=/bin/busybox
$b mkdir -p /proc /sys /dev /tmp
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
tell() {{ read up rest < /proc/uptime; echo "{SAID} $* $up"; }}
tell booted
echo "{SAID} kernel $($b uname -r)"
while read module; do $b insmod "$module" || echo "{SAID} refused $module"; done < /modules
"""
PROBE = f"""tell loaded
echo "{SAID} cpus $($b nproc)"
echo "{SAID} nics $($b ls /sys/class/net | $b grep -v '^lo$' | $b tr '\\n' ' ')"
echo "{SAID} filesystems $($b sed 's/.*\\t//' /proc/filesystems | $b tr '\\n' ' ')"
tell begins
{LOOP}
tell ends
tell ready
while :; do $b sleep 1000; done
"""


def archive(files: Mapping[str, tuple[bytes, int]]) -> bytes:
    """A cpio archive (newc) of ordinary files: path without a leading / → content and mode; their folders are made."""
    folders = dict.fromkeys(str(above) for path in files for above in reversed(Path(path).parents) if str(above) != ".")
    entries = [(path, b"", stat.S_IFDIR | 0o755) for path in folders]
    entries += [(path, content, stat.S_IFREG | mode) for path, (content, mode) in files.items()]
    parts = [_entry(number, *entry) for number, entry in enumerate(entries, 1)]
    return b"".join([*parts, _entry(0, LAST, b"", 0)])


def _entry(number: int, path: str, content: bytes, mode: int) -> bytes:
    name = path.encode() + b"\0"
    # ino, mode, uid, gid, nlink, mtime, size, dev (2), rdev (2), namesize, check
    numbers = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % one for one in numbers) + name
    return head + bytes(-len(head) % 4) + content + bytes(-len(content) % 4)


def load_order(dependencies: str, wanted: Iterable[str]) -> list[str]:
    """Paths of modules in the order in which they can be loaded, from the text of a modules.dep (depmod(8)): a line a module, which
    needs those behind the colon, last first. Names that are not there are left out: the kernel has them built in, or not at all."""
    needs = dict(line.split(":", 1) for line in dependencies.splitlines() if ":" in line)
    by_name = {Path(path).name.partition(".")[0].replace("-", "_"): path for path in needs}
    order: dict[str, None] = {}
    for name in wanted:
        if path := by_name.get(name):
            order |= dict.fromkeys([*reversed(needs[path].split()), path])
    return list(order)


def _module(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(content)
    if path.suffix != ".ko":
        raise LabError(f"a module packed as {path.suffix}", path, "use a kernel whose modules are .ko or .ko.xz")
    return content


def lacking_modules(parts: GuestParts, wanted: Iterable[str]) -> list[str]:
    """Of these modules those that the kernel of a guest of QEMU has neither as a module nor built in. One without a folder of modules is
    taken to have them built in."""
    if parts.modules is None:
        return [] if parts.kernel else list(wanted)
    names = [name for name in ("modules.dep", "modules.builtin") if (parts.modules / name).is_file()]
    lines = [line for name in names for line in (parts.modules / name).read_text().splitlines()]
    there = {Path(line.partition(":")[0]).name.partition(".")[0].replace("-", "_") for line in lines}
    return [name for name in wanted if name not in there]


def image(
    parts: GuestParts,
    way: str,
    script: str = PROBE,
    files: Mapping[str, tuple[bytes, int]] | None = None,
    modules: Sequence[str] | None = None,
) -> bytes:
    """The initramfs of a guest of this way, packed: busybox, the modules that it needs, `files`, and START with `script` as /init.
    `modules`: of the kernel, by name, beside those of virtio; by default those of NFS where it has no `files`."""
    folder = parts.uml_modules if way == UML else parts.modules
    assert parts.busybox
    more = (() if files else NFS) if modules is None else modules
    order = load_order((folder / "modules.dep").read_text(), [*(() if way == UML else VIRTIO), *more]) if folder else []
    unpacked = {f"modules.d/{Path(path).name.removesuffix('.xz')}": path for path in order}
    content = {
        "init": ((START + script).encode(), 0o755),
        "bin/busybox": (parts.busybox.read_bytes(), 0o755),
        "modules": ("".join(f"/{name}\n" for name in unpacked).encode(), 0o644),
        **{name: (_module(folder / path), 0o644) for name, path in unpacked.items() if folder},
        **(files or {}),
    }
    return archive(content)
