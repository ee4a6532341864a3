"""`sojourn serve web`: the web shop, whose true demand is known, until SIGTERM or Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli import STANDARD_ERROR, Watched, stopped_early
from sojourn.errors import InputError


def web(
    port: Annotated[int, typer.Option(help="TCP port on 127.0.0.1")] = 8080,
    cores: Annotated[int, typer.Option("--core-count", help="server cores, one pinned thread each")] = 1,
    page_ms: Annotated[
        float, typer.Option("--mean-page-cpu-ms", help="mean CPU time drawn for a page, ms (exponential)")
    ] = 0.5,
    page_bytes: Annotated[int, typer.Option(help="size of a page, 1024 to 204800")] = 8192,
    seed: Annotated[int, typer.Option(help="seed of the random CPU times")] = 1,
    backend_ms: Annotated[
        float | None,
        typer.Option("--mean-backend-ms", help="mean time of a service behind the page /wait, ms (exponential)"),
    ] = None,
    backend_servers: Annotated[int, typer.Option(help="parallel servers behind /wait")] = 4,
    max_in_system: Annotated[
        int, typer.Option(help="most requests that are present at /wait; a further one gets status 503")
    ] = 10_000,
    control_socket: Annotated[
        Path | None, typer.Option(help="Unix socket through which --backend-servers and --max-in-system can be changed")
    ] = None,
) -> None:
    """Starts the web shop, whose true demand is known.

    On loopback.
    """
    from pydantic import ValidationError

    from sojourn.lab import LoopbackBackend
    from sojourn_cases.web.web_service import BackendOptions, KnownDemand, WebOptions, WebTestbed

    if not 1024 <= page_bytes <= 204800 or not 1 <= port <= 65535 or not 0 <= page_ms <= 1000:
        raise InputError(f"--port {port}, --page-bytes {page_bytes}, --mean-page-cpu-ms {page_ms}", "serve",
                         "give --port 1 to 65535, --page-bytes 1024 to 204800, --mean-page-cpu-ms 0 to 1000")  # fmt: skip
    place = LoopbackBackend([])
    backend, path = None, "/item/7"
    if backend_ms is not None:
        path, socket = "/wait", str(control_socket.resolve()) if control_socket else None
        try:
            backend = BackendOptions(
                service_s=backend_ms / 1e3, workers=backend_servers, cap=max_in_system, control=socket
            )
        except ValidationError:
            raise InputError(
                f"--mean-backend-ms {backend_ms}, --backend-servers {backend_servers}, --max-in-system {max_in_system}", "serve",
                "give --mean-backend-ms above 0 to 60000, --backend-servers 1 to 1024, --max-in-system 1 to 1000000",
            ) from None  # fmt: skip
    elif control_socket is not None:
        raise InputError(control_socket, "--control-socket", "give --mean-backend-ms, whose servers it changes")
    options = WebOptions(port=port, path=path, page_bytes=page_bytes, pinned=True, threads_per_core=1, backend=backend)
    demand = KnownDemand(interrupt_s=0.0, page_s=page_ms / 1e3, interrupt="deterministic", page="exponential")
    with stopped_early():
        service = WebTestbed.start(place, place.arrange(cores, 1), options, demand, seed, None, STANDARD_ERROR)
        greeting = f"{service.urls[0]} (also /, /category/1, /search?q=tea, /cart?add=3); Ctrl-C ends it"
        Watched("serve web", service, lambda found: f"served {found['requests']} requests").until_stopped(greeting)
