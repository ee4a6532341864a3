"""`sojourn serve`: services on this host, until Ctrl-C; here the testbeds, `sojourn serve web|kv`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sojourn.cli.kv_proxy import kv_proxy
from sojourn.cli.serve_bulletin import bulletin
from sojourn.cli.serve_common import STANDARD_ERROR, Watched, stopped_early
from sojourn.cli.serve_messages import messages
from sojourn.cli.serve_nbd import nbd
from sojourn.errors import InputError


class ServeGroup(TyperGroup):
    """`kv-proxy`, `messages`, `bulletin` and `nbd` have options of their own; every other word is the name of a testbed."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = bool(args) and args[0] in self.commands
        return super().resolve_command(ctx, args if known else ["testbed", *args])


app = typer.Typer(
    cls=ServeGroup,
    help="Starts a service on loopback: kv-proxy, messages, bulletin, nbd, or a testbed by its name (sojourn serve web --help).",
    no_args_is_help=True,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
app.command("kv-proxy")(kv_proxy)
app.command("messages")(messages)
app.command("bulletin")(bulletin)
app.command("nbd")(nbd)


@app.command("testbed", hidden=True)
def serve(
    testbed: Annotated[str, typer.Argument(help="web, or kv: the embedded memcached-compatible server")],
    port: Annotated[int | None, typer.Option(help="on 127.0.0.1: 8080; kv: 11211")] = None,
    cores: Annotated[int, typer.Option(help="server cores, one pinned thread each")] = 1,
    page_ms: Annotated[float, typer.Option(help="mean CPU time drawn for a page, ms (exponential)")] = 0.5,
    page_bytes: Annotated[int, typer.Option(help="size of a page, 1024 to 204800")] = 8192,
    seed: Annotated[int, typer.Option(help="of the demand")] = 1,
    memory_mib: Annotated[int, typer.Option(help="kv: memory for keys and values, MiB")] = 64,
    backend_ms: Annotated[
        float | None, typer.Option(help="web: mean time of a service behind the page /wait, ms (exponential)")
    ] = None,
    workers: Annotated[int, typer.Option(help="servers behind /wait")] = 4,
    cap: Annotated[int, typer.Option(help="most requests at /wait; of more, each gets 503")] = 10_000,
    control: Annotated[Path | None, typer.Option(help="a Unix socket at which workers and cap can be changed")] = None,
) -> None:
    """Starts a testbed service whose true demand is known, or an embedded key-value server, on loopback."""
    if testbed == "kv":
        return serve_kv(11211 if port is None else port, memory_mib)
    port = 8080 if port is None else port
    from pydantic import ValidationError

    from sojourn.lab.backends import LoopbackBackend
    from sojourn.testbed import SERVICES
    from sojourn.testbed.web import BackendOptions, KnownDemand, WebOptions

    if testbed not in SERVICES:
        raise InputError(repr(testbed), "testbed", f"use one of {', '.join(SERVICES)}, kv")
    if not 1024 <= page_bytes <= 204800 or not 1 <= port <= 65535 or not 0 <= page_ms <= 1000:
        raise InputError(f"port {port}, page_bytes {page_bytes}, page_ms {page_ms}", "serve",
                         "port 1 to 65535, page_bytes 1024 to 204800, page_ms 0 to 1000")  # fmt: skip
    place = LoopbackBackend([])
    backend, path = None, "/item/7"
    if backend_ms is not None:
        path, socket = "/wait", str(control.resolve()) if control else None
        try:
            backend = BackendOptions(service_s=backend_ms / 1e3, workers=workers, cap=cap, control=socket)
        except ValidationError:
            raise InputError(
                f"backend_ms {backend_ms}, workers {workers}, cap {cap}", "serve",
                "backend_ms above 0 to 60000, workers 1 to 1024, cap 1 to 1000000",
            ) from None  # fmt: skip
    elif control is not None:
        raise InputError(control, "--control", "give --backend-ms, whose servers it changes")
    options = WebOptions(port=port, path=path, page_bytes=page_bytes, pinned=True, threads_per_core=1, backend=backend)
    demand = KnownDemand(interrupt_s=0.0, page_s=page_ms / 1e3, interrupt="deterministic", page="exponential")
    with stopped_early():
        service = SERVICES[testbed].start(place, place.arrange(cores, 1), options, demand, seed, None, STANDARD_ERROR)
        greeting = f"{service.urls[0]} (also /, /category/1, /search?q=tea, /cart?add=3); Ctrl-C ends it"
        Watched("serve web", service, lambda found: f"served {found['requests']} requests").until_stopped(greeting)


def serve_kv(port: int, memory_mib: int) -> None:
    """The embedded server until Ctrl-C; then what it did.

    Raises:
        InputError: a value out of range. ServiceError: the port is taken.
    """
    from sojourn.testbed.kv import EmbeddedKv

    if not 1 <= port <= 65535 or not 1 <= memory_mib <= 1 << 20:
        raise InputError(f"port {port}, memory {memory_mib} MiB", "serve kv", "port 1 to 65535, memory 1 to 1048576")
    with stopped_early():
        server = EmbeddedKv(port=port, memory_bytes=memory_mib << 20, log=STANDARD_ERROR)
        greeting = f"{server.url} ({memory_mib} MiB); for tests: its speed says nothing of memcached; Ctrl-C ends it"
        Watched("serve kv", server, told_kv).until_stopped(greeting)


def told_kv(summary: dict[str, Any]) -> str:
    """The summary in a line."""
    read = f"{summary['gets']} keys read ({summary['hits']} hits)"
    return f"{read}, {summary['sets']} stored, {summary['evictions']} evicted"
