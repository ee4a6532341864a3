"""`sojourn serve web`: a testbed service on this host, until Ctrl-C."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from sojourn.errors import InputError


def serve(
    testbed: Annotated[str, typer.Argument(help="web")],
    port: Annotated[int, typer.Option(help="on 127.0.0.1")] = 8080,
    cores: Annotated[int, typer.Option(help="server cores, one pinned thread each")] = 1,
    page_ms: Annotated[float, typer.Option(help="mean CPU time drawn for a page, ms (exponential)")] = 0.5,
    page_bytes: Annotated[int, typer.Option(help="size of a page, 1024 to 204800")] = 8192,
    seed: Annotated[int, typer.Option(help="of the demand")] = 1,
) -> None:
    """Starts a testbed service whose true demand is known, on loopback."""
    from sojourn.lab.environment import Loopback
    from sojourn.testbed import SERVICES
    from sojourn.testbed.web import Demand, WebOptions

    if testbed not in SERVICES:
        raise InputError(repr(testbed), "testbed", f"use one of {', '.join(SERVICES)}")
    if not 1024 <= page_bytes <= 204800 or not 1 <= port <= 65535 or not 0 <= page_ms <= 1000:
        raise InputError(f"port {port}, page_bytes {page_bytes}, page_ms {page_ms}", "serve",
                         "port 1 to 65535, page_bytes 1024 to 204800, page_ms 0 to 1000")  # fmt: skip
    place = Loopback([])
    options = WebOptions(port=port, path="/item/7", page_bytes=page_bytes, pinned=True, threads_per_core=1)
    demand = Demand(interrupt_s=0.0, page_s=page_ms / 1e3, interrupt="deterministic", page="exponential")
    service = SERVICES[testbed].start(place, place.arrange(cores, 1), options, demand, seed, None)
    try:
        typer.echo(f"{service.urls[0]} (also /, /category/1, /search?q=tea, /cart?add=3); Ctrl-C ends it")
        while True:
            time.sleep(0.5)
    except KeyboardInterrupt:
        typer.echo(f"served {(service.stop().get('summary') or {}).get('requests', 0)} requests")
