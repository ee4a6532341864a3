"""Clients that say a request a byte at a time, and many that do the same thing at one instant."""

from __future__ import annotations

import heapq
import random
import socket
import threading
import time
from collections.abc import Callable

# A byte each so many seconds, drawn for each connection, log-uniformly.
PACE_S = (0.005, 0.05)
# From one instant at which all of a crowd's requests become whole to the next.
PERIOD_S = 1.0
# An answer is due within.
PATIENCE_S = 10.0
Judge = Callable[[bytes, bytes], None]


class SlowTalk:
    """One connection at its own byte and its own pace, that says the same request again and again."""

    def __init__(self, talk: socket.socket, text: bytes, draw: random.Random) -> None:
        low, high = PACE_S
        self.talk, self.text, self.pace_s = talk, text, low * (high / low) ** draw.random()
        self.at, self.whole_s = draw.randrange(1, len(text)), 0.0
        talk.sendall(text[: self.at])
        talk.setblocking(False)
        self.due_s = time.monotonic() + draw.uniform(0.0, self.pace_s)

    def step(self) -> bytes:
        """Says the next byte; behind the last one it looks for the answer, and gives it back when it is there.

        Raises:
            OSError: the connection is broken, or nothing was answered in time.
        """
        now = time.monotonic()
        self.due_s = max(self.due_s + self.pace_s, now)
        if self.at < len(self.text):
            self.talk.send(self.text[self.at : self.at + 1])
            self.at, self.whole_s = self.at + 1, now
            return b""
        try:
            answer = self.talk.recv(65536)
        except BlockingIOError:
            if now - self.whole_s > PATIENCE_S:
                raise TimeoutError(f"not answered: {self.text!r}") from None
            return b""
        if not answer:
            raise ConnectionResetError(f"the service ended a connection that said {self.text!r}")
        self.at = 0
        return answer


def each_its_own(talks: list[SlowTalk], halt: threading.Event, judge: Judge) -> None:
    """Every connection in its own time, until `halt` is set."""
    line = [(talk.due_s, k) for k, talk in enumerate(talks)]
    heapq.heapify(line)
    while not halt.wait(max(0.0, line[0][0] - time.monotonic())):
        k = line[0][1]
        if answer := talks[k].step():
            judge(answer, talks[k].text)
        heapq.heapreplace(line, (talks[k].due_s, k))
    for talk in talks:
        talk.talk.close()


def all_at_once(talks: list[socket.socket], text: bytes, slowly: bool, halt: threading.Event) -> bool:
    """All say `text`, and the last byte of it PERIOD_S from now, all at the same time: the same a byte at a time
    meanwhile, or in one piece then. False if `halt` was set before."""
    begun = time.monotonic()
    pieces = [text[k : k + 1] if slowly else b"" for k in range(len(text) - 1)]
    pieces.append(text[-1:] if slowly else text)
    for k, piece in enumerate(pieces, 1):
        if halt.wait(max(0.0, begun + PERIOD_S * k / len(pieces) - time.monotonic())):
            return False
        for talk in talks if piece else ():
            talk.sendall(piece)
    return True
