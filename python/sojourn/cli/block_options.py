"""What `load` can say of block I/O: options, and what they mean to `block_load`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.errors import InputError

BLOCK: dict[str, Any] = {"rich_help_panel": "file:PATH, blk:DEVICE, nbd://HOST:PORT", "show_default": False}
Iops = Annotated[float | None, typer.Option(help="reads and writes a second", **BLOCK)]
Read = Annotated[float | None, typer.Option(help="share of I/Os that read, 0 to 1 [1]", **BLOCK)]
Random = Annotated[float | None, typer.Option("--random", help="share at a random offset, 0 to 1 [1]", **BLOCK)]
Block = Annotated[str | None, typer.Option("--block", help="size of an I/O: 8k, or a mix 4k:3,8k:1 [4k]", **BLOCK)]
Direct = Annotated[bool | None, typer.Option("--direct", help="O_DIRECT: past the page cache", **BLOCK)]
Span = Annotated[str | None, typer.Option(help="I/O stays below it; a file that is not there is made so long", **BLOCK)]
Align = Annotated[str | None, typer.Option(help="of random offsets (default: the size of the I/O)", **BLOCK)]
Depth = Annotated[int | None, typer.Option(help="I/Os under way at most [128]", **BLOCK)]
Queue = Annotated[int | None, typer.Option(help="I/Os that wait at most; further ones are refused [1024]", **BLOCK)]
Fsync = Annotated[int | None, typer.Option(help="a flush after so many writes [0: never]", **BLOCK)]
Fua = Annotated[int | None, typer.Option(help="every so-many-th write is stable before it ends [0: none]", **BLOCK)]
Engine = Annotated[str | None, typer.Option(help="auto, io_uring or psync (default: auto)", **BLOCK)]
QuickAck = Annotated[
    bool | None,
    typer.Option("--quick-ack/--no-quick-ack", help="nbd: acknowledge answers at once (default: yes)", **BLOCK),
]
YesDestroy = Annotated[
    str | None, typer.Option(help="blk: the device again, which may be written to", metavar="DEVICE", **BLOCK)
]
CacheOf = Annotated[
    Path | None, typer.Option(help="nbd: the file behind the server, to see whether it was cached", **BLOCK)
]


def block_config(
    urls: list[str], given: dict[str, Any], common: dict[str, Any], verify: bool | None, users: int | None
) -> dict[str, Any]:
    """The generator's configuration.

    Raises:
        InputError: several URLs, users, no rate, a rate by two names, or a value out of range.
    """
    from sojourn.load.block_load import block_load

    if len(urls) > 1:
        raise InputError(f"{len(urls)} targets", "load", "block I/O goes to one of them: give one URL")
    if users is not None or common["think_s"]:
        raise InputError("users or think times", "load", "block I/O has a rate: give --iops")
    rates = [rate for rate in (given.pop("iops", None), common["rate_per_s"]) if rate is not None]
    if len(rates) != 1:
        raise InputError("no rate" if not rates else "--rate and --iops", "load", "give --iops, I/Os a second")
    same = {name: common[name] for name in ("duration_s", "seed", "timeout_s", "arrivals")}
    return block_load(urls[0], iops=rates[0], verify=bool(verify), **given, **same)
