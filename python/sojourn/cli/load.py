"""`sojourn load URL`: a load test in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.cases import commands, imported
from sojourn.cli import agent_options as of_agents
from sojourn.cli import block_options as blocks
from sojourn.cli import http_options as http
from sojourn.errors import InputError
from sojourn.units import duration_s, number

KV: dict[str, Any] = {"rich_help_panel": "memcached", "show_default": False}
BULLETIN: dict[str, Any] = {"rich_help_panel": "bulletin http://host:port", "show_default": False}
MESSAGES: dict[str, Any] = {"rich_help_panel": "messages", "show_default": False}


def load(
    url: Annotated[
        list[str] | None,
        typer.Argument(
            help="http://host:port/path, memcached://host:port or messages://host:port; or several; bulletin http://host:port; "
            "file:PATH, blk:DEVICE, nbd://host:port"
        ),
    ] = None,
    rate: Annotated[str | None, typer.Option(help="requests per second, open loop")] = None,
    users: Annotated[int | None, typer.Option(help="closed loop: this many users instead of a rate")] = None,
    think: Annotated[str, typer.Option(help="mean think time of a user, e.g. 100ms (exponential)")] = "0",
    arrivals: Annotated[str, typer.Option(help="poisson or constant")] = "poisson",
    duration: Annotated[str, typer.Option("--for", help="how long, e.g. 10s, 2m")] = "10s",
    connections: Annotated[
        int | None, typer.Option(help="opened before the start: 64; memcached: 16, one a client, over all threads")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="the schedule repeats from it (default: another each time)")] = None,
    timeout: Annotated[str, typer.Option(help="after which a request has failed, from when it was due")] = "10s",
    method: http.Method = None,
    header: http.Header = None,
    body: http.Body = None,
    template: http.Template = None,
    requests: http.Requests = None,
    status: http.Status = None,
    bearer_env: http.BearerEnv = None,
    basic_env: http.BasicEnv = None,
    ca: http.Ca = None,
    insecure: http.Insecure = None,
    unix_socket: http.UnixSocket = None,
    threads: Annotated[int | None, typer.Option(help="threads of the generator; not for http [1]")] = None,
    set_: Annotated[float | None, typer.Option("--set", help="memcached: weight of sets [1]", **KV)] = None,
    get: Annotated[float | None, typer.Option(help="memcached: weight of gets [10]", **KV)] = None,
    multi_get: Annotated[str | None, typer.Option(help="memcached: keys that one get asks for", **KV)] = None,
    multi_get_share: Annotated[
        float | None, typer.Option(help="memcached: share of the gets that are multi-gets [1]", **KV)
    ] = None,
    keys: Annotated[int | None, typer.Option(help="memcached: different keys [10000]", **KV)] = None,
    key_pattern: Annotated[
        str | None, typer.Option(help="memcached: uniform, zipf, zipf:EXPONENT, sequential (default: uniform)", **KV)
    ] = None,
    key_prefix: Annotated[str | None, typer.Option(help="memcached: how keys begin (default: sojourn-)", **KV)] = None,
    key_size: Annotated[
        str | None, typer.Option(help="memcached: bytes of a key, prefix included: 40, 20-60, 20:1,60:3", **KV)
    ] = None,
    data_size: Annotated[
        str | None, typer.Option(help="memcached: bytes of a value: 1024, 100-4096, 32:9,1024:1 [1024]", **KV)
    ] = None,
    expiry: Annotated[int | None, typer.Option(help="memcached: expiry that a set gives, s [0: never]", **KV)] = None,
    populate: Annotated[
        bool | None,
        typer.Option("--populate/--no-populate", help="memcached: store all keys first (default: yes)", **KV),
    ] = None,
    verify: Annotated[
        bool | None, typer.Option("--verify/--no-verify", help="compare all that is read; not for http (default: yes)")
    ] = None,
    clients: Annotated[int | None, typer.Option(help="messages: each with a connection [16]", **MESSAGES)] = None,
    retry_delay: Annotated[
        str | None, typer.Option(help="messages: wait after a take that found nothing [100ms]", **MESSAGES)
    ] = None,
    put: Annotated[float | None, typer.Option(help="messages: weight of puts [1]", **MESSAGES)] = None,
    take: Annotated[float | None, typer.Option(help="messages: weight of takes [1.5]", **MESSAGES)] = None,
    queues: Annotated[int | None, typer.Option(help="messages: queues, made before the start [1]", **MESSAGES)] = None,
    prefix: Annotated[
        str | None, typer.Option(help="messages: how names of queues begin (default: load)", **MESSAGES)
    ] = None,
    fresh: Annotated[
        bool | None,
        typer.Option("--fresh/--keep", help="messages: throw these queues away first (default: no)", **MESSAGES),
    ] = None,
    message_size: Annotated[
        str | None, typer.Option(help="messages: bytes, 16 or more: 200, 16-4096, 64:9,2000:1 [200]", **MESSAGES)
    ] = None,
    token: Annotated[str | None, typer.Option(help="messages: that the service wants to see", **MESSAGES)] = None,
    mix: Annotated[
        str | None,
        typer.Option(help="browse, readwrite, a CSV file with a transition matrix, MIX~3, or a page", **BULLETIN),
    ] = None,
    ramp_up: Annotated[str | None, typer.Option(help="users come; not counted [10s]", **BULLETIN)] = None,
    ramp_down: Annotated[str | None, typer.Option(help="not counted [1s]", **BULLETIN)] = None,
    iops: blocks.Iops = None,
    read: blocks.Read = None,
    random: blocks.Random = None,
    block: blocks.Block = None,
    direct: blocks.Direct = None,
    span: blocks.Span = None,
    align: blocks.Align = None,
    depth: blocks.Depth = None,
    queue: blocks.Queue = None,
    fsync: blocks.Fsync = None,
    fua: blocks.Fua = None,
    engine: blocks.Engine = None,
    quick_ack: blocks.QuickAck = None,
    yes_destroy: blocks.YesDestroy = None,
    cache_of: blocks.CacheOf = None,
    agents: of_agents.Agents = None,
    per_agent: of_agents.PerAgent = None,
    objective: http.Objectives = None,
    out: Annotated[Path | None, typer.Option(help="keep the run folder here")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the summary as one JSON object")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="print the Metrics as CSV")] = False,
) -> None:
    """Puts a known load on a service and prints response times.

    Times run from when a request was due, and, beside that, from when it was sent.
    """
    from sojourn.load.block_load import is_block_url
    from sojourn.load.http_load import http_load
    from sojourn.load.kv_load import kv_load
    from sojourn.load.messages_load import messages_load
    from sojourn.load.schedule_seed import fresh_seed

    common: dict[str, Any] = {
        "rate_per_s": None if rate is None else number(rate, "--rate"),
        "think_s": 0.0 if think == "0" else duration_s(think, "--think"),
        "arrivals": arrivals,
        "duration_s": duration_s(duration, "--for"),
        "seed": fresh_seed() if seed is None else seed,
        "timeout_s": number(duration_s(timeout, "--timeout"), "--timeout"),
    }
    urls = url or []
    if not urls and requests is None:
        raise InputError("no URL", "load", "give http://HOST:PORT/PATH, or --requests with URLs in it")
    of_http: dict[str, Any] = {
        "method": method,
        "header": header,
        "body": body,
        "template": template,
        "requests": requests,
        "status": status,
        "bearer_env": bearer_env,
        "basic_env": basic_env,
        "ca": ca,
        "insecure": insecure,
        "unix_socket": unix_socket,
    }
    both = {"threads": threads, "verify": verify}
    of_kv: dict[str, Any] = {
        "set_weight": set_,
        "get_weight": get,
        "multi_get": multi_get,
        "multi_get_share": multi_get_share,
        "keys": keys,
        "key_pattern": key_pattern,
        "key_prefix": key_prefix,
        "key_bytes": key_size,
        "value_bytes": data_size,
        "expiry_s": expiry,
        "populate": populate,
    }
    of_messages: dict[str, Any] = {
        "retry_delay_s": retry_delay and (0.0 if retry_delay == "0" else duration_s(retry_delay, "--retry-delay")),
        "put_weight": put,
        "take_weight": take,
        "queues": queues,
        "prefix": prefix,
        "fresh": fresh,
        "message_bytes": message_size,
        "token": token,
    }
    of_blocks: dict[str, Any] = {
        "iops": iops,
        "read": read,
        "random": random,
        "block": block,
        "direct": direct,
        "span": span,
        "align": align,
        "depth": depth,
        "queue": queue,
        "fsync_every": fsync,
        "fua_every": fua,
        "engine": engine,
        "quick_ack": quick_ack,
        "yes_destroy": yes_destroy,
        "cache_of": cache_of,
    }
    shared = {"agents": agents, "per_agent": per_agent}
    of_sessions = {"mix": mix, "ramp_up": ramp_up, "ramp_down": ramp_down}
    if not all(one.startswith(("http://", "https://")) for one in urls):
        only_for("http", shared)
    if any(is_block_url(one) for one in urls):
        others = of_http | of_kv | of_messages | of_sessions
        only_for("http, memcached or messages", others | {"connections": connections, "clients": clients})
        config = blocks.block_config(urls, given(of_blocks), common, verify, users)
        return perform_load(config, out, as_json, as_csv, objective)
    if given(of_blocks):
        raise InputError(", ".join(given(of_blocks)), "load", "only for file:PATH, blk:DEVICE and nbd://HOST:PORT")
    if urls and "://" not in urls[0] and (of_case := commands("load", {}).get(urls[0])):
        config = imported(of_case)(urls[1:], users, given(of_http | both | of_kv | of_messages), of_sessions, common)
        return perform_load(config, out, as_json, as_csv, objective)
    if given(of_sessions):
        raise InputError(
            f"{', '.join(given(of_sessions))}", "load", "only for `sojourn load bulletin http://HOST:PORT`"
        )
    schemes = {one.partition("://")[0] for one in urls}
    if len(schemes & {"memcached", "messages"}) and len(schemes) > 1:
        raise InputError(f"URLs of {' and '.join(sorted(schemes))}", "load", "one run takes one of them, not both")
    if schemes == {"memcached"}:
        only_for("http", of_http)
        only_for("messages", of_messages | {"clients": clients})
        number_ = connections_of(connections, users, common["rate_per_s"])
        config = kv_load(urls, connections=number_, **given(both | of_kv), **common)
    elif schemes == {"messages"}:
        only_for("http", of_http)
        only_for("memcached", of_kv)
        number_ = connections_of(connections if clients is None else clients, users, common["rate_per_s"])
        config = messages_load(urls, clients=number_, **given(both | of_messages), **common)
    else:
        only_for("memcached", of_kv)
        only_for("messages", of_messages | {"clients": clients})
        only_for("memcached", both)
        number_ = 64 if connections is None else connections
        config = http_load(
            urls, users=users, connections=number_, realtime=True, **http.http_given(**of_http), **common
        )
        http.warn_of_hidden(config)
    perform_load(config, out, as_json, as_csv, objective, of_agents.agent_load(agents, per_agent))


def perform_load(
    config: dict[str, Any], out: Path | None, as_json: bool, as_csv: bool, objective: Any, agents: Any = None
) -> None:
    """Runs it and prints what came out."""
    from sojourn.cli.load_run import OutputFormat, perform  # slow to import, and not needed where an option is wrong
    from sojourn.query.objectives import read_objectives

    perform(config, out, OutputFormat(as_json, as_csv), read_objectives(objective or ()), agents)


def connections_of(connections: int | None, users: int | None, rate_per_s: float | None) -> int:
    """The connections of a load on memcached or messages: each user has one.

    Raises:
        InputError: users beside a rate, or beside another number of connections.
    """
    if users is not None and (rate_per_s is not None or connections not in (None, users)):
        raise InputError(f"users = {users}", "load", "give --connections alone: each client has one")
    return next(given for given in (connections, users, 16) if given is not None)


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Those that the user gave."""
    return {name: value for name, value in options.items() if value is not None}


def only_for(scheme: str, options: dict[str, Any]) -> None:
    """
    Raises:
        InputError: an option was given that means nothing to the targets.
    """
    for name, value in given(options).items():
        raise InputError(f"{name} = {value}", "load", f"only {scheme}://HOST:PORT has this; remove it")
