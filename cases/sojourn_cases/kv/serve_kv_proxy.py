"""`sojourn serve kv-proxy`: the middleware for memcached, until SIGTERM or Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.cli import STANDARD_ERROR, Watched, stopped_early
from sojourn_cases.common.serve_lines import done, logged, lost, options, times


def kv_proxy(
    server: Annotated[list[str], typer.Option(help="a memcached, host:port; again for each further one")],
    listen: Annotated[str, typer.Option(help="ip:port; port 0 takes a free one")] = "127.0.0.1:11212",
    design: Annotated[
        str, typer.Option("--architecture", help="direct: event loops; staged: network thread, queue, workers")
    ] = "direct",
    workers: Annotated[int, typer.Option("--worker-threads", help="staged: worker threads")] = 64,
    max_batch: Annotated[int, typer.Option(help="staged: most waiting requests that a worker takes at once")] = 16,
    threads: Annotated[int, typer.Option("--event-loops", help="direct: event-loop threads")] = 1,
    sharded: Annotated[bool, typer.Option("--split-multi-gets", help="split a multi-get over the servers")] = False,
    max_waiting_requests: Annotated[
        int, typer.Option(help="most requests that wait; further ones are refused")
    ] = 10_000,
    max_clients: Annotated[int, typer.Option(help="most connections of clients")] = 1024,
    max_value_bytes: Annotated[int, typer.Option(help="largest value")] = 1 << 20,
    max_key_bytes: Annotated[int, typer.Option(help="longest key, up to 250")] = 250,
    max_total_buffer_bytes: Annotated[int, typer.Option(help="buffers of all connections together, at most")] = 256
    << 20,
    idle_timeout: Annotated[float, typer.Option(help="idle time after which a client is disconnected, s")] = 600.0,
    server_timeout: Annotated[float, typer.Option(help="time limit for a server's answer, s")] = 1.0,
    connect_timeout: Annotated[float, typer.Option(help="time limit to connect to a server, s")] = 1.0,
    thread_log: Annotated[
        Path | None, typer.Option(help="record log: counters of each thread, a row for each period")
    ] = None,
    histogram_log: Annotated[
        Path | None, typer.Option(help="record log: a histogram of the response times for each period")
    ] = None,
    log_period: Annotated[float, typer.Option(help="period of both logs, s")] = 1.0,
    histogram: Annotated[
        Path | None, typer.Option("--hdr-log", help="HdrHistogram log of the whole run, at its end")
    ] = None,
    metrics: Annotated[str | None, typer.Option("--metrics-address", help="ip:port of an OpenMetrics endpoint")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="the whole summary at the end, as JSON")] = False,
) -> None:
    """Puts a proxy in front of memcached.

    Writes go to all servers, reads to one. docs/reference/kv-proxy.md
    """
    from sojourn_cases.kv.middleware.kv_proxy import KvProxy, ProxyOptions

    chosen = options(
        ProxyOptions, "serve kv-proxy", listen=listen, servers=tuple(server), design=design, workers=workers,
        batch=max_batch,
        threads=threads, sharded=sharded, queue=max_waiting_requests, connections=max_clients, value_bytes=max_value_bytes,
        key_bytes=max_key_bytes, memory_bytes=max_total_buffer_bytes, idle_s=idle_timeout, timeout_s=server_timeout,
        connect_timeout_s=connect_timeout,
        log=thread_log, bins=histogram_log, period_s=log_period, histogram=histogram, metrics=metrics,
    )  # fmt: skip
    with stopped_early():
        proxy = KvProxy(chosen, log=STANDARD_ERROR)
        also = f", metrics at http://{proxy.metrics}/metrics" if proxy.metrics else ""
        watched = Watched(
            "serve kv-proxy", proxy, told, as_json, counted=lambda: logged(thread_log, "completions"), version=2
        )
        watched.until_stopped(f"{proxy.url} -> {', '.join(server)} ({design}){also}; Ctrl-C ends it")


def told(summary: dict[str, Any]) -> str:
    """The summary in a few lines."""
    lines = [
        done(summary),
        f"{summary['errors']} errors, {summary['misses']} of {summary['misses'] + summary['hits']} keys missed",
        *times(summary, ("response", "queue", "service")),
    ]
    lines += [
        f"{server['address']}: {server['requests']} requests, {server['errors']} errors, "
        f"{server['service_s'] * 1e3:.3f} ms each"
        for server in summary["servers"]
    ]
    return "\n".join([*lines, *lost(summary)])
