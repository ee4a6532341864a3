"""The generator's configuration for a plain HTTP load, from what a user says; and what all loads have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from sojourn.errors import InputError
from sojourn.load.credentials import authorization
from sojourn.load.http_request import HttpRequest, pairs, read_requests, status_list, statuses, targets
from sojourn.load.load_options import MOST_USERS, ClosedLoad, SlackLoad, option

HTTP = "HTTP"


def _with_hosts(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Told here, before anything is opened or anybody is waited for; the generator checks the rest of a URL."""
    for target in found:
        try:
            parts = urlsplit(target["url"])
            is_one = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            is_one = False
        if not is_one:
            raise InputError(repr(target["url"]), "URL", "give http://HOST:PORT/PATH or https://HOST/PATH")
    return found


@dataclass(frozen=True, kw_only=True)
class HttpOptions(SlackLoad, ClosedLoad):
    """A load of HTTP requests: open loop at `rate_per_s` in (0, 1e7], or closed loop with `users`.

    Each request has `method`, `headers` (values as `credentials.header` says) and `body` (text, or `@FILE`); with `template`
    placeholders in them are drawn. `requests` instead: a weighted list, with `headers` where it has none. `status`: those that a good
    answer may have. `bearer_env`, `basic_env`: the environment variable that holds a token, or `user:password`. https:// is trusted
    by the authorities of this machine, by those in the PEM file `ca` (or the service's own certificate there), or (`insecure`)
    whatever certificate it shows. `unix_socket`: where all of it goes. `realtime`: the thread asks for real-time priority, and says
    where it is refused.
    """

    protocol: ClassVar[str] = "http"
    schemes: ClassVar[tuple[str, ...]] = ("http", "https")
    shape: ClassVar[str] = "http://HOST:PORT/PATH"
    about: ClassVar[str] = "HTTP requests, one or a weighted list of them"
    examples: ClassVar[tuple[str, ...]] = (
        "sojourn load http://127.0.0.1:8080/ --rate 500 --for 10s",
        "sojourn load http://127.0.0.1:8080/ --users 20 --think 100ms",
        "sojourn load http://127.0.0.1:8080/cart --rate 50 --http-method POST --body @cart.json",
    )
    measured: ClassVar[tuple[str, ...]] = (
        "sojourn measure http://127.0.0.1:8080/ --rate 50..350:50 --out runs",
        "sojourn measure http://127.0.0.1:8080/ --users 1,2,4 --think 100ms",
        "sojourn measure http://127.0.0.1:8080/ --rate 200 --service-pids 4711,4712",
    )

    connections: int = option(64, "connections opened before the start", "--connections", int, shown="64")
    method: str = option(
        "GET", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS (default: GET)", "--http-method", panel=HTTP
    )
    headers: Sequence[tuple[str, str]] = option(
        (), "'Name: value', several times; value env:VARIABLE: from the environment", "--header", list[str],
        read=lambda given, _: pairs(given), panel=HTTP,
    )  # fmt: skip
    body: str | None = option(None, "text, or @FILE", "--body", panel=HTTP)
    template: bool = option(
        False,
        "replace {uuid} {int:1-9} {choice:a|b} in path, headers, body by random values",
        "--placeholders",
        bool,
        panel=HTTP,
    )
    requests: Sequence[HttpRequest] | None = option(
        None,
        "a weighted list of requests, TOML",
        "--request-mix",
        Path,
        read=lambda given, _: read_requests(given),
        panel=HTTP,
    )
    status: int | Sequence[int] = option(
        200,
        "statuses that count as success: 200 or 200,201 (default: 200)",
        "--ok-status",
        read=lambda text, _: status_list(text),
        panel=HTTP,
    )
    bearer_env: str | None = option(
        None, "environment variable with a bearer token", "--bearer-token-env", panel=HTTP, metavar="NAME"
    )
    basic_env: str | None = option(
        None, "environment variable with user:password", "--basic-auth-env", panel=HTTP, metavar="NAME"
    )
    ca: Path | str | None = option(
        None, "https: PEM file of authorities to trust, or the service's own certificate", "--ca", Path, panel=HTTP
    )
    insecure: bool = option(False, "https: take any certificate", "--insecure", bool, panel=HTTP)
    unix_socket: Path | str | None = option(
        None, "a Unix socket instead of the URL's host", "--unix-socket", Path, panel=HTTP
    )
    realtime: bool = False

    def config(self, urls: list[str]) -> dict[str, Any]:
        """One lane over `urls`, with equal weights.

        Raises:
            InputError: both or neither of rate and users, or one of them out of range; the generator checks the rest.
        """
        if (self.rate_per_s is None) == (self.users is None):
            both = f"a rate ({self.rate_per_s:g}) and users ({self.users})" if self.users is not None else ""
            raise InputError(both or "no load is given", "load", "give either --rate or --users")
        self.check_rate()
        if self.users is not None and not 1 <= self.users <= MOST_USERS:
            raise InputError(str(self.users), "--users", f"give 1 to {MOST_USERS} users")
        if self.connections < 1:
            raise InputError(str(self.connections), "--connections", "give at least 1")
        headers = [*self.headers, *authorization(self.bearer_env, self.basic_env)]
        common = HttpRequest(url="", method=self.method, headers=headers, body=self.body, template=self.template)
        lane: dict[str, Any] = {
            "targets": _with_hosts(targets(urls, self.requests, common)),
            "connections": self.connections,
            "connections_max": max(self.connections, 4096),
            "cpu": None,
        }
        if self.rate_per_s is not None:
            lane["arrivals"] = {"kind": self.arrivals, "rate_per_s": self.rate_per_s}
        else:
            kind = "exponential" if self.think_s > 0 else "deterministic"
            lane["closed"] = {"users": self.users, "think": {"kind": kind, "mean": self.think_s}}
        config: dict[str, Any] = {
            "lanes": [lane],
            "duration_s": self.duration_s,
            "seed": self.seed,
            "timeout_s": self.timeout_s,
            **self.slack(),
            "expect": {"status": self.status if isinstance(self.status, int) else statuses(self.status)},
            "realtime": self.realtime,
        }
        if self.ca is not None or self.insecure:
            config["tls"] = {"ca": None if self.ca is None else str(self.ca), "insecure": self.insecure}
        if self.unix_socket is not None:
            config["unix_socket"] = str(self.unix_socket)
        return config


def http_load(urls: list[str], **options: Any) -> dict[str, Any]:
    """The generator's configuration of a load on `urls`; `options`: those of `HttpOptions`. InputError as there."""
    return HttpOptions(**options).config(urls)
