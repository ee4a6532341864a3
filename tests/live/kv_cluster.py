"""Real memcached servers and a proxy in front of them, on free ports of loopback."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from served import Served

from sojourn.lab.worker_process import WorkerProcess
from sojourn_cases.common.memcached import Memcached, free_port, version

__all__ = ["Memcached", "Proxy", "Talk", "free_port", "needs_memcached"]

needs_memcached = pytest.mark.skipif(version() is None, reason="memcached is not installed")


class Talk:
    """A connection that says and hears bytes."""

    def __init__(self, address: str, timeout_s: float = 5.0) -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=timeout_s)
        self.heard = b""

    def say(self, data: bytes) -> None:
        self.socket.sendall(data)

    def line(self) -> bytes:
        """The next line, with its end; empty where the connection has ended."""
        while b"\n" not in self.heard:
            more = self.socket.recv(65536)
            if not more:
                return b""
            self.heard += more
        line, self.heard = self.heard.split(b"\n", 1)
        return line + b"\n"

    def ask(self, data: bytes) -> bytes:
        """Says it and hears one line."""
        self.say(data)
        return self.line()

    def until(self, last: bytes) -> bytes:
        """All lines up to one that starts with `last`."""
        out = b""
        while True:
            line = self.line()
            out += line
            if not line or line.startswith(last):
                return out

    def values(self, data: bytes) -> bytes:
        """Says a get and hears all of its answer."""
        self.say(data)
        out = self.line()
        while out.startswith(b"VALUE") and not out.endswith(b"END\r\n"):
            out += self.line()
        return out

    def is_over(self) -> bool:
        try:
            return self.socket.recv(65536) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Proxy(Served):
    """A proxy in a process of its own."""

    def __init__(self, servers: list[Memcached], stderr: Path | None = None, **settings: Any) -> None:
        config = {"listen": "127.0.0.1:0", "servers": [server.address for server in servers], **settings}
        self.worker = WorkerProcess("kv-proxy", {"network": None, "kv-proxy": config}, log=stderr)
        self.ready = self.worker.ready()
        self.address: str = self.ready["address"]

    def talk(self, timeout_s: float = 5.0) -> Talk:
        return Talk(self.address, timeout_s)
