"""The generator's configuration for a load on the message service, from what a user says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sojourn.errors import InputError
from sojourn.load.client_lanes import ClientsLoad
from sojourn.load.credentials import hide
from sojourn.load.kv_load import Sizes, sizes
from sojourn.load.load_options import option, zero_or_s

MESSAGES = "messages"


@dataclass(frozen=True, kw_only=True)
class MessagesOptions(ClientsLoad):
    """A load on the message service.

    Closed loop: `clients` over all threads and targets (or `users`, which is the same), each with a connection of its own. An
    operation is a put or a take with these weights, drawn independently, on one of `queues` queues, each as likely. After a take that
    found nothing a client waits `retry_delay_s`, exactly; after everything else it thinks `think_s` (exponential; 0: not at all).
    Where the service gives a receipt with a message, the client's next request acknowledges it. With `rate_per_s` an open loop: that
    many requests a second over all threads, due whether or not answers came.

    The queues `prefix`-0, `prefix`-1 … are made before the start; with `fresh` they are thrown away first, with all that is in them.
    `message_bytes` (at least 16) is a number, `low-high`, `size:weight,size:weight`, or the generator's own table. A message carries
    its number, and its bytes follow from that, so every message that is taken is compared (`verify`), and one that is taken twice is
    told.
    """

    protocol: ClassVar[str] = "messages"
    schemes: ClassVar[tuple[str, ...]] = ("messages",)
    shape: ClassVar[str] = "messages://HOST:PORT"
    about: ClassVar[str] = "puts and takes on the message service"
    examples: ClassVar[tuple[str, ...]] = (
        "sojourn load messages://127.0.0.1:4040 --clients 8 --for 10s",
        "sojourn load messages://127.0.0.1:4040 --rate 500 --put-weight 1 --take-weight 1.5",
        "sojourn load messages://127.0.0.1:4040 --clients 4 --queue-count 2 --message-size 16-4096",
    )
    measured: ClassVar[tuple[str, ...]] = (
        "sojourn measure messages://127.0.0.1:4040 --rate 100..500:100 --out runs",
        "sojourn measure messages://127.0.0.1:4040 --users 1,2,4,8 --for 20s",
    )

    users: int | None = option(None, "closed loop: the same as --clients", "--users", int)
    clients: int | None = option(
        None, "closed loop: this many clients, a connection each; with --rate: connections at the start (default: 16)",
        "--clients", int,
    )  # fmt: skip
    retry_delay_s: float = option(
        0.1,
        "wait after a take that found nothing (default: 100ms)",
        "--empty-queue-delay",
        read=zero_or_s,
        panel=MESSAGES,
    )
    put_weight: float = option(1.0, "weight of puts (default: 1)", "--put-weight", float, panel=MESSAGES)
    take_weight: float = option(1.5, "weight of takes (default: 1.5)", "--take-weight", float, panel=MESSAGES)
    queues: int = option(1, "queues, made before the start (default: 1)", "--queue-count", int, panel=MESSAGES)
    prefix: str = option("load", "how names of queues begin (default: load)", "--queue-prefix", panel=MESSAGES)
    fresh: bool = option(
        False, "throw these queues away first (default: no)", "--clear-queues/--keep-queues", bool, panel=MESSAGES
    )
    message_bytes: Sizes = option(
        200, "bytes, 16 or more: 200, 16-4096, 64:9,2000:1 (default: 200)", "--message-size", panel=MESSAGES
    )
    verify: bool = option(
        True, "check that what is read is what was written (default: yes)", "--verify/--no-verify", bool, panel=MESSAGES
    )
    token: str | None = option(None, "that the service wants to see", "--token", panel=MESSAGES)

    def config(self, urls: list[str]) -> dict[str, Any]:
        """The clients are dealt out to the `messages://HOST:PORT` of `urls` in turn.

        Raises:
            InputError: a value out of range, users beside a rate; the generator checks the rest.
        """
        if self.retry_delay_s < 0:
            raise InputError(f"{self.retry_delay_s:g}", "--empty-queue-delay", "give seconds of at least 0")
        lanes = self.lanes(urls, self.clients, "--clients")
        messages = {
            "put": self.put_weight,
            "take": self.take_weight,
            "retry_delay_s": self.retry_delay_s,
            "queues": self.queues,
            "prefix": self.prefix,
            "fresh": self.fresh,
            "message_bytes": sizes(self.message_bytes, "--message-size"),
            "verify": self.verify,
            **({} if self.token is None else {"token_env": hide("messages token", self.token)}),
        }
        return self.generator(lanes, messages=messages)


def messages_load(urls: list[str], **options: Any) -> dict[str, Any]:
    """The generator's configuration of a load on `urls`; `options`: those of `MessagesOptions`. InputError as there."""
    return MessagesOptions(**options).config(urls)
