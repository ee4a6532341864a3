"""`sojourn serve messages`: the message service on PostgreSQL, until SIGTERM or Ctrl-C."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.cli import STANDARD_ERROR, Watched, stopped_early
from sojourn_cases.common.serve_database import a_database, restarted
from sojourn_cases.common.serve_lines import done, logged, lost, options, times


def messages(
    database: Annotated[
        str, typer.Option("--postgresql-url", help="postgresql://…, or auto: a cluster of its own")
    ] = "auto",
    folder: Annotated[
        Path | None, typer.Option("--database-folder", help="auto: keep the cluster here; else it is removed")
    ] = None,
    listen: Annotated[str, typer.Option(help="ip:port; port 0 takes a free one")] = "127.0.0.1:7400",
    design: Annotated[
        str, typer.Option("--architecture", help="event-driven, or threaded: workers wait for the database")
    ] = "event-driven",
    workers: Annotated[
        int, typer.Option("--worker-threads", help="threads of the threaded architecture, and of batches")
    ] = 20,
    db_connections: Annotated[int, typer.Option(help="connections to the database")] = 20,
    max_waiting_requests: Annotated[
        int, typer.Option(help="most requests that wait for a worker; further ones are refused")
    ] = 10_000,
    max_clients: Annotated[int, typer.Option(help="most connections of clients")] = 12_000,
    max_message_bytes: Annotated[int, typer.Option(help="longest message")] = 65_536,
    idle_timeout: Annotated[float, typer.Option(help="idle time after which a client is disconnected, s")] = 600.0,
    db_timeout: Annotated[
        float, typer.Option(help="time limit of a statement in the database, and of the wait for a connection to it, s")
    ] = 5.0,
    durability: Annotated[str, typer.Option(help="full; off: a crash loses up to the last 0.6 s of puts")] = "full",
    ack_timeout: Annotated[
        float | None,
        typer.Option(
            help="a message that is not acknowledged within this is delivered again, s; without it, a take is final"
        ),
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch-commits", help="requests that wait share a statement and a commit")
    ] = False,
    token: Annotated[str | None, typer.Option(envvar="SOJOURN_TOKEN", help="token that clients have to send")] = None,
    request_log: Annotated[Path | None, typer.Option(help="record log: a row for each request")] = None,
    log_period: Annotated[float, typer.Option(help="time between two rows of queue lengths beside the log, s")] = 0.1,
    metrics: Annotated[str | None, typer.Option("--metrics-address", help="ip:port of an OpenMetrics endpoint")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="the whole summary at the end, as JSON")] = False,
) -> None:
    """Serves named queues over HTTP, kept in PostgreSQL.

    docs/reference/messages.md
    """
    from sojourn_cases.messages.message_server import MessageService, MessagesOptions

    with stopped_early(), a_database(database, folder) as cluster:
        url = cluster.url if cluster else database
        chosen = options(
            MessagesOptions, "serve messages", listen=listen, database=url, design=design, workers=workers,
            connections=db_connections, queue=max_waiting_requests, clients=max_clients, message_bytes=max_message_bytes,
            idle_s=idle_timeout, timeout_s=db_timeout,
            durability=durability, redelivery_s=ack_timeout, batch=batch, token=token, log=request_log, period_s=log_period,
            metrics=metrics,
        )  # fmt: skip
        service = MessageService(chosen, log=STANDARD_ERROR)
        try:
            counted = partial(logged, request_log and levels_of(request_log), "completions", "last")
            watched = Watched(
                "serve messages", service, told, as_json, restarted(cluster, "serve messages"), counted, 3
            )
            watched.until_stopped(greeting(service.ready, service.url))
        finally:
            service.close()


def levels_of(log: Path) -> Path:
    """The log of levels beside a record log (cases/crates/msgbroker/src/record_log.rs)."""
    return log.with_name(f"{log.stem}-levels{log.suffix}")


def greeting(ready: dict[str, Any], url: str) -> str:
    """Where it listens, and what an acknowledged put is worth there."""
    database = ready["database"]
    also = f", metrics at http://{ready['metrics']}/metrics" if ready["metrics"] else ""
    unsafe = "" if database["fsync"] == "on" else "; fsync is off: a crash of the machine loses messages"
    return f"{url} (http://{ready['address']}/queues) on PostgreSQL {database['version']}{also}{unsafe}; Ctrl-C ends it"


def told(summary: dict[str, Any]) -> str:
    """The summary in a few lines."""
    lines = [
        done(summary),
        f"CPU {summary['cpu_s']:.2f} s; {summary['sessions_lost']} database sessions lost",
        *times(summary["phases"], ("response", "dispatch", "parse", "wait", "database", "respond")),
        *lost(summary),
    ]
    return "\n".join(lines)
