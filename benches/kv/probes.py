"""Clients that send numbered batches in one piece and know what each answer must be: order, identity, value, time."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO

ANSWERED_S = 5.0
PAUSE_S = 0.03
BATCHES_A_CONNECTION = 40
KEPT_KEYS = 64
STEP = 7
ERRORS = (b"SERVER_ERROR ", b"ERROR", b"CLIENT_ERROR ")
PRESENT, ABSENT, UNKNOWN = "present", "absent", "unknown"
# (begin, end) on the monotonic clock → whether something was disturbed, or a server emptied, between them
Between = Callable[[float, float], bool]


class WrongError(Exception):
    """An answer that no order of events explains."""


@dataclass
class Key:
    """One that this probe alone writes: what is stored there as far as the answers say, since when at the earliest, and
    whether servers may have different numbers there."""

    name: bytes
    value: bytes
    state: str = UNKNOWN
    since: float = 0.0
    doubtful: bool = False


@dataclass
class Step:
    """One command: how the proxy counts it, and who judges its answer."""

    kind: str
    sent: bytes
    keys: list[Key]
    judge: Callable[[Probe, Step, bytes], None]


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
            except (WrongError, OSError) as error:
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
        return key.state == PRESENT and not self.emptied(key.since, time.monotonic())

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
        if kind == "delete":
            return Step(kind, b"delete %s\r\n" % keys[0].name, keys[:1], judge_delete)
        if kind == "arithmetic":
            return Step(kind, b"incr %s %d\r\n" % (keys[0].name, STEP), keys[:1], judge_increment)
        keys = keys if kind == "multi_get" else keys[:1]
        return Step(kind, b"get %s\r\n" % b" ".join(key.name for key in keys), keys, judge_get)

    def _draw_set(self) -> Step:
        """A key that was never used, with its own name as value, or its number alone, which can be counted up."""
        self._count += 1
        name = f"probe-{self.number}-{self._count}"
        value = f"{name}:{'.' * self._random.choice((0, 10, 500, 9000))}"
        value = str(self._count) if self._random.random() < 0.2 else value
        key = Key(name.encode(), value.encode())
        self._keys.append(key)
        return Step("set", b"set %s 0 0 %d\r\n%s\r\n" % (key.name, len(value), key.value), [key], judge_set)


KINDS = ("set", "set", "set", "get", "get", "multi_get", "delete", "arithmetic", "refused", "admin")
REFUSED = (
    (b"nonsense\r\n", b"ERROR\r\n"),
    (b"get " + b"k" * 251 + b"\r\n", b"CLIENT_ERROR key is too long or has control characters\r\n"),
    (b"set k 0 0 x\r\n", b"CLIENT_ERROR bad command line format\r\n"),
    (b"incr k x\r\n", b"CLIENT_ERROR invalid numeric delta argument\r\n"),
)


def answer(heard: BinaryIO, kind: str) -> bytes:
    """One whole answer: a line, or values up to their end."""
    said = line = heard.readline()
    while kind in ("get", "multi_get") and line.startswith(b"VALUE "):
        said += heard.read(int(line.split()[3]) + 2) or b""
        line = heard.readline()
        said += line
    if not line.endswith(b"\r\n"):
        raise WrongError(f"the connection ended in an answer to a {kind}: {said!r}")
    return said


def judge_set(probe: Probe, step: Step, said: bytes) -> None:
    (key,) = step.keys
    key.since = probe.begun
    if said == b"STORED\r\n":
        key.state = PRESENT
    elif not said.startswith(b"SERVER_ERROR "):
        raise WrongError(f"{said!r} to {step.sent[:80]!r}")


def judge_line(probe: Probe, step: Step, said: bytes) -> None:
    due = step.keys[0].value
    if not said.startswith(due) and not (step.kind == "admin" and said.startswith(b"SERVER_ERROR ")):
        raise WrongError(f"{said!r} to {step.sent[:80]!r}")


def judge_delete(probe: Probe, step: Step, said: bytes) -> None:
    (key,) = step.keys
    if said.startswith(b"SERVER_ERROR "):
        key.state = UNKNOWN
        return
    impossible = {b"DELETED\r\n": key.state == ABSENT, b"NOT_FOUND\r\n": probe.must_have(key)}
    if impossible.get(said, True):
        raise WrongError(f"{said!r} to {step.sent!r}, which was {key.state}")
    # A write that timed out may be carried out yet: what was unknown stays so.
    key.state = UNKNOWN if key.state == UNKNOWN else ABSENT


def judge_increment(probe: Probe, step: Step, said: bytes) -> None:
    (key,) = step.keys
    number, digits = said.strip().isdigit(), key.value.isdigit()
    if number:
        wrong = not digits or key.state == ABSENT or not (key.doubtful or int(said) == int(key.value) + STEP)
    elif said == b"NOT_FOUND\r\n":
        wrong = probe.must_have(key)
    elif said.startswith(b"CLIENT_ERROR cannot increment"):
        wrong = digits or key.state == ABSENT
    else:
        wrong = not said.startswith(b"SERVER_ERROR ")
    if wrong:
        raise WrongError(f"{said!r} to {step.sent!r}, which was {key.state}: {key.value[:40]!r}")
    # Servers that did not take part have another number.
    key.doubtful |= digits and not number
    key.value = said.strip() if number else key.value


def judge_get(probe: Probe, step: Step, said: bytes) -> None:
    if said.startswith(b"SERVER_ERROR "):
        return
    found = blocks(said)
    for key in step.keys:
        there = bool(found) and found[0][0] == key.name
        probe.tally.hits += there
        probe.tally.misses += not there
        if not there and probe.must_have(key):
            raise WrongError(f"{key.name!r} was stored, and is not there: {said[:200]!r}")
        if there:
            value = found.pop(0)[1]
            right = value == key.value or (key.doubtful and value.isdigit())
            if not right or key.state == ABSENT:
                raise WrongError(f"{value[:80]!r} to a get of {key.name!r}, which was {key.state}: {key.value[:80]!r}")
    if found:
        raise WrongError(f"{said[:300]!r} to {step.sent!r}")


def blocks(said: bytes) -> list[tuple[bytes, bytes]]:
    """Names and data of the values in a whole answer to a get."""
    found, at = [], 0
    while said.startswith(b"VALUE ", at):
        line = said.index(b"\r\n", at)
        _, name, _, length = said[at:line].split()
        found.append((name, said[line + 2 : line + 2 + int(length)]))
        at = line + 4 + int(length)
    if said[at:] != b"END\r\n":
        raise WrongError(f"{said[:300]!r} to a get")
    return found
