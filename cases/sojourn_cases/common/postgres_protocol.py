"""A few words of PostgreSQL's own protocol, version 3: enough to ask a private cluster something without a driver.

PostgreSQL documentation, "Frontend/Backend Protocol": start-up without a password, simple queries, answers as text.
"""

from __future__ import annotations

import socket
import struct
from types import TracebackType

from sojourn.errors import ServiceError

PROTOCOL = 3 << 16
Row = tuple[str | None, ...]


class PostgresSession:
    """A session on the Unix socket at `path`; a context manager."""

    def __init__(self, path: str, *, user: str, database: str, timeout_s: float = 60.0) -> None:
        """Opens it.

        Raises:
            OSError: nothing listens there. ServiceError: the server refuses, with its reason.
        """
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout_s)
        try:
            self._socket.connect(path)
            words = b"".join(word.encode() + b"\0" for word in ("user", user, "database", database))
            start = struct.pack("!i", PROTOCOL) + words + b"\0"
            self._socket.sendall(struct.pack("!i", len(start) + 4) + start)
            self._answer()
        except BaseException:
            self._socket.close()
            raise

    def run(self, sql: str) -> list[Row]:
        """The rows of all statements in `sql`, as text.

        Raises:
            ServiceError: the server refuses, with its reason. OSError: it went away.
        """
        text = sql.encode() + b"\0"
        self._socket.sendall(b"Q" + struct.pack("!i", len(text) + 4) + text)
        return self._answer()

    def _answer(self) -> list[Row]:
        """Everything up to "ready for query"; an error is raised when all was read."""
        rows: list[Row] = []
        refusal = ""
        while True:
            kind, body = self._message()
            if kind == b"D":
                rows.append(_row(body))
            elif kind == b"E":
                refusal = _reason(body)
                if body.startswith(b"SFATAL"):
                    break
            elif kind == b"R" and struct.unpack("!i", body[:4])[0] != 0:
                refusal = "it asks for a password"
                break
            elif kind == b"Z":
                break
        if refusal:
            raise ServiceError(refusal, f"PostgreSQL at {self.path}", "see the server's log")
        return rows

    def _message(self) -> tuple[bytes, bytes]:
        kind = self._exactly(1)
        (length,) = struct.unpack("!i", self._exactly(4))
        return kind, self._exactly(length - 4)

    def _exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            part = self._socket.recv(count - len(found))
            if not part:
                raise ConnectionResetError(f"{self.path}: the server closed the session")
            found += part
        return found

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> PostgresSession:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _row(body: bytes) -> Row:
    """The values of a data row; NULL is None."""
    (count,) = struct.unpack("!h", body[:2])
    values: list[str | None] = []
    place = 2
    for _ in range(count):
        (length,) = struct.unpack("!i", body[place : place + 4])
        place += 4
        values.append(None if length < 0 else body[place : place + length].decode())
        place += max(length, 0)
    return tuple(values)


def _reason(body: bytes) -> str:
    """The message of an error, whose fields each begin with a letter."""
    fields = {part[:1]: part[1:].decode(errors="replace") for part in body.split(b"\0") if part}
    return fields.get(b"M", "an error without a message")
