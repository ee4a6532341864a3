"""Clients of the message service that write down what they did and were told, and cut their own connections."""

from __future__ import annotations

import json
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from sojourn_cases.messages.delivery import ClientOperation

ANSWERED_S = 2.0  # longer than the service waits for its database
CUT_SHARE = 0.06
PAUSE_S = 0.004
# Of a message that was taken: acknowledged at once, after its time, or never.
SETTLED = {"at once": 8, "late": 1, "never": 1}
RESET = struct.pack("ii", 1, 0)  # closes with RST instead of FIN


@dataclass
class Answer:
    """What came back; status 0 where nothing did."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def outcome(self) -> str:
        """In the words of the judge."""
        if self.status in (200, 201):
            return "done"
        if self.status == 503:
            return "unknown" if "unknown" in json.loads(self.body)["error"] else "refused"
        return {0: "unknown", 204: "empty"}.get(self.status, "refused")


class Talk:
    """A connection that is opened when it is needed; what is cut off is closed."""

    def __init__(self, address: str, draw: random.Random | None = None) -> None:
        host, port = address.rsplit(":", 1)
        self.address, self.draw = (host, int(port)), draw
        self.socket: socket.socket | None = None
        self.cuts: Counter[str] = Counter()

    def connect(self) -> bool:
        """Whether there is a connection."""
        if self.socket is None:
            with suppress(OSError):
                self.socket = socket.create_connection(self.address, timeout=ANSWERED_S)
        return self.socket is not None

    def close(self, reset: bool = False) -> None:
        if self.socket is None:
            return
        if reset:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.socket.close()
        self.socket = None

    def call(self, method: str, path: str, body: bytes = b"") -> Answer | None:
        """The answer; None where the request was cut off before its end, so that surely nothing was done."""
        assert self.socket is not None
        request = b"%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (
            method.encode(),
            path.encode(),
            len(body),
            body,
        )
        cut = self.draw.random() < CUT_SHARE if self.draw else False
        if cut and self.draw:
            return self._cut(request, self.draw)
        try:
            self.socket.sendall(request)
            return self._answer(self.socket)
        except OSError:
            self.close()
            return Answer()

    def _cut(self, request: bytes, draw: random.Random) -> Answer | None:
        """Sends a part or all of it, and goes without having heard."""
        assert self.socket is not None
        whole = draw.random() < 0.7
        part = request if whole else request[: draw.randrange(len(request))]
        with suppress(OSError):
            self.socket.sendall(part)
            time.sleep(draw.choice((0.0, 0.0, draw.uniform(0.0, 0.003))))
        self.close(reset=draw.random() < 0.5)
        self.cuts["whole" if whole else "part"] += 1
        return Answer() if whole else None

    def _answer(self, talk: socket.socket) -> Answer:
        """Raises OSError where it does not come to its end."""
        heard = b""
        while b"\r\n\r\n" not in heard:
            heard += self._more(talk)
        head, _, body = heard.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        while len(body) < int(headers.get("content-length", 0)):
            body += self._more(talk)
        if headers.get("connection") == "close":
            self.close()
        return Answer(int(first.split()[1]), headers, body)

    @staticmethod
    def _more(talk: socket.socket) -> bytes:
        if not (more := talk.recv(65536)):
            raise ConnectionResetError
        return more


class Client(threading.Thread):
    """Puts, takes and acknowledges until `halt` is set."""

    def __init__(self, name: str, address: str, queue: str, seed: int, redelivery_s: float | None) -> None:
        super().__init__(daemon=True, name=name)
        self.draw = random.Random(f"client {name} {seed}")
        self.talk, self.queue, self.redelivery_s = Talk(address, self.draw), queue, redelivery_s
        self.halt, self.log, self.failed = threading.Event(), list[ClientOperation](), ""
        self._count = 0

    def run(self) -> None:
        try:
            while not self.halt.is_set():
                if self.talk.connect():
                    self.put() if self.draw.random() < 0.5 else self.take()
                self.halt.wait(self.draw.expovariate(1 / PAUSE_S))
        except Exception as error:  # an answer that is none: the judge is told
            self.failed = f"{self.name}: {error!r}"
        finally:
            self.talk.close()

    def put(self) -> None:
        self._count += 1
        content = f"{self.queue} {self.name} {self._count}"
        body = content.encode() + b" " * self.draw.choice((0, 0, 100, 5000))
        self._call("put", "POST", "/messages", body, content=content)

    def take(self) -> None:
        taken = self._call("take", "POST", "/take")
        if taken.outcome == "done" and self.redelivery_s is not None:
            self._settle(taken, self.draw.choices(list(SETTLED), list(SETTLED.values()))[0])

    def _settle(self, taken: ClientOperation, how: str) -> None:
        if how == "late" and self.redelivery_s:
            self.halt.wait(self.draw.uniform(0.5, 2.0) * self.redelivery_s)
        if how != "never" and self.talk.connect():
            done = self.acknowledge(taken)
            if done.outcome in ("unknown", "refused") and self.talk.connect():
                self.acknowledge(taken)

    def acknowledge(self, taken: ClientOperation) -> ClientOperation:
        path = f"/messages/{taken.number}?receipt={taken.receipt}"
        return self._call("acknowledge", "DELETE", path, receipt=taken.receipt, number=taken.number)

    def _call(self, kind: str, method: str, path: str, body: bytes = b"", **known: str | int | None) -> ClientOperation:
        start_s = time.monotonic()
        answer = self.talk.call(method, f"/queues/{self.queue}{path}", body)
        outcome = answer.outcome if answer else "refused"
        if answer and kind == "acknowledge":
            outcome = {204: "done", 404: "gone"}.get(answer.status, outcome)
        if answer and answer.status not in (0, 200, 201, 204, 404, 503):
            self.failed = f"{self.name}: {kind} was answered {answer.status} {answer.body!r}"
        told: dict[str, str | int | None] = {**known}
        if answer and outcome == "done" and kind != "acknowledge":
            told["number"] = int(answer.headers["x-message-id"])
        if answer and outcome == "done" and kind == "take":
            told["content"] = answer.body.decode().rstrip(" ")
            told["receipt"] = int(answer.headers.get("x-receipt", 0)) or None
        one = ClientOperation(self.name, start_s, time.monotonic(), kind, self.queue, outcome, **told)  # type: ignore[arg-type]
        self.log.append(one)
        return one


def drain(client: Client, rest_s: float) -> None:
    """Takes all that is there, until nothing has come back after a rest."""
    client.talk.draw = None
    while True:
        taken = list(_taken(client))
        if client.redelivery_s is not None:
            for one in taken:
                client.acknowledge(one)
        if len(client.log) > 1 and not taken:
            return client.talk.close()
        time.sleep(rest_s)


def _taken(client: Client) -> Iterator[ClientOperation]:
    while client.talk.connect():
        one = client._call("take", "POST", "/take")
        if one.outcome == "empty":
            return
        if one.outcome != "done":
            raise AssertionError(f"the drain, when all is well again: {one}")
        yield one
    raise AssertionError("the drain: no service")
