"""Settings of a live service over its control socket: read, set, verified, put back.

The lease is the service's: what was set holds for `lease_s` after the last `set`, then its safe settings are back, whatever became of
us. Only the holder of a lease can set: one controller a target.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.errors import InputError
from sojourn.files.reading import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

Values = Mapping[str, int | str]


class RefusedError(Exception):
    """Why a setting was not made, or is not known to be."""


class UnansweredError(RefusedError):
    """Nobody answers at the socket."""


class DiffersError(RefusedError):
    """What is read back is not what was set."""


@dataclass(frozen=True)
class ServiceSettings:
    """What holds: `workers`, admission `cap`; whose lease, None where the safe settings hold."""

    workers: int
    cap: int
    holder: str | None
    safe_workers: int
    safe_cap: int


def check_lease(lease_s: float) -> None:
    """InputError where it cannot be one."""
    if not 0.1 <= lease_s <= 600:
        raise InputError(f"{lease_s:g} s", "--lease", "give 0.1 to 600 s")


class SocketActuator:
    """At the Unix socket `path`, as `holder`."""

    def __init__(self, path: str, holder: str, lease_s: float, timeout_s: float = 1.0) -> None:
        check_lease(lease_s)
        self.path, self.holder, self.lease_s, self.timeout_s = path, holder, lease_s, timeout_s

    def read(self) -> ServiceSettings:
        """Raises RefusedError."""
        return self._says({"do": "read"})

    def set(self, wanted: Values) -> Values:
        """Sets `workers`, `cap` or both and renews the lease; what was read back, which is what was set. RefusedError."""
        self._says({"do": "set", "holder": self.holder, "lease_s": self.lease_s, **wanted})
        return same(wanted, _values(self.read()))

    def revert(self) -> Values:
        """Back to the safe settings at once. RefusedError."""
        return _values(self._says({"do": "release", "holder": self.holder}))

    def pid(self) -> int:
        """The process that listens at the socket. RefusedError."""
        with connected(self.path, self.timeout_s) as link:
            return peer(link)[0]

    def _says(self, command: dict[str, Any]) -> ServiceSettings:
        told = asked(self.path, command, self.timeout_s)
        try:
            now, safe = told["settings"], told["safe"]
            return ServiceSettings(now["workers"], now["cap"], told["holder"], safe["workers"], safe["cap"])
        except (KeyError, TypeError) as error:
            raise RefusedError(f"{self.path} does not report {error}") from None


def _values(found: ServiceSettings) -> Values:
    return {"workers": found.workers, "cap": found.cap}


def same(wanted: Values, found: Mapping[str, int | str | None]) -> Values:
    """What was read back, where it is what was set. DiffersError."""
    if any(found.get(name) != value for name, value in wanted.items()):
        read = ", ".join(f"{name} {found.get(name)}" for name in wanted)
        raise DiffersError(f"set {', '.join(f'{name} {value}' for name, value in wanted.items())}; read back {read}")
    return {name: value for name, value in found.items() if value is not None}


@contextmanager
def connected(path: str, timeout_s: float) -> Iterator[socket.socket]:
    """A connection to a Unix socket; a path that begins with NUL is of the abstract ones. UnansweredError."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.settimeout(timeout_s)
            link.connect(path)
            yield link
    except OSError as error:
        told = path.replace("\0", "@")
        raise UnansweredError(f"no answer from {told}: {error or type(error).__name__}") from None


def peer(link: socket.socket) -> tuple[int, int]:
    """Process and user at the other end."""
    pid, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid, user


def asked(path: str, command: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """One line to the socket, one back, both JSON objects; RefusedError where the answer is an error, or none."""
    with connected(path, timeout_s) as link:
        if peer(link)[1] not in (0, os.geteuid()):
            raise RefusedError(f"{path[1:]} is another user's")
        link.sendall(json.dumps(command).encode() + b"\n")
        with link.makefile("rb") as lines:
            line = lines.readline(1 << 16)
    try:
        told = parse_json(line)
        error = told.get("error")
    except (ValueError, AttributeError):
        raise UnansweredError(f"no answer from {path}: {line[:60]!r}") from None
    if error is not None:
        raise RefusedError(str(error)[:200])
    return dict(told)
