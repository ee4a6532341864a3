"""What a client's own queues must hold after its requests: a second, small message service that judges the first."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fuzz_reference import Asked

LISTED = 10_000
# Where somebody else may have made, dropped or emptied the queue too.
POSSIBLE = {"create": (200, 201), "drop": (204, 404), "put": (201, 404), "take": (200, 204, 404), "peek": (200, 204, 404),
            "acknowledge": (204, 404)}  # fmt: skip


class WrongError(Exception):
    """An answer that should not be."""


class Answer(NamedTuple):
    status: int
    headers: dict[bytes, bytes]
    body: bytes

    def number(self, name: bytes) -> int:
        return int(self.headers.get(name, b"0"))


class Message(NamedTuple):
    sender: str | None
    body: bytes


class Loan(NamedTuple):
    """A message that was taken and not acknowledged: from `back_s` (monotonic clock) on it may have come back."""

    message: Message
    receipt: int
    back_s: float


@dataclass
class Queue:
    messages: dict[int, Message] = field(default_factory=dict)
    lent: dict[int, Loan] = field(default_factory=dict)

    def back(self) -> dict[int, Message]:
        now = time.monotonic()
        return {number: loan.message for number, loan in self.lent.items() if loan.back_s <= now}


class Model:
    """Judges each answer in the order of the requests. Names with `stem` in them are this client's alone."""

    def __init__(self, stem: str, redelivery_s: float | None) -> None:
        self.stem, self.redelivery_s = stem, redelivery_s
        self.queues: dict[str, Queue] = {}
        # All that this client may have made, its own or not.
        self.made: set[str] = set()
        self.kinds: Counter[str] = Counter()
        self.last = 0

    def judge(self, request: Asked, answer: Answer, begun_s: float) -> None:
        """`begun_s`: before the request was sent.

        Raises:
            WrongError: it cannot be the answer to this request.
        """
        self.kinds[request.kind] += 1
        if request.kind == "create":
            self.made.add(request.queue)
        if request.kind == "refused":
            must(answer.status == request.status, request, answer)
            must(set(json.loads(answer.body)) == {"error", "remedy"}, request, answer)
        elif request.kind == "list":
            self._list(request, answer)
        elif self.stem not in request.queue:
            must(answer.status in POSSIBLE[request.kind], request, answer)
        elif request.kind == "create":
            must(answer.status == (200 if request.queue in self.queues else 201), request, answer)
            self.queues.setdefault(request.queue, Queue())
        elif request.queue not in self.queues:
            must(answer.status == 404, request, answer)
        else:
            getattr(self, f"_{request.kind}")(self.queues[request.queue], request, answer, begun_s)

    def _drop(self, _queue: Queue, request: Asked, answer: Answer, _begun_s: float) -> None:
        must(answer.status == 204, request, answer)
        del self.queues[request.queue]

    def _put(self, queue: Queue, request: Asked, answer: Answer, _begun_s: float) -> None:
        number = answer.number(b"x-message-id")
        must(answer.status == 201 and number > self.last, request, answer)
        self.last = number
        queue.messages[number] = Message(request.sender, request.body)

    def _seen(self, queue: Queue, request: Asked, answer: Answer) -> int | None:
        """The first message, which is there from now on if it was not before; None where there may be none."""
        wanted = request.sender
        sure, back = (
            {number: one for number, one in some.items() if wanted is None or one.sender == wanted}
            for some in (queue.messages, queue.back())
        )
        if answer.status == 204:
            must(not sure, request, answer)
            return None
        number = answer.number(b"x-message-id")
        message = sure.get(number) or back.get(number)
        must(answer.status == 200 and message is not None and number <= min(sure, default=number), request, answer)
        assert message
        sender = answer.headers.get(b"x-sender")
        must(Message(sender.decode() if sender else None, answer.body) == message, request, answer)
        queue.lent.pop(number, None)
        queue.messages[number] = message
        return number

    def _peek(self, queue: Queue, request: Asked, answer: Answer, _begun_s: float) -> None:
        self._seen(queue, request, answer)
        must(b"x-receipt" not in answer.headers, request, answer)

    def _take(self, queue: Queue, request: Asked, answer: Answer, begun_s: float) -> None:
        number = self._seen(queue, request, answer)
        must(
            (b"x-receipt" in answer.headers) == (number is not None and self.redelivery_s is not None), request, answer
        )
        if number is None:
            return
        message = queue.messages.pop(number)
        if self.redelivery_s is not None:
            queue.lent[number] = Loan(message, answer.number(b"x-receipt"), begun_s + self.redelivery_s)

    def _acknowledge(self, queue: Queue, request: Asked, answer: Answer, _begun_s: float) -> None:
        loan = queue.lent.get(request.number)
        if loan is None or loan.receipt != request.receipt:
            must(answer.status == 404, request, answer)
        elif answer.status == 204:
            del queue.lent[request.number]
        else:
            must(answer.status == 404 and request.number in queue.back(), request, answer)
            queue.messages[request.number] = queue.lent.pop(request.number).message

    def _list(self, request: Asked, answer: Answer) -> None:
        must(answer.status == 200, request, answer)
        found = {one["name"]: one["messages"] for one in json.loads(answer.body)}
        names = [name.encode() for name in found]
        # By the bytes of the names.
        must(names == sorted(names) and all(name > request.queue.encode() for name in names), request, answer)
        for name, queue in self.queues.items():
            if name.encode() > request.queue.encode() and (len(found) < LISTED or name in found):
                least, most = len(queue.messages), len(queue.messages) + len(queue.back())
                must(least <= found.get(name, -1) <= most, request, answer)

    def loans(self) -> Iterator[tuple[str, int, int]]:
        """Queue, number and receipt of what is to be acknowledged."""
        for name, queue in self.queues.items():
            for number, loan in queue.lent.items():
                yield name, number, loan.receipt


def must(good: bool, request: Asked, answer: Answer) -> None:
    if not good:
        raise WrongError(f"{answer.status} {answer.headers} {answer.body[:200]!r} to {request}")
