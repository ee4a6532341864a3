"""The generator's configuration for a load of block I/O, from what a user says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sojourn.errors import InputError

SCHEMES = ("file", "blk", "nbd", "nbd+unix", "nfs", "iscsi", "fc")
# that have no client in here (docs/decisions/0028): what brings them
ATTACHED = {
    "nfs": "mount it (package nfs-common, and a kernel that has NFS), and give file:PATH on it",
    "iscsi": "attach it (package open-iscsi), and give blk:DEVICE", "fc": "attach it, and give blk:DEVICE",
}  # fmt: skip
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?", re.IGNORECASE)
_POWERS = ("", "k", "m", "g", "t")
# of fsync, fua and verify: what is written is asked for
WRITES = "it is about writes, and --read 1 makes none: give --read below 1, or leave it out"


def is_block_url(url: str) -> bool:
    """Whether this is `file:PATH`, `blk:DEVICE`, `nbd://…` or another that block I/O goes to."""
    return url.partition(":")[0] in SCHEMES and ":" in url


def block_load(
    url: str,
    *,
    iops: float,
    read: float = 1.0,
    random: float = 1.0,
    block: str | int = "4k",
    duration_s: float = 10.0,
    seed: int = 1,
    arrivals: str = "poisson",
    direct: bool = False,
    span: str | int | None = None,
    align: str | int | None = None,
    engine: str = "auto",
    depth: int = 128,
    queue: int = 1024,
    fsync_every: int = 0,
    fua_every: int = 0,
    verify: bool = False,
    quick_ack: bool = True,
    yes_destroy: str | None = None,
    cache_of: str | Path | None = None,
    ticks_read: bool = True,
    timeout_s: float = 10.0,
    record_limit: int = 2_000_000,
    core: int | None = None,
    start_at_s: float | None = None,
) -> dict[str, Any]:
    """`iops` reads and writes a second on `file:PATH`, `blk:DEVICE` or `nbd://HOST:PORT/EXPORT`, due whether or not others have ended.

    `read`, `random`: shares in [0, 1] of I/Os that read, and that go to a random offset (the others follow the one before).
    Sizes (`block`, `span`, `align`) are bytes, or `8k`, `1g` in powers of 1024, as storage tools have them; `block` may be a mix,
    `4k:3,8k:1` (size:weight). `span`: I/O stays below it; a file that is not there is made so long. At most `depth` I/Os are under
    way and `queue` wait, a further one is refused and counted; `timeout_s` from when it was due it has failed. After
    `fsync_every` writes a flush, every `fua_every`-th write is stable before it ends. `verify`: contents are told by offset and
    generation, and every read is compared. `yes_destroy`: the device again, else nothing is written to it. `cache_of`: the file
    behind an NBD server, whose share in the page cache is read as that of a file is. `ticks_read`: CPU time will be read by the
    kernel's ticks, so that a constant rate at a harmonic of them is refused. `core`: the generator's thread is pinned to it.
    `start_at_s`: when the schedule begins (CLOCK_MONOTONIC), all being open before; else as soon as it is.

    Raises:
        InputError: a value out of range; the generator checks the rest.
    """
    if (scheme := url.partition(":")[0]) in ATTACHED:
        raise InputError(f"{url}: there is no {scheme} client in here", "load", ATTACHED[scheme])
    if not iops > 0:
        raise InputError(f"{iops:g}", "--iops", "give a rate above 0; a background run needs no load")
    if arrivals not in ("poisson", "constant"):
        raise InputError(repr(arrivals), "--arrivals", "use poisson or constant")
    if engine not in ("auto", "io_uring", "psync"):
        raise InputError(repr(engine), "--engine", "use auto, io_uring or psync")
    for value, place in ((fsync_every, "--fsync"), (fua_every, "--fua")):
        if value < 0 or (value and read >= 1):
            raise InputError(str(value), place, "give 1 or more" if value < 0 else WRITES)
    if verify and read >= 1:
        raise InputError("yes", "--verify", WRITES)
    optional = {
        "span_bytes": None if span is None else size_bytes(span, "--span"),
        "align_bytes": None if align is None else size_bytes(align, "--align"),
        "yes_destroy": yes_destroy,
        "cache_of": None if cache_of is None else str(cache_of),
    }
    settings: dict[str, Any] = {
        "read_share": read, "random_share": random, "sizes": block_sizes(block), "direct": direct, "engine": engine,
        "depth": _count(depth, "--depth"), "queue": _count(queue, "--queue"), "fsync_every": fsync_every,
        "fua_every": fua_every, "verify": verify, "quick_ack": quick_ack, "ticks_read": ticks_read,
    }  # fmt: skip
    lane: dict[str, Any] = {"targets": [{"url": url}], "arrivals": {"kind": arrivals, "rate_per_s": iops}}
    if core is not None:
        lane["cpu"] = core
    begin = {} if start_at_s is None else {"start_at_s": start_at_s}
    return begin | {
        "lanes": [lane],
        "duration_s": duration_s,
        "seed": seed,
        "timeout_s": timeout_s,
        "record_limit": record_limit,
        "block": settings | {name: value for name, value in optional.items() if value is not None},
    }


def block_sizes(block: str | int) -> dict[str, Any]:
    """`8k`, or `4k:3,8k:1` (size:weight), as the generator has it.

    Raises:
        InputError: anything else.
    """
    parts = [part.partition(":") for part in str(block).split(",")]
    if len(parts) == 1 and not parts[0][1]:
        return {"kind": "fixed", "value": _small(size_bytes(block, "--block"))}
    try:
        weights = [float(weight) for _, _, weight in parts]
    except ValueError:
        raise InputError(repr(block), "--block", "give a size like 8k, or a mix like 4k:3,8k:1") from None
    return {"kind": "list", "values": [_small(size_bytes(s, "--block")) for s, _, _ in parts], "weights": weights}


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
        raise InputError(str(bytes_), "--block", "give blocks of 512 bytes to 16 MiB")
    return bytes_


def _count(value: int, place: str) -> int:
    if not 0 <= value < 1 << 32:
        raise InputError(str(value), place, "give 1 or more")
    return value
