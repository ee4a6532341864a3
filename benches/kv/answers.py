"""What each answer to a probe may be, from all the answers before it, and what is known from it then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from probes import Probe

FOREIGN = b"0"  # docs/reference/kv-proxy.md: gets
STEP = 7
PRESENT, ABSENT, UNKNOWN = "present", "absent", "unknown"


class WrongError(Exception):
    """An answer that no order of events explains."""


@dataclass
class Key:
    """One that this probe alone writes: what is stored there as far as the answers say, since when at the earliest, and
    the unique number that the first server gave it. `doubtful`: a write of it went wrong, may be carried out by some of
    the servers only, and even later; then any of `values` may be there."""

    name: bytes
    value: bytes
    values: set[bytes] = field(default_factory=set)
    unique: bytes | None = None
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


def went_wrong(key: Key, said: bytes) -> bool:
    """Whether a write of it was answered by an error of servers; it may have been carried out by some, or be yet."""
    if not said.startswith(b"SERVER_ERROR "):
        return False
    key.doubtful, key.unique = True, None
    return True


def judge_set(probe: Probe, step: Step, said: bytes) -> None:
    (key,) = step.keys
    key.since, key.values = probe.begun, {key.value}
    if went_wrong(key, said):
        return
    if said != b"STORED\r\n":
        raise WrongError(f"{said!r} to {step.sent[:80]!r}")
    key.state = PRESENT


def judge_cas(probe: Probe, step: Step, said: bytes) -> None:
    key, new = step.keys
    key.values.add(new.value)
    # Nothing was written since the first server gave the number; 0 is of another server, while the first was down.
    foreign = new.unique == FOREIGN
    current = key.unique == new.unique and not key.doubtful and not foreign
    if went_wrong(key, said):
        return
    wrong = {
        b"STORED\r\n": key.state == ABSENT or foreign,
        b"EXISTS\r\n": current or key.state == ABSENT,
        b"NOT_FOUND\r\n": probe.must_have(key),
    }
    if wrong.get(said, True):
        raise WrongError(f"{said!r} to {step.sent!r}, which was {key.state}")
    key.unique = None
    if said == b"STORED\r\n" and not key.doubtful:
        key.values, key.value = {new.value}, new.value
    elif not key.doubtful:
        key.values.discard(new.value)


def judge_touch(probe: Probe, step: Step, said: bytes) -> None:
    (key,) = step.keys
    wrong = {b"TOUCHED\r\n": key.state == ABSENT, b"NOT_FOUND\r\n": probe.must_have(key)}
    if wrong.get(said, not went_wrong(key, said)):
        raise WrongError(f"{said!r} to {step.sent!r}, which was {key.state}")


def judge_line(probe: Probe, step: Step, said: bytes) -> None:
    due = step.keys[0].value
    if not said.startswith(due) and not (step.kind == "admin" and said.startswith(b"SERVER_ERROR ")):
        raise WrongError(f"{said!r} to {step.sent[:80]!r}")


def judge_delete(probe: Probe, step: Step, said: bytes) -> None:
    (key,) = step.keys
    wrong = {b"DELETED\r\n": key.state == ABSENT, b"NOT_FOUND\r\n": probe.must_have(key)}
    if wrong.get(said, not went_wrong(key, said)):
        raise WrongError(f"{said!r} to {step.sent!r}, which was {key.state}")
    key.unique = None
    key.state = UNKNOWN if key.doubtful else ABSENT


def judge_increment(probe: Probe, step: Step, said: bytes) -> None:
    (key,) = step.keys
    number, digits = said.strip().isdigit(), key.value.isdigit()
    if went_wrong(key, said):
        return
    if number:
        wrong = key.state == ABSENT or not (key.doubtful or (digits and int(said) == int(key.value) + STEP))
    elif said == b"NOT_FOUND\r\n":
        wrong = probe.must_have(key)
    else:
        wrong = not said.startswith(b"CLIENT_ERROR cannot increment") or key.state == ABSENT
        wrong |= digits and not key.doubtful
    if wrong:
        raise WrongError(f"{said!r} to {step.sent!r}, which was {key.state}: {key.value[:40]!r}")
    key.unique = None
    # Servers that lost it have no number there, the others the next one.
    key.doubtful |= digits and not number
    if number:
        key.value = said.strip()
        key.values = key.values | {key.value} if key.doubtful else {key.value}


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
            _, value, unique = found.pop(0)
            key.unique = unique or key.unique
            right = value in key.values or (key.doubtful and value.isdigit())
            if not right or key.state == ABSENT:
                raise WrongError(f"{value[:80]!r} to a get of {key.name!r}, which was {key.state}: {key.value[:80]!r}")
    if found:
        raise WrongError(f"{said[:300]!r} to {step.sent!r}")


def blocks(said: bytes) -> list[tuple[bytes, bytes, bytes | None]]:
    """Name, data and unique number of the values in a whole answer to a get."""
    found, at = [], 0
    while said.startswith(b"VALUE ", at):
        line = said.index(b"\r\n", at)
        _, name, _, length, *unique = said[at:line].split()
        found.append((name, said[line + 2 : line + 2 + int(length)], unique[0] if unique else None))
        at = line + 4 + int(length)
    if said[at:] != b"END\r\n":
        raise WrongError(f"{said[:300]!r} to a get")
    return found
