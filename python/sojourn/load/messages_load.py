"""The generator's configuration for a load on the message service, from what a user says."""

from __future__ import annotations

from typing import Any

from sojourn.errors import InputError
from sojourn.load.credentials import hide
from sojourn.load.http_load import client_lanes
from sojourn.load.kv_load import Sizes, sizes


def messages_load(
    urls: list[str],
    *,
    clients: int = 16,
    threads: int = 1,
    retry_delay_s: float = 0.1,
    think_s: float = 0.0,
    rate_per_s: float | None = None,
    arrivals: str = "poisson",
    duration_s: float = 10.0,
    put_weight: float = 1.0,
    take_weight: float = 1.5,
    queues: int = 1,
    prefix: str = "load",
    fresh: bool = False,
    message_bytes: Sizes = 200,
    verify: bool = True,
    token: str | None = None,
    seed: int = 1,
    timeout_s: float = 10.0,
    record_limit: int = 2_000_000,
    cores: list[int] | None = None,
) -> dict[str, Any]:
    """A load on the `messages://HOST:PORT` of `urls`, to which the clients are dealt out in turn.

    Closed loop: `clients` over all threads and targets, each with a connection of its own. An operation is a put or a
    take with these weights, drawn independently, on one of `queues` queues, each as likely. After a take that found
    nothing a client waits `retry_delay_s`, exactly; after everything else it thinks `think_s` (exponential; 0: not at
    all). Where the service gives a receipt with a message, the client's next request acknowledges it. With `rate_per_s`
    an open loop: that many requests a second over all threads, due whether or not answers came.

    The queues `prefix`-0, `prefix`-1 … are made before the start; with `fresh` they are thrown away first, with all
    that is in them. `message_bytes` (at least 16) is a number, `low-high`, `size:weight,size:weight`, or the
    generator's own table. A message carries its number, and its bytes follow from that, so every message that is taken
    is compared (`verify`), and one that is taken twice is told. `cores`: thread k is pinned to core k of these, in turn.

    Raises:
        InputError: a value out of range; the generator checks the rest.
    """
    if retry_delay_s < 0:
        raise InputError(f"{retry_delay_s:g}", "--retry-delay", "give seconds of at least 0")
    lanes = client_lanes(
        urls, clients, place="--clients", threads=threads, think_s=think_s, rate_per_s=rate_per_s, arrivals=arrivals,
        cores=cores,
    )  # fmt: skip
    return {
        "lanes": lanes,
        "duration_s": duration_s,
        "seed": seed,
        "timeout_s": timeout_s,
        "record_limit": record_limit,
        "messages": {
            "put": put_weight,
            "take": take_weight,
            "retry_delay_s": retry_delay_s,
            "queues": queues,
            "prefix": prefix,
            "fresh": fresh,
            "message_bytes": sizes(message_bytes, "--message-size"),
            "verify": verify,
            **({} if token is None else {"token_env": hide("messages token", token)}),
        },
    }
