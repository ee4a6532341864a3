"""The generator's configuration for a plain HTTP load, from what a user says; and what all loads have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sojourn.errors import InputError
from sojourn.load.http_request import HttpRequest, statuses, targets

MOST_PER_S = 1e7
MOST_USERS = 1_000_000
MOST_THREADS = 255


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


def http_load(
    urls: list[str],
    *,
    rate_per_s: float | None = None,
    users: int | None = None,
    think_s: float = 0.0,
    arrivals: str = "poisson",
    duration_s: float = 10.0,
    connections: int = 64,
    seed: int = 1,
    timeout_s: float = 10.0,
    status: int | Sequence[int] = 200,
    method: str = "GET",
    headers: Sequence[tuple[str, str]] = (),
    body: str | None = None,
    template: bool = False,
    requests: Sequence[HttpRequest] | None = None,
    ca: Path | str | None = None,
    insecure: bool = False,
    unix_socket: Path | str | None = None,
    realtime: bool = False,
) -> dict[str, Any]:
    """One lane over `urls` (equal weights): open loop at `rate_per_s` in (0, 1e7], or closed loop with `users`.

    Each request has `method`, `headers` (values as `credentials.header` says) and `body` (text, or `@FILE`); with
    `template` placeholders in them are drawn. `requests` instead: a weighted list, with `headers` where it has none.
    `status`: those that a good answer may have. https:// is trusted by the authorities of this machine, by those in the
    PEM file `ca` (or the service's own certificate there), or (`insecure`) whatever certificate it shows. `unix_socket`: where all
    of it goes. `realtime`: the thread asks for real-time priority, and says where it is refused.

    Raises:
        InputError: both or neither of rate and users, or one of them out of range; the generator checks the rest.
    """
    if (rate_per_s is None) == (users is None):
        found = "no load is given" if users is None else f"a rate ({rate_per_s:g}) and users ({users})"
        raise InputError(found, "load", "give either --rate or --users")
    if rate_per_s is not None and not 0 < rate_per_s <= MOST_PER_S:
        raise InputError(f"{rate_per_s:g}", "--rate", f"give requests per second above 0, at most {MOST_PER_S:.0f}")
    if users is not None and not 1 <= users <= MOST_USERS:
        raise InputError(str(users), "--users", f"give 1 to {MOST_USERS} users")
    if connections < 1:
        raise InputError(str(connections), "--connections", "give at least 1")
    if arrivals not in ("poisson", "constant"):
        raise InputError(repr(arrivals), "--arrivals", "use poisson or constant")
    common = HttpRequest(url="", method=method, headers=headers, body=body, template=template)
    lane: dict[str, Any] = {
        "targets": _with_hosts(targets(urls, requests, common)),
        "connections": connections,
        "connections_max": max(connections, 4096),
        "cpu": None,
    }
    if rate_per_s is not None:
        lane["arrivals"] = {"kind": arrivals, "rate_per_s": rate_per_s}
    else:
        kind = "exponential" if think_s > 0 else "deterministic"
        lane["closed"] = {"users": users, "think": {"kind": kind, "mean": think_s}}
    config: dict[str, Any] = {
        "lanes": [lane],
        "duration_s": duration_s,
        "seed": seed,
        "timeout_s": timeout_s,
        "expect": {"status": status if isinstance(status, int) else statuses(status)},
        "realtime": realtime,
    }
    if ca is not None or insecure:
        config["tls"] = {"ca": None if ca is None else str(ca), "insecure": insecure}
    if unix_socket is not None:
        config["unix_socket"] = str(unix_socket)
    return config


def client_lanes(
    urls: list[str],
    clients: int,
    *,
    place: str,
    threads: int = 1,
    think_s: float = 0.0,
    rate_per_s: float | None = None,
    arrivals: str = "poisson",
    cores: list[int] | None = None,
) -> list[dict[str, Any]]:
    """Lanes of clients that have a connection each: `clients` over all threads, dealt out over `urls` in turn.

    Closed loop, unless `rate_per_s` (over all threads) is given. Thread k is pinned to core k of `cores`, in turn.

    Raises:
        InputError: a value out of range; that of `clients` names `place`.
    """
    if not 1 <= threads <= MOST_THREADS:
        raise InputError(str(threads), "--threads", f"give 1 to {MOST_THREADS}")
    if not len(urls) <= clients <= MOST_USERS:
        raise InputError(str(clients), place, f"give {len(urls)} (one a target) to {MOST_USERS}")
    if rate_per_s is not None and not 0 < rate_per_s <= MOST_PER_S:
        raise InputError(f"{rate_per_s:g}", "--rate", f"give requests per second above 0, at most {MOST_PER_S:.0f}")
    if arrivals not in ("poisson", "constant"):
        raise InputError(repr(arrivals), "--arrivals", "use poisson or constant")
    lanes = [
        _lane(
            urls, clients // threads + (k < clients % threads), think_s, rate_per_s and rate_per_s / threads, arrivals
        )
        for k in range(min(threads, clients))
    ]
    for number, lane in enumerate(lanes):
        lane["cpu"] = cores[number % len(cores)] if cores else None
    return lanes


def _lane(urls: list[str], clients: int, think_s: float, rate_per_s: float | None, arrivals: str) -> dict[str, Any]:
    """One thread: `clients` connections dealt out over `urls`. User k of a lane stays with target k modulo targets."""
    connections = math.ceil(clients / len(urls))
    lane: dict[str, Any] = {
        "targets": [{"url": url} for url in urls],
        "connections": connections,
        "connections_max": connections if rate_per_s is None else max(connections, 4096),
    }
    if rate_per_s is not None:
        return lane | {"arrivals": {"kind": arrivals, "rate_per_s": rate_per_s}}
    kind = "exponential" if think_s > 0 else "deterministic"
    return lane | {"closed": {"users": clients, "think": {"kind": kind, "mean": think_s}}}
