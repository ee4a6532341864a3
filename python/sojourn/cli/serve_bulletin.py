"""`sojourn serve bulletin`: the bulletin board, until SIGTERM or Ctrl-C."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from sojourn.cli.serve_common import done, options, stopped_early, until_stopped
from sojourn.errors import InputError

STANDARD_ERROR = 2


def bulletin(
    embedded: Annotated[bool, typer.Option("--embedded", help="tables in memory, without a database")] = False,
    port: Annotated[int, typer.Option(help="0 takes a free one")] = 5600,
    host: Annotated[str, typer.Option(help="address to listen at")] = "127.0.0.1",
    workers: Annotated[int, typer.Option(help="threads that answer")] = 4,
    page_work: Annotated[float, typer.Option(help="CPU time that a page takes beside its making, s")] = 0.002,
    scale: Annotated[float, typer.Option(help="of the data; 1: 500 000 users, 150 000 stories")] = 0.02,
    seed: Annotated[int, typer.Option(help="of the data")] = 1,
    clients: Annotated[int, typer.Option(help="connections of clients; further ones are closed")] = 50_000,
    queue: Annotated[int, typer.Option(help="requests that may wait for a worker; further ones: 503")] = 50_000,
    metrics: Annotated[str | None, typer.Option(help="ip:port of an OpenMetrics endpoint")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="the whole summary at the end, as JSON")] = False,
) -> None:
    """Serves a bulletin board over HTTP: the 24 interactions of RUBBoS. docs/reference/bulletin.md"""
    from sojourn.testbed.bulletin import BulletinOptions, BulletinService

    if not embedded:
        raise InputError("no place for the tables", "serve bulletin", "say --embedded: tables in memory")
    chosen = options(
        BulletinOptions, "serve bulletin", listen=f"{host}:{port}", workers=workers, page_work_s=page_work, scale=scale,
        seed=seed, clients=clients, queue=queue, metrics=metrics,
    )  # fmt: skip
    with stopped_early():
        service = BulletinService(chosen, log=STANDARD_ERROR)
    try:
        summary = until_stopped(service, greeting(service.ready, service.url), as_json)
    finally:
        service.close()
    typer.echo(json.dumps(summary) if as_json else told(summary))


def greeting(ready: dict[str, Any], url: str) -> str:
    """Where it listens, and what is on the board."""
    also = f", metrics at http://{ready['metrics']}/metrics" if ready["metrics"] else ""
    board = f"{ready['users']} users and {ready['stories']} stories, {ready['board']}"
    return f"{url}/StoriesOfTheDay: {board}{also}; Ctrl-C ends it"


def told(summary: dict[str, Any]) -> str:
    """The summary in a few lines."""
    times = f"waited {summary['wait_s'] * 1e3:.3f} ms, served {summary['service_s'] * 1e3:.3f} ms in the mean"
    return f"{done(summary)}\nCPU {summary['cpu_s']:.2f} s; {times}; {summary['refused']} refused"
