"""`sojourn serve kv`: the embedded memcached-compatible server, until SIGTERM or Ctrl-C."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sojourn.cli.serve_common import STANDARD_ERROR, Watched, stopped_early
from sojourn.errors import InputError


def kv(
    port: Annotated[int, typer.Option(help="on 127.0.0.1")] = 11211,
    memory_mib: Annotated[int, typer.Option(help="memory for keys and values, MiB")] = 64,
    as_json: Annotated[bool, typer.Option("--json", help="the whole summary at the end, as JSON")] = False,
) -> None:
    """Starts the embedded server of memcached's protocol.

    For tests, on loopback: its speed says nothing of memcached.
    """
    from sojourn.lab.embedded_kv import EmbeddedKv

    if not 1 <= port <= 65535 or not 1 <= memory_mib <= 1 << 20:
        raise InputError(f"port {port}, memory {memory_mib} MiB", "serve kv", "port 1 to 65535, memory 1 to 1048576")
    with stopped_early():
        server = EmbeddedKv(port=port, memory_bytes=memory_mib << 20, log=STANDARD_ERROR)
        greeting = f"{server.url} ({memory_mib} MiB); for tests; its speed says nothing about memcached; Ctrl-C ends it"
        Watched("serve kv", server, told, as_json).until_stopped(greeting)


def told(summary: dict[str, Any]) -> str:
    """The summary in a line."""
    read = f"{summary['gets']} keys read ({summary['hits']} hits)"
    return f"{read}, {summary['sets']} stored, {summary['evictions']} evicted"
