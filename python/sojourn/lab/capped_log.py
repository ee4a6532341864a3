"""What a program prints, kept in a file: bounded in size, without the secrets that it was given.

The first half of the limit is written as it comes, the last half when the program has ended; what lies between is left out
and counted. A secret is found wherever it begins, also where two pieces of output meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

MOST_BYTES = 1_000_000
TOLD_LINES, TOLD_CHARACTERS = 5, 600


class CappedLog:
    """A file of at most about `most_bytes`, in which each of `secrets` is written as `***`."""

    def __init__(self, path: Path, secrets: Iterable[str] = (), most_bytes: int = MOST_BYTES) -> None:
        self._secrets = sorted({secret.encode() for secret in secrets if secret}, key=len, reverse=True)
        self._keep = max(map(len, self._secrets), default=1) - 1  # a secret may have begun in so many bytes
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115
        self._half = most_bytes // 2
        self._pending = b""
        self._tail = bytearray()
        self._written = 0
        self.left_out = 0

    def add(self, data: bytes) -> None:
        self._pending = self._clean(self._pending + data)
        known = len(self._pending) - self._keep
        if known > 0:
            self._put(self._pending[:known])
            self._pending = self._pending[known:]

    def close(self) -> None:
        """Writes what is left, and where something was left out, says how much."""
        if self._file.closed:
            return
        self._put(self._pending)
        self._pending = b""
        if self.left_out:
            self._file.write(f"\n[{self.left_out} bytes left out]\n".encode())
        self._file.write(bytes(self._tail))
        self._file.close()

    def _clean(self, data: bytes) -> bytes:
        for secret in self._secrets:
            data = data.replace(secret, b"***")
        return data

    def _put(self, data: bytes) -> None:
        now = data[: max(self._half - self._written, 0)]
        if now:
            self._file.write(now)
            self._written += len(now)
        self._tail += data[len(now) :]
        if len(self._tail) > self._half:
            self.left_out += len(self._tail) - self._half
            del self._tail[: -self._half]


def last_lines(path: Path) -> str:
    """The last lines of a file in one, for a message; empty where there is none."""
    try:
        with open(path, "rb") as file:
            file.seek(max(path.stat().st_size - 4 * TOLD_CHARACTERS, 0))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    said = " | ".join([line.strip() for line in lines if line.strip()][-TOLD_LINES:])
    return said if len(said) <= TOLD_CHARACTERS else f"…{said[-TOLD_CHARACTERS:]}"
