"""`sojourn serve bulletin`: the bulletin board, until SIGTERM or Ctrl-C."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli import STANDARD_ERROR, Watched, stopped_early
from sojourn.errors import InputError
from sojourn_cases.common.serve_database import a_database, restarted
from sojourn_cases.common.serve_lines import done, options

if TYPE_CHECKING:
    from sojourn_cases.common.postgres import Postgres

LOADED_S = 3600.0  # that one statement of the loading may take


def bulletin(
    database: Annotated[
        str | None, typer.Option("--postgresql-url", help="postgresql://…, or auto: a cluster of its own, loaded")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--database-folder", help="auto: keep the cluster here; else it is removed")
    ] = None,
    db_connections: Annotated[int, typer.Option(help="connections to the database")] = 16,
    embedded: Annotated[bool, typer.Option("--in-memory", help="tables in memory, without a database")] = False,
    port: Annotated[int, typer.Option(help="0 takes a free one")] = 5600,
    host: Annotated[str, typer.Option(help="address to listen at")] = "127.0.0.1",
    workers: Annotated[
        int | None, typer.Option("--worker-threads", help="threads that answer [4; with --postgresql-url, 16]")
    ] = None,
    page_cpu_s: Annotated[float, typer.Option(help="additional CPU time of each page, s")] = 0.002,
    scale: Annotated[
        float, typer.Option("--data-scale", help="size of the data; 1: 500 000 users, 150 000 stories")
    ] = 0.02,
    seed: Annotated[int, typer.Option(help="seed of the random data")] = 1,
    max_clients: Annotated[int, typer.Option(help="most connections of clients; further ones are closed")] = 50_000,
    max_waiting_requests: Annotated[
        int, typer.Option(help="most requests that wait for a worker; a further one gets status 503")
    ] = 50_000,
    idle_timeout: Annotated[float, typer.Option(help="idle time after which a client is disconnected, s")] = 600.0,
    metrics: Annotated[str | None, typer.Option("--metrics-address", help="ip:port of an OpenMetrics endpoint")] = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            "--traces-file", help="write spans of requests to this file, as OTLP JSON lines", show_default=False
        ),
    ] = None,
    trace_share: Annotated[
        float, typer.Option(help="of --traces-file: the share of traces that is kept, by their id")
    ] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="the whole summary at the end, as JSON")] = False,
) -> None:
    """Serves a bulletin board over HTTP.

    It has the 24 interactions of RUBBoS. docs/reference/bulletin.md
    """
    from sojourn_cases.common.postgres_programs import programs, runs_as
    from sojourn_cases.ntier.bulletin_server import BulletinOptions, BulletinService

    if embedded == (database is not None) or (folder is not None and database != "auto"):
        given = f"--in-memory {embedded}, --postgresql-url {database}, --database-folder {folder}"
        raise InputError(
            given,
            "serve bulletin",
            "use --in-memory (tables in memory) or --postgresql-url; --database-folder needs --postgresql-url auto",
        )
    if database == "auto":
        programs(runs_as(), "--in-memory: tables in memory")
    with stopped_early(), a_database(database, folder) if database else nullcontext() as cluster:
        if cluster:
            load(cluster, scale, seed)
        chosen = options(
            BulletinOptions, "serve bulletin", listen=f"{host}:{port}", workers=workers or (16 if database else 4),
            page_work_s=page_cpu_s, database=cluster.url if cluster else database, pool=db_connections, scale=scale, seed=seed,
            clients=max_clients, queue=max_waiting_requests, idle_s=idle_timeout, metrics=metrics,
            traces=None if traces is None else str(traces.absolute()), trace_share=trace_share,
        )  # fmt: skip
        service = BulletinService(chosen, log=STANDARD_ERROR)
        try:
            watched = Watched("serve bulletin", service, told, as_json, restarted(cluster, "serve bulletin"), version=3)
            watched.until_stopped(greeting(service.ready, service.url))
        finally:
            service.close()


def load(cluster: Postgres, scale: float, seed: int) -> None:
    """Makes the tables in a private cluster that has none yet.

    Raises:
        ServiceError: no room, or a statement would read a large table whole.
    """
    from sojourn_cases.common.postgres import DATABASE, USER
    from sojourn_cases.common.postgres_protocol import PostgresSession
    from sojourn_cases.ntier.bulletin_database import load_bulletin

    with PostgresSession(cluster.socket, user=USER, database=DATABASE, timeout_s=LOADED_S) as session:
        if session.run("SELECT to_regclass('users')") == [(None,)]:
            load_bulletin(session, scale, seed)


def greeting(ready: dict[str, Any], url: str) -> str:
    """Where it listens, and what is on the board."""
    also = f", metrics at http://{ready['metrics']}/metrics" if ready["metrics"] else ""
    board = f"{ready['users']} users and {ready['stories']} stories, {ready['board']}"
    return f"{url}/StoriesOfTheDay: {board}{also}; Ctrl-C ends it"


def told(summary: dict[str, Any]) -> str:
    """The summary in a few lines."""
    times = f"waited {summary['wait_s'] * 1e3:.3f} ms, served {summary['service_s'] * 1e3:.3f} ms on average"
    lines = f"{done(summary)}\nCPU {summary['cpu_s']:.2f} s; {times}; {summary['refused']} refused"
    if any((kept := summary["traces"]).values()):
        lines += f"\n{kept['traces']} traces written, {kept['not_sampled']} not kept by --trace-share, {kept['dropped']} dropped"
    return lines
