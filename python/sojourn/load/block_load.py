"""The generator's configuration for a load of block I/O, from what a user says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sojourn.errors import InputError
from sojourn.load.load_options import RECORD_LIMIT, OpenLoad, option

SCHEMES = ("file", "blk", "nbd", "nbd+unix", "nfs", "iscsi", "fc")
# that have no client in here (docs/decisions/0028): what brings them
ATTACHED = {
    "nfs": "mount it (package nfs-common, and a kernel that has NFS), and give file:PATH on it",
    "iscsi": "attach it (package open-iscsi), and give blk:DEVICE", "fc": "attach it, and give blk:DEVICE",
}  # fmt: skip
BLOCK = "Block I/O"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?", re.IGNORECASE)
_POWERS = ("", "k", "m", "g", "t")
# of fsync, fua and verify: what is written is asked for
WRITES = "it concerns writes, but --read-fraction 1 makes none: give --read-fraction below 1, or leave this option out"


@dataclass(frozen=True, kw_only=True)
class BlockOptions(OpenLoad):
    """A load of block I/O: `iops` reads and writes a second (or `rate_per_s`, which is the same), due whether or not others have ended.

    `read`, `random`: shares in [0, 1] of I/Os that read, and that go to a random offset (the others follow the one before).
    Sizes (`block`, `span`, `align`) are bytes, or `8k`, `1g` in powers of 1024, as storage tools have them; `block` may be a mix,
    `4k:3,8k:1` (size:weight). `span`: I/O stays below it; a missing file is created with this size. At most `depth` I/Os are under
    way and `queue` wait, a further one is refused and counted; `timeout_s` from when it was due it has failed. After
    `fsync_every` writes a flush, every `fua_every`-th write is stable before it ends. `verify`: contents are told by offset and
    generation, and every read is compared. `yes_destroy`: the device again, else nothing is written to it. `cache_of`: the file
    behind an NBD server, whose share in the page cache is read as that of a file is. `ticks_read`: CPU time will be read by the
    kernel's ticks, so that a constant rate at a harmonic of them is refused. `core`: the generator's thread is pinned to it.
    `start_at_s`: when the schedule begins (CLOCK_MONOTONIC), all being open before; else as soon as it is.
    """

    protocol: ClassVar[str] = "block"
    schemes: ClassVar[tuple[str, ...]] = SCHEMES
    shape: ClassVar[str] = "file:PATH, blk:DEVICE or nbd://HOST:PORT"
    about: ClassVar[str] = "reads and writes on a file, a block device or an NBD server"
    examples: ClassVar[tuple[str, ...]] = (
        "sojourn load file:disk.img --iops 400 --read-fraction 0.7 --block-size 8k --direct",
        "sojourn load file:disk.img --iops 100 --read-fraction 0 --region-size 1g --fsync-every 16",
        "sojourn load nbd://127.0.0.1:10809 --iops 200 --block-size 4k:3,64k:1",
    )
    measured: ClassVar[tuple[str, ...]] = (
        "sojourn measure file:disk.img --rate 100..400:100 --region-size 1g --direct --service-disk vda --out runs",
        "sojourn measure nbd://127.0.0.1:10809 --rate 100..400:100 --block-size 4k:3,64k:1",
    )

    iops: float | None = option(None, "reads and writes a second", "--iops", float)
    read: float = option(1.0, "share of I/Os that read, 0 to 1 (default: 1)", "--read-fraction", float, panel=BLOCK)
    random: float = option(
        1.0, "share at a random offset, 0 to 1 (default: 1)", "--random-fraction", float, panel=BLOCK
    )
    block: str | int = option("4k", "size of an I/O: 8k, or a mix 4k:3,8k:1 (default: 4k)", "--block-size", panel=BLOCK)
    direct: bool = option(False, "O_DIRECT: past the page cache", "--direct", bool, panel=BLOCK)
    span: str | int | None = option(
        None, "I/O stays below it; a missing file is created with this size", "--region-size", panel=BLOCK
    )
    align: str | int | None = option(
        None, "alignment of random offsets (default: the size of the I/O)", "--align", panel=BLOCK
    )
    depth: int = option(128, "maximum number of outstanding I/Os (default: 128)", "--queue-depth", int, panel=BLOCK)
    queue: int = option(
        1024,
        "maximum number of waiting I/Os; further ones are refused (default: 1024)",
        "--max-waiting-ios",
        int,
        panel=BLOCK,
    )
    fsync_every: int = option(
        0, "a flush after so many writes; 0: none (default: 0)", "--fsync-every", int, panel=BLOCK
    )
    fua_every: int = option(
        0, "every N-th write is stable before it ends; 0: none (default: 0)", "--fua-every", int, panel=BLOCK
    )
    engine: str = option("auto", "auto, io_uring or psync (default: auto)", "--engine", panel=BLOCK)
    verify: bool = option(
        False, "check that what is read is what was written (default: no)", "--verify/--no-verify", bool, panel=BLOCK
    )
    quick_ack: bool = option(
        True, "nbd: acknowledge answers at once (default: yes)", "--quick-ack/--no-quick-ack", bool, panel=BLOCK
    )
    yes_destroy: str | None = option(
        None, "blk: the device again, to allow writing to it", "--allow-writes-to", panel=BLOCK, metavar="DEVICE"
    )
    cache_of: str | Path | None = option(
        None, "nbd: the file behind the server, to see whether it was cached", "--backing-file", Path, panel=BLOCK
    )
    ticks_read: bool = True
    record_limit: int = RECORD_LIMIT
    core: int | None = None
    start_at_s: float | None = None

    def config(self, urls: list[str]) -> dict[str, Any]:
        """On one `file:PATH`, `blk:DEVICE` or `nbd://HOST:PORT/EXPORT`.

        Raises:
            InputError: several URLs, no rate or two, a value out of range; the generator checks the rest.
        """
        if len(urls) != 1:
            raise InputError(f"{len(urls)} targets", "load", "block I/O has one target: give one URL")
        if (scheme := urls[0].partition(":")[0]) in ATTACHED:
            raise InputError(f"{urls[0]}: sojourn has no {scheme} client", "load", ATTACHED[scheme])
        self.check_rate()
        self._check()
        optional = {
            "span_bytes": None if self.span is None else size_bytes(self.span, "--region-size"),
            "align_bytes": None if self.align is None else size_bytes(self.align, "--align"),
            "yes_destroy": self.yes_destroy,
            "cache_of": None if self.cache_of is None else str(self.cache_of),
        }
        settings: dict[str, Any] = {
            "read_share": self.read, "random_share": self.random, "sizes": block_sizes(self.block),
            "direct": self.direct, "engine": self.engine, "depth": _count(self.depth, "--queue-depth"),
            "queue": _count(self.queue, "--max-waiting-ios"), "fsync_every": self.fsync_every, "fua_every": self.fua_every,
            "verify": self.verify, "quick_ack": self.quick_ack, "ticks_read": self.ticks_read,
        }  # fmt: skip
        arrivals = {"kind": self.arrivals, "rate_per_s": self._rate_per_s()}
        lane: dict[str, Any] = {"targets": [{"url": urls[0]}], "arrivals": arrivals}
        if self.core is not None:
            lane["cpu"] = self.core
        begin = {} if self.start_at_s is None else {"start_at_s": self.start_at_s}
        return begin | {
            "lanes": [lane],
            "duration_s": self.duration_s,
            "seed": self.seed,
            "timeout_s": self.timeout_s,
            "record_limit": self.record_limit,
            "block": settings | {name: value for name, value in optional.items() if value is not None},
        }

    def _rate_per_s(self) -> float:
        """InputError for none, two, or one that is not above 0."""
        rates = [rate for rate in (self.iops, self.rate_per_s) if rate is not None]
        if len(rates) != 1:
            raise InputError("no rate" if not rates else "--rate and --iops", "load", "give --iops, I/Os a second")
        if not rates[0] > 0:
            raise InputError(f"{rates[0]:g}", "--iops", "give a rate above 0; a run without load does not need it")
        return rates[0]

    def _check(self) -> None:
        """InputError for what the generator would say less well."""
        self._rate_per_s()
        if self.engine not in ("auto", "io_uring", "psync"):
            raise InputError(repr(self.engine), "--engine", "use auto, io_uring or psync")
        for value, place in ((self.fsync_every, "--fsync-every"), (self.fua_every, "--fua-every")):
            if value < 0 or (value and self.read >= 1):
                raise InputError(str(value), place, "give 1 or more" if value < 0 else WRITES)
        if self.verify and self.read >= 1:
            raise InputError("yes", "--verify", WRITES)


def block_load(url: str, **options: Any) -> dict[str, Any]:
    """The generator's configuration of a load on `url`; `options`: those of `BlockOptions`. InputError as there."""
    return BlockOptions(**options).config([url])


def block_sizes(block: str | int) -> dict[str, Any]:
    """`8k`, or `4k:3,8k:1` (size:weight), as the generator has it.

    Raises:
        InputError: anything else.
    """
    parts = [part.partition(":") for part in str(block).split(",")]
    if len(parts) == 1 and not parts[0][1]:
        return {"kind": "fixed", "value": _small(size_bytes(block, "--block-size"))}
    try:
        weights = [float(weight) for _, _, weight in parts]
    except ValueError:
        raise InputError(repr(block), "--block-size", "give a size like 8k, or a mix like 4k:3,8k:1") from None
    return {"kind": "list", "values": [_small(size_bytes(s, "--block-size")) for s, _, _ in parts], "weights": weights}


def size_bytes(text: str | int, place: str) -> int:
    """A whole number of bytes: `4096`, `8k`, `1.5g`, in powers of 1024.

    Raises:
        InputError: anything else, or nothing at all.
    """
    match = _SIZE.fullmatch(str(text))
    value = float(match[1]) * 1024 ** _POWERS.index(match[2].lower()) if match else 0.0
    if not 0 < value < 2**63 or value != int(value):
        raise InputError(repr(text), place, "give a size like 512, 8k, 64m or 1g")
    return int(value)


def _small(bytes_: int) -> int:
    if bytes_ >= 1 << 32:
        raise InputError(str(bytes_), "--block-size", "give blocks of 512 bytes to 16 MiB")
    return bytes_


def _count(value: int, place: str) -> int:
    if not 0 <= value < 1 << 32:
        raise InputError(str(value), place, "give 1 or more")
    return value
