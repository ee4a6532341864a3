"""Clients that send numbered batches in one piece and know what each answer must be: order, identity, value, time.

answers.py judges them.
"""

from __future__ import annotations

import random
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO

from answers import (
    PRESENT,
    STEP,
    Key,
    Step,
    WrongError,
    answer,
    judge_cas,
    judge_delete,
    judge_get,
    judge_increment,
    judge_line,
    judge_set,
    judge_touch,
)

ANSWERED_S = 5.0
PAUSE_S = 0.03
BATCHES_A_CONNECTION = 40
KEPT_KEYS = 64
ERRORS = (b"SERVER_ERROR ", b"ERROR", b"CLIENT_ERROR ")
# (begin, end) on the monotonic clock → whether something was disturbed, or a server emptied, between them
Between = Callable[[float, float], bool]


@dataclass
class Tally:
    """What a probe saw."""

    kinds: Counter[str] = field(default_factory=Counter)
    batches: int = 0
    connections: int = 0
    errors: int = 0
    hits: int = 0
    misses: int = 0
    undisturbed: int = 0
    longest_s: float = 0.0
    said: list[tuple[float, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Probe(threading.Thread):
    """Batch after batch on one connection at a time, until `halt` is set or an answer is wrong."""

    def __init__(self, address: str, number: int, seed: int, disturbed: Between, emptied: Between) -> None:
        super().__init__(daemon=True)
        self.address, self.number = address, number
        self.disturbed, self.emptied = disturbed, emptied
        self.tally, self.halt = Tally(), threading.Event()
        self._random = random.Random(f"probe {number} {seed}")
        self._keys: deque[Key] = deque(maxlen=KEPT_KEYS)
        self._count, self.begun = 0, 0.0

    def run(self) -> None:
        while not self.halt.is_set() and not self.tally.faults:
            try:
                self._connection()
            except Exception as error:  # whatever it is, it came of an answer
                self.tally.faults.append(f"probe {self.number}, batch {self.tally.batches}: {error!r}")

    def stop(self) -> Tally:
        self.halt.set()
        self.join(2 * ANSWERED_S)
        if self.is_alive():
            self.tally.faults.append(f"probe {self.number} did not end")
        return self.tally

    def _connection(self) -> None:
        host, port = self.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=ANSWERED_S) as talk:
            self.tally.connections += 1
            heard = talk.makefile("rb")
            for _ in range(BATCHES_A_CONNECTION):
                self._batch(talk, heard)
                if self.halt.wait(PAUSE_S):
                    break
            talk.sendall(b"quit\r\n")
            self.tally.kinds["admin"] += 1
            if rest := heard.read():
                raise WrongError(f"behind the last answer: {rest!r}")

    def _batch(self, talk: socket.socket, heard: BinaryIO) -> None:
        steps = [self._draw() for _ in range(self._random.randint(3, 12))]
        self.begun = time.monotonic()
        talk.sendall(b"".join(step.sent for step in steps))
        answers = [answer(heard, step.kind) for step in steps]
        ended = time.monotonic()
        self.tally.longest_s = max(self.tally.longest_s, ended - self.begun)
        if ended - self.begun > ANSWERED_S:
            raise WrongError(f"answered after {ended - self.begun:.1f} s")
        quiet = not self.disturbed(self.begun, ended)
        self.tally.undisturbed += quiet
        for step, said in zip(steps, answers, strict=True):
            self.tally.kinds[step.kind] += 1
            if said.startswith(ERRORS):
                self.tally.errors += 1
            if said.startswith(b"SERVER_ERROR "):
                self.tally.said.append((ended, said.decode().strip()))
                if quiet:
                    raise WrongError(f"{said!r} to {step.sent!r} while nothing was wrong")
            step.judge(self, step, said)
        self.tally.batches += 1

    def must_have(self, key: Key) -> bool:
        """Whether every server has stored it, and none can have lost it since."""
        return key.state == PRESENT and not key.doubtful and not self.emptied(key.since, time.monotonic())

    def _draw(self) -> Step:
        """The next command; keys are of those set last, in this batch or before."""
        kind = self._random.choice(KINDS)
        if kind == "refused":
            sent, due = self._random.choice(REFUSED)
            return Step(kind, sent, [Key(b"", due)], judge_line)
        if kind == "admin":
            return Step(kind, b"version\r\n", [Key(b"", b"VERSION ")], judge_line)
        if kind == "set" or len(self._keys) < 3:
            return self._draw_set()
        keys = self._random.sample(list(self._keys), 3)
        return self._draw_known(kind, keys if kind == "multi_get" else keys[:1])

    def _draw_known(self, kind: str, keys: list[Key]) -> Step:
        key, names = keys[0], b" ".join(key.name for key in keys)
        if kind == "store":
            return self._draw_cas(key)
        if kind == "delete":
            return Step(kind, b"delete %s\r\n" % names, keys, judge_delete)
        if kind == "touch":
            return Step(kind, b"touch %s 0\r\n" % names, keys, judge_touch)
        if kind == "arithmetic":
            return Step(kind, b"incr %s %d\r\n" % (names, STEP), keys, judge_increment)
        return Step(kind, b"get %s\r\n" % names, keys, judge_get)

    def _draw_cas(self, key: Key) -> Step:
        """With the unique number that it has, or asks for that first."""
        if key.unique is None:
            return Step("get", b"gets %s\r\n" % key.name, [key], judge_get)
        self._count += 1
        new = Key(key.name, b"%s, %d" % (key.name, self._count), unique=key.unique)
        sent = b"cas %s 0 0 %d %s\r\n%s\r\n" % (key.name, len(new.value), key.unique, new.value)
        return Step("store", sent, [key, new], judge_cas)

    def _draw_set(self) -> Step:
        """A key that was never used, with its own name as value, or its number alone, which can be counted up."""
        self._count += 1
        name = f"probe-{self.number}-{self._count}"
        value = f"{name}:{'.' * self._random.choice((0, 10, 500, 9000))}"
        value = str(self._count) if self._random.random() < 0.2 else value
        key = Key(name.encode(), value.encode())
        self._keys.append(key)
        return Step("set", b"set %s 0 0 %d\r\n%s\r\n" % (key.name, len(value), key.value), [key], judge_set)


KINDS = (
    *("set", "set", "set", "get", "get", "multi_get", "store", "store"),
    *("delete", "touch", "arithmetic", "refused", "admin"),
)
REFUSED = (
    (b"nonsense\r\n", b"ERROR\r\n"),
    (b"get " + b"k" * 251 + b"\r\n", b"CLIENT_ERROR bad command line format\r\n"),
    (b"set k 0 0 x\r\n", b"CLIENT_ERROR bad command line format\r\n"),
    (b"incr k x\r\n", b"CLIENT_ERROR invalid numeric delta argument\r\n"),
)
