"""`sojourn serve nbd`: the embedded network block device server, until Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.cli import STANDARD_ERROR, Watched, stopped_early
from sojourn.errors import InputError
from sojourn.units import duration_s


def nbd(
    memory: Annotated[
        str | None, typer.Option("--ram-disk-size", help="export so much memory, e.g. 64m", show_default=False)
    ] = None,
    file: Annotated[Path | None, typer.Option(help="export this file", show_default=False)] = None,
    direct: Annotated[bool, typer.Option("--direct", help="open the file with O_DIRECT")] = False,
    delay: Annotated[
        str, typer.Option("--answer-delay", help="between a request that is done and its answer, e.g. 200us")
    ] = "0",
    port: Annotated[int, typer.Option(help="on 127.0.0.1")] = 10809,
) -> None:
    """Exports memory or a file as a network block device.

    For tests: its speed is not that of qemu-nbd.
    """
    from sojourn.load import size_bytes
    from sojourn_cases.storage.nbd_server import EmbeddedNbd

    if (memory is None) == (file is None):
        raise InputError("both" if file else "neither", "--ram-disk-size and --file", "give one of them")
    if direct and file is None:
        raise InputError("yes", "--direct", "memory has no page cache: give it with --file only")
    if not 1 <= port <= 65535:
        raise InputError(str(port), "--port", "give 1 to 65535")
    with stopped_early():
        server = EmbeddedNbd(
            port=port, memory_bytes=None if memory is None else size_bytes(memory, "--ram-disk-size"), file=file, direct=direct,
            delay_s=0.0 if delay == "0" else duration_s(delay, "--answer-delay"), log=STANDARD_ERROR,
        )  # fmt: skip
        told_size = f"{server.url} ({server.size_bytes} bytes); for tests: its speed is not that of qemu-nbd"
        Watched("serve nbd", server, told).until_stopped(f"{told_size}; Ctrl-C ends it")


def told(summary: dict[str, Any]) -> str:
    """The summary in a line."""
    return f"{summary['reads']} reads, {summary['writes']} writes, {summary['flushes']} flushes, {summary['errors']} errors"
