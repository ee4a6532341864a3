"""Clients that misbehave, each kind in its own way, and one that does not and says whether it is served rightly."""

from __future__ import annotations

import random
import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

from slow_clients import SlowTalk, all_at_once, each_its_own

QUEUE = "hostile"
PATIENCE_S = 10.0
STATUS = re.compile(rb"HTTP/1\.1 (\d\d\d) [A-Za-z ]+\r\n")
# What a request may be answered; 503 is none of them where the database is well and the queue is not full.
KNOWN = {100, 200, 201, 204, 400, 401, 404, 405, 411, 413, 431}
BODY = b"a message of a hostile client"
REQUESTS = (
    b"PUT /queues/hostile HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /queues?after=a HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /queues/hostile/messages HTTP/1.1\r\nHost: x\r\nX-Sender: ann\r\nContent-Length: %d\r\n\r\n%s"
    % (len(BODY), BODY),
    b"POST /queues/hostile/take?sender=ann HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n",
    b"GET /queues/host%69le/peek HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab",
    b"DELETE /queues/hostile/messages/17?receipt=18 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n\r\n",
)
PIECES = (b"\r\n", b"\r\n\r\n", b"\0", b"\x80\xff", b" ", b":", b"%", b"%00", b"%ff", b"/", b"?", b"Content-Length: 5\r\n",
          b"Transfer-Encoding: chunked\r\n", b"99999999999999999999", b"-1", b"HTTP/1.1", b"x" * 20_000)  # fmt: skip


def mutated(draw: random.Random, requests: Sequence[bytes] = REQUESTS, pieces: Sequence[bytes] = PIECES) -> bytes:
    """One to three requests with some bytes changed, removed, doubled, put in, cut off; or nothing but random bytes."""
    if draw.random() < 0.1:
        return draw.randbytes(draw.randint(1, 400)) + draw.choice((b"", b"\r\n\r\n"))
    text = b"".join(draw.choices(requests, k=draw.randint(1, 3)))
    for _ in range(draw.randint(1, 5)):
        at = draw.randrange(len(text) + 1)
        to = min(len(text), at + draw.randint(1, 12))
        piece = {
            "change": bytes(byte ^ 1 << draw.randrange(8) for byte in text[at:to]),
            "remove": b"",
            "double": text[at:to] * 2,
            "put in": draw.choice(pieces) + text[at:to],
        }[draw.choice(("change", "remove", "double", "put in"))]
        text = text[:at] + piece + text[to:]
    return text if draw.random() < 0.8 else text[: draw.randrange(len(text) + 1)]


def connect(address: str) -> socket.socket:
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=PATIENCE_S)


class Hostile(threading.Thread):
    """Does one thing again and again until `halt` is set; `faults` are answers that should not be."""

    def __init__(self, address: str, kind: str, seed: int, count: int = 1, pause_s: float = 0.0) -> None:
        super().__init__(daemon=True)
        self.address, self.kind, self.count, self.pause_s = address, kind, count, pause_s
        self.draw, self.halt = random.Random(f"{kind} {seed}"), threading.Event()
        self.faults: list[str] = []
        self.answers: Counter[int] = Counter()
        self.rounds = 0
        # Set when it has begun to do harm.
        self.at_work = threading.Event()

    def run(self) -> None:
        act: Callable[[], None] = getattr(self, f"_{self.kind}")
        while not self.halt.is_set() and not self.faults:
            try:
                act()
            except OSError as error:
                self.faults.append(f"{self.kind}, round {self.rounds}: {error!r}")
            self.rounds += 1
            self.at_work.set()
            self.halt.wait(self.pause_s)

    def stop(self) -> None:
        self.halt.set()
        self.join(2 * PATIENCE_S)
        if self.is_alive():
            self.faults.append(f"{self.kind} did not end")

    def _heard(self, talk: socket.socket, sent: bytes, wanted: int | None = None) -> None:
        """All answers until the service ends the connection; a timeout is a fault unless `wanted` is None."""
        heard = b""
        try:
            while (wanted is None or len(STATUS.findall(heard)) < wanted) and (more := talk.recv(65536)):
                heard += more
        except ConnectionResetError:
            pass  # it was told, and sent on
        except TimeoutError:
            if wanted is not None:
                self.faults.append(f"{self.kind}: not answered: {sent[:300]!r}")
        self._judge(heard, sent)

    def _judge(self, heard: bytes, sent: bytes) -> None:
        found = [int(status) for status in STATUS.findall(heard)]
        self.answers.update(found)
        if heard and not heard.startswith(b"HTTP/1.1 "):
            self.faults.append(f"{self.kind}: {heard[:100]!r} to {sent[:300]!r}")
        if strange := set(found) - KNOWN:
            self.faults.append(f"{self.kind}: {strange} to {sent[:300]!r}")

    def _malformed(self) -> None:
        text = mutated(self.draw)
        with connect(self.address) as talk:
            ends = self.draw.random() < 0.7
            with suppress(ConnectionResetError, BrokenPipeError):
                talk.sendall(text)
                if ends:
                    talk.shutdown(socket.SHUT_WR)
            if not ends:
                talk.settimeout(0.02)  # it may well wait for more
            self._heard(talk, text)

    def _oversize(self) -> None:
        head = b"POST /queues/hostile/messages HTTP/1.1\r\nHost: x\r\n"
        large = b"x" * 1_000_000
        text = self.draw.choice((head + b"Content-Length: 1000000\r\n\r\n" + large, head + b"X: " + large, large))
        with connect(self.address) as talk, suppress(ConnectionResetError, BrokenPipeError):
            talk.sendall(text)
            self._heard(talk, text, 1)

    def _pipelined(self) -> None:
        text = REQUESTS[2] + REQUESTS[3]
        with connect(self.address) as talk:
            whole = threading.Thread(target=talk.sendall, args=(text * self.count,), daemon=True)
            whole.start()
            self._heard(talk, text, 2 * self.count)
            whole.join(PATIENCE_S)

    def _slow(self) -> None:
        """A byte at a time on each of its connections, each at its own byte, at its own pace."""
        talks = [SlowTalk(connect(self.address), REQUESTS[2], self.draw) for _ in range(self.count)]
        self.at_work.set()
        each_its_own(talks, self.halt, self._judge)

    def _together(self) -> None:
        """A byte at a time, all connections at the same byte, so that all their requests are whole at one instant."""
        self._crowd(slowly=True)

    def _burst(self) -> None:
        """What `together` asks for, at the same instants, from clients that send each request in one piece."""
        self._crowd(slowly=False)

    def _crowd(self, slowly: bool) -> None:
        talks = [connect(self.address) for _ in range(self.count)]
        self.at_work.set()
        if all_at_once(talks, REQUESTS[2], slowly, self.halt):
            for talk in talks:
                self._heard(talk, REQUESTS[2], 1)
        for talk in talks:
            talk.close()

    def _half_open(self) -> None:
        """Half a request on each of its connections, and then nothing."""
        self._hold([REQUESTS[2][: 1 + k % (len(REQUESTS[2]) - 1)] for k in range(self.count)])

    def _idle(self) -> None:
        self._hold([b""] * self.count)

    def _hold(self, texts: list[bytes]) -> None:
        talks = []
        for text in texts:
            talks.append(connect(self.address))
            talks[-1].sendall(text)
        self.at_work.set()
        self.halt.wait()
        for talk in talks:
            talk.close()

    def _deaf(self) -> None:
        """Asks for far more than it takes."""
        with connect(self.address) as talk:
            talk.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            talk.settimeout(0.1)
            with suppress(TimeoutError, ConnectionResetError, BrokenPipeError):
                talk.sendall(REQUESTS[1] * 1000)
            self.at_work.set()
            self.halt.wait(0.5)

    def _vanishing(self) -> None:
        """Goes with RST behind a request, and within one."""
        text = self.draw.choice(REQUESTS)
        talk = connect(self.address)
        talk.sendall(text[: self.draw.randint(1, len(text))])
        talk.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        talk.close()


class Normal(threading.Thread):
    """Puts and takes in a queue of its own; each take must give what was just put, and is acknowledged if need be."""

    def __init__(self, address: str, seed: int = 0) -> None:
        super().__init__(daemon=True)
        self.address, self.draw, self.halt = address, random.Random(f"normal {seed}"), threading.Event()
        self.rounds, self.faults = 0, list[str]()
        self.answers: Counter[int] = Counter()

    def run(self) -> None:
        try:
            with connect(self.address) as talk:
                self._ask(talk, b"PUT /queues/normal HTTP/1.1\r\nHost: x\r\n\r\n", b"")
                while not self.halt.is_set() and not self.faults:
                    self._round(talk)
                    self.rounds += 1
                    self.pause()
        except OSError as error:
            self.faults.append(f"normal client, round {self.rounds}: {error!r}")

    def pause(self) -> None:
        time.sleep(0.001)

    def _round(self, talk: socket.socket) -> None:
        body = b"%d " % self.rounds + self.draw.randbytes(self.draw.choice((10, 1000, 20_000)))
        self._ask(
            talk,
            b"POST /queues/normal/messages HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body),
            b"",
        )
        head = self._ask(talk, b"POST /queues/normal/take HTTP/1.1\r\nHost: x\r\n\r\n", body)
        if receipt := re.search(rb"X-Message-Id: (\d+)\r\nX-Receipt: (\d+)", head):
            line = b"DELETE /queues/normal/messages/%s?receipt=%s HTTP/1.1\r\nHost: x\r\n\r\n" % receipt.groups()
            self._ask(talk, line, b"")

    def _ask(self, talk: socket.socket, request: bytes, wanted: bytes) -> bytes:
        """The head of the answer, whose body must be the one `wanted`."""
        talk.sendall(request)
        heard = b""
        while b"\r\n\r\n" not in heard:
            heard += self._more(talk)
        head, _, body = heard.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        while len(body) < int(length[1] if length else 0):
            body += self._more(talk)
        status = re.match(rb"HTTP/1\.1 (20[014]) ", head)
        if body != wanted or not status:
            self.faults.append(f"normal client, round {self.rounds}: {head!r}, {len(body)} bytes to {request[:100]!r}")
        self.answers[int(status[1]) if status else 0] += 1
        return head

    @staticmethod
    def _more(talk: socket.socket) -> bytes:
        if not (more := talk.recv(65536)):
            raise ConnectionResetError
        return more

    def stop(self) -> None:
        self.halt.set()
        self.join(PATIENCE_S)
