"""What `load` and `measure` can say of HTTP requests: options, and what they mean to `http_load`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.errors import InputError
from sojourn.terminal import say

HTTP: dict[str, Any] = {"rich_help_panel": "HTTP", "show_default": False}
Method = Annotated[str | None, typer.Option(help="GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS [GET]", **HTTP)]
Header = Annotated[
    list[str] | None,
    typer.Option(help="'Name: value', several times; value env:VARIABLE: from the environment", **HTTP),
]
Body = Annotated[str | None, typer.Option(help="text, or @FILE", **HTTP)]
Template = Annotated[
    bool | None, typer.Option("--template", help="draw {uuid} {int:1-9} {choice:a|b} in path, headers, body", **HTTP)
]
Requests = Annotated[Path | None, typer.Option(help="a weighted list of requests, TOML", **HTTP)]
Status = Annotated[str | None, typer.Option(help="statuses of a good answer: 200 or 200,201 [200]", **HTTP)]
BearerEnv = Annotated[str | None, typer.Option(help="environment variable with a bearer token", metavar="NAME", **HTTP)]
BasicEnv = Annotated[str | None, typer.Option(help="environment variable with user:password", metavar="NAME", **HTTP)]
Ca = Annotated[
    Path | None,
    typer.Option("--ca", help="https: PEM file of authorities to trust, or the service's own certificate", **HTTP),
]
Insecure = Annotated[bool | None, typer.Option("--insecure", help="https: take any certificate", **HTTP)]
UnixSocket = Annotated[Path | None, typer.Option(help="a Unix socket instead of the URL's host", **HTTP)]
Objectives = Annotated[
    list[str] | None,
    typer.Option(
        "--objective", help="'p99 < 50ms', 'errors < 1%', 'rate > 190/s' …; several times", show_default=False
    ),
]


def pairs(headers: list[str] | None) -> list[tuple[str, str]]:
    """Names and values of `Name: value`.

    Raises:
        InputError: one without a colon, or without a name; its value is not told, it may be a secret.
    """
    found = []
    for text in headers or ():
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise InputError("a header without a name and a colon", "--header", "write 'Name: value'")
        found.append((name.strip(), value.strip(" \t")))
    return found


def status_list(text: str | None) -> list[int]:
    """`200,201` as numbers; 200 where nothing is said.

    Raises:
        InputError: anything else.
    """
    try:
        return [int(part) for part in text.split(",")] if text is not None else [200]
    except ValueError:
        raise InputError(repr(text), "--status", "give statuses like 200 or 200,201") from None


def http_given(
    *,
    method: str | None,
    header: list[str] | None,
    body: str | None,
    template: bool | None,
    requests: Path | None,
    status: str | None,
    bearer_env: str | None,
    basic_env: str | None,
    ca: Path | None,
    insecure: bool | None,
    unix_socket: Path | None,
) -> dict[str, Any]:
    """These options as arguments of `http_load`."""
    from sojourn.load.credentials import authorization
    from sojourn.load.http_request import read_requests

    return {
        "method": method or "GET",
        "headers": [*pairs(header), *authorization(bearer_env, basic_env)],
        "body": body,
        "template": bool(template),
        "requests": read_requests(requests) if requests else None,
        "status": status_list(status),
        "ca": ca,
        "insecure": bool(insecure),
        "unix_socket": unix_socket,
    }


def warn_of_hidden(config: dict[str, Any]) -> None:
    """Says on standard error which credentials stood in clear text."""
    from sojourn.load.credentials import hidden

    for name in hidden(config):
        say(
            f"warning: the value of header {name} is kept out of run folder and messages, but others can see it in the "
            "command or file it stands in; better --bearer-env, --basic-env or the value env:VARIABLE",
            err=True,
        )
