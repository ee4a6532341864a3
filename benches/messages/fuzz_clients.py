"""Clients that send mutated requests, split anywhere and pipelined, and know which answers must come."""

from __future__ import annotations

import random
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote

from fuzz_model import Answer, Model, WrongError, must
from fuzz_reference import Asked, asked
from hostile_clients import PIECES, connect, mutated

STREAMS = 30
# A stream that waits for more than this is not gone on with, bytes.
WAITS_FOR = 4000
STATUS = re.compile(rb"HTTP/1\.1 (\d\d\d) [A-Za-z ]+")
BODIES = (b"", b"x", b"\r\n\r\n", b"POST /queues/a/take HTTP/1.1\r\nHost: x\r\n\r\n", b"\0\xff'--", b"y" * 1999)
BACK_S = 10.0
MORE_PIECES = (*PIECES, b"\n", b"\r", b"\r\nContent-Length: 3\r\n\r\nabc", b"\r\nConnection: close", b"HTTP/1.0",
               b"\r\nX-Sender: bob", b"\r\nHost: y", b"http://x",
               b"%0d%0a", b"%C3%A9", b"\xc3\xa9", b"\r\n\t", b"9223372036854775807")  # fmt: skip


def requests(model: Model, draw: random.Random, most: int) -> list[bytes]:
    """Good requests of every sort, in the model's own queues, now and then with the longest body, or one byte more."""
    queues = [f"{model.stem}-a", f"{model.stem} b/é"]
    sender, body = draw.choice((b"ann", b"b\xc3\xb6b", b"c c")), draw.choice(BODIES)
    if draw.random() < 0.02:
        body = b"m" * (most + draw.randint(0, 1))
    named, put = quote(queues[draw.random() < 0.5], safe=""), b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    lines = [
        (f"PUT /queues/{named}", b"\r\n"), (f"PUT /queues/{named}", b"Accept: */*\r\n\r\n"),
        (f"DELETE /queues/{named}", b"\r\n"), (f"GET /queues?after={named[:-1]}", b"\r\n"), ("GET /queues", b"\r\n"),
        (f"POST /queues/{named}/messages", put), (f"POST /queues/{named}/messages", b"X-Sender: " + sender + b"\r\n" + put),
        (f"POST /queues/{named}/messages", b"Expect: 100-continue\r\n" + put),
        (f"POST /queues/{named}/take", b"\r\n"), (f"POST /queues/{named}/take", b"Connection: close\r\n\r\n"),
        (f"POST /queues/{named}/take?sender={quote(sender)}", b"\r\n"), (f"GET /queues/{named}/peek", b"\r\n"),
        (f"GET /queues/{named}/peek?sender={quote(sender)}", b"\r\n"),
    ]  # fmt: skip
    lines += [(path(*loan), b"\r\n") for loan in list(model.loans())[:3]]
    made = [line.encode() + b" HTTP/1.1\r\nHost: x\r\n" + rest for line, rest in lines]
    # Puts and takes are most of it.
    return made + made[5:8] * 2 + made[8:9] * 3


def path(queue: str, number: int, receipt: int) -> str:
    return f"DELETE /queues/{quote(queue, safe='')}/messages/{number}?receipt={receipt}"


def cuts(draw: random.Random, length: int) -> list[int]:
    """Where a stream is cut: ends of its pieces, which have some bytes each, or many."""
    mean = max(draw.choice((1, 3, 30, 1000)), length // 200)
    ends = [0]
    while ends[-1] < length:
        ends.append(min(length, ends[-1] + draw.randint(1, 2 * mean)))
    return ends


class Fuzzer(threading.Thread):
    """Connection after connection until `halt` is set; rests while `rests` says so. `fault` is what was wrong, with bytes."""

    def __init__(
        self, address: str, seed: str, redelivery_s: float | None, most: int, rests: Callable[[], bool]
    ) -> None:
        super().__init__(daemon=True)
        self.address, self.most, self.rests = address, most, rests
        self.draw, self.halt = random.Random(seed), threading.Event()
        self.model = Model(f"{self.draw.getrandbits(48):012x}", redelivery_s)
        self.answers: Counter[int] = Counter()
        self.connections = self.streams = self.bytes = 0
        self.fault = ""

    def run(self) -> None:
        while not self.halt.is_set() and not self.fault:
            if self.rests():
                self.halt.wait(0.5)
                continue
            self._guarded(self._connection)
        if not self.fault:
            self._guarded(self._clean)

    def _guarded(self, act: Callable[[], None]) -> None:
        self.sent = b""
        try:
            act()
        except Exception as error:  # whatever it is, it came of an answer
            self.fault = f"{error!r}\nafter {self.sent[-4000:]!r}"

    def _connection(self) -> None:
        self.connections += 1
        with Talk(self.address) as talk:
            left = b""
            for _ in range(self.draw.randint(1, STREAMS)):
                good = requests(self.model, self.draw, self.most)
                text = mutated(self.draw, good, MORE_PIECES)
                if self.draw.random() < 0.3:
                    text = b"".join(self.draw.choices(good, k=self.draw.randint(1, 8)))
                due, used = asked(left + text, self.most)
                self._exchange(talk, text, due, left + text)
                left = (left + text)[used:]
                if len(left) > WAITS_FOR or (due and due[-1].close):
                    break
            talk.end()

    def _exchange(self, talk: Talk, text: bytes, due: list[Asked], whole: bytes) -> None:
        """Sends a stream in pieces and judges its answers."""
        self.sent += text
        self.streams, self.bytes = self.streams + 1, self.bytes + len(text)
        begun_s = time.monotonic()
        talk.say(text, cuts(self.draw, len(text)) if self.draw.random() < 0.5 else [0, len(text)])
        for request in due:
            answer = talk.hear(b"expect" in whole.lower())
            self.answers[answer.status] += 1
            self.model.judge(request, answer, begun_s)
            must(request.close == (answer.headers.get(b"connection") == b"close"), request, answer)

    def _clean(self) -> None:
        """Nothing was lost: every loan comes back or is acknowledged; then all that was made is dropped."""
        with Talk(self.address) as talk:
            until = time.monotonic() + BACK_S
            while any(one.messages or one.lent for one in self.model.queues.values()):
                if time.monotonic() > until:
                    raise WrongError(f"did not come back: {list(self.model.loans())}")
                for name in [name for name, one in self.model.queues.items() for _ in range(1 + len(one.messages))]:
                    self._ask(talk, f"POST /queues/{quote(name, safe='')}/take")
                for loan in list(self.model.loans()):
                    self._ask(talk, path(*loan))
                time.sleep(0.05)
            for name in self.model.made:
                self._ask(talk, f"DELETE /queues/{quote(name, safe='')}")
            talk.end()

    def _ask(self, talk: Talk, line: str) -> None:
        text = line.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n"
        self._exchange(talk, text, asked(text, self.most)[0], text)


class Talk:
    """A connection, and its answers read one by one as RFC 9112 has them."""

    def __init__(self, address: str) -> None:
        self.socket, self.heard = connect(address), b""
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def say(self, text: bytes, ends: list[int]) -> None:
        try:
            for start, end in pairwise(ends):
                self.socket.sendall(text[start:end])
        except (ConnectionResetError, BrokenPipeError):
            pass  # it may have been told that this is the end; what it was told is judged

    def hear(self, goes_on: bool) -> Answer:
        """The next answer; with `goes_on` behind any number of 100 Continue."""
        while True:
            head = self._until(b"\r\n\r\n")
            first, *lines = head.split(b"\r\n")
            line = STATUS.fullmatch(first)
            if not line:
                raise WrongError(f"no answer: {first!r}")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
            status = int(line[1])
            if status == 100 and goes_on:
                continue
            if (b"content-length" in headers) == (status == 204):
                raise WrongError(f"{first!r} with {headers}")
            return Answer(status, headers, self._bytes(int(headers.get(b"content-length", b"0"))))

    def _until(self, end: bytes) -> bytes:
        while end not in self.heard:
            self._more()
        found, _, self.heard = self.heard.partition(end)
        return found

    def _bytes(self, length: int) -> bytes:
        while len(self.heard) < length:
            self._more()
        found, self.heard = self.heard[:length], self.heard[length:]
        return found

    def _more(self) -> None:
        if not (more := self.socket.recv(65536)):
            raise WrongError(f"the connection ended before an answer, behind {self.heard[:200]!r}")
        self.heard += more

    def end(self) -> None:
        """Says that nothing follows, and hears that nothing comes: but for leave to go on."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
            while more := self.socket.recv(65536):
                self.heard += more
        except TimeoutError:
            raise
        except OSError:
            pass  # it has sent its last answer, and gone
        if rest := self.heard.replace(b"HTTP/1.1 100 Continue\r\n\r\n", b""):
            raise WrongError(f"behind the last answer: {rest[:300]!r}")

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
