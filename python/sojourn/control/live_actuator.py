"""ServiceSettings of a live service over its control socket: read, set, verified, put back.

The lease is the service's: what was set holds for `lease_s` after the last `set`, then its safe settings are back, whatever became of
us. Only the holder of a lease can set: one controller a target.
"""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from typing import Any

from sojourn.errors import InputError


class RefusedError(Exception):
    """Why a setting was not made, or is not known to be."""


@dataclass(frozen=True)
class ServiceSettings:
    """What holds: `workers`, admission `cap`; whose lease, None where the safe settings hold."""

    workers: int
    cap: int
    holder: str | None
    safe_workers: int
    safe_cap: int


class SocketActuator:
    """At the Unix socket `path`, as `holder`."""

    def __init__(self, path: str, holder: str, lease_s: float, timeout_s: float = 1.0) -> None:
        if not 0.1 <= lease_s <= 600:
            raise InputError(f"{lease_s:g} s", "--lease", "give 0.1 to 600 s")
        self.path, self.holder, self.lease_s, self.timeout_s = path, holder, lease_s, timeout_s

    def read(self) -> ServiceSettings:
        """Raises RefusedError."""
        return self._says({"do": "read"})

    def set(self, workers: int, cap: int | None = None) -> ServiceSettings:
        """Sets and renews the lease; what was read back, which is what was set. RefusedError."""
        wanted: dict[str, Any] = {"workers": workers} | ({} if cap is None else {"cap": cap})
        self._says({"do": "set", "holder": self.holder, "lease_s": self.lease_s, **wanted})
        found = self.read()
        if found.workers != workers or (cap is not None and found.cap != cap):
            raise RefusedError(f"set {wanted}, read back workers {found.workers}, cap {found.cap}")
        return found

    def revert(self) -> ServiceSettings:
        """Back to the safe settings at once. RefusedError."""
        return self._says({"do": "release", "holder": self.holder})

    def _says(self, command: dict[str, Any]) -> ServiceSettings:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
                link.settimeout(self.timeout_s)
                link.connect(self.path)
                link.sendall(json.dumps(command).encode() + b"\n")
                with link.makefile("rb") as lines:
                    told = json.loads(lines.readline(1 << 16))
            if "error" in told:
                raise RefusedError(str(told["error"])[:200])
            now, safe = told["settings"], told["safe"]
            return ServiceSettings(now["workers"], now["cap"], told["holder"], safe["workers"], safe["cap"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RefusedError(f"no answer from {self.path}: {error or type(error).__name__}") from None
