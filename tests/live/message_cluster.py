"""The message service on a private PostgreSQL, and clients that speak HTTP to it."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from served import Served

from sojourn.errors import LabError
from sojourn.lab.worker_process import WorkerProcess
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.common.postgres_programs import programs


def _installed() -> bool:
    try:
        return bool(programs())
    except LabError:
        return False


Way = dict[str, Any]
# Every way in which it carries out requests; the first is the default.
WAYS: list[Way] = [{}, {"design": "threaded"}, {"batch": True}]

needs_postgres = pytest.mark.skipif(not _installed(), reason="PostgreSQL is not installed")


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> int:
        return int(self.headers["x-message-id"])

    @property
    def told(self) -> dict[str, str]:
        """The two sentences of a refusal."""
        told: dict[str, str] = json.loads(self.body)
        assert set(told) == {"error", "remedy"} and all(told.values())
        return told


class Client:
    """One connection."""

    def __init__(self, address: str, timeout_s: float = 20.0) -> None:
        self.connection = http.client.HTTPConnection(address, timeout=timeout_s)

    def call(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Underscores in names of headers are hyphens; their values go and come as UTF-8."""
        names = {name.replace("_", "-"): value.encode() for name, value in headers.items()}
        self.connection.request(method, path, body, names)
        answer = self.connection.getresponse()
        found = {name.lower(): value.encode("latin-1").decode() for name, value in answer.getheaders()}
        return Answer(answer.status, found, answer.read())

    def create(self, queue: str) -> Answer:
        return self.call("PUT", f"/queues/{quote(queue, safe='')}")

    def drop(self, queue: str) -> Answer:
        return self.call("DELETE", f"/queues/{quote(queue, safe='')}")

    def put(self, queue: str, body: bytes, sender: str | None = None) -> Answer:
        headers = {"X_Sender": sender} if sender else {}
        return self.call("POST", f"/queues/{quote(queue, safe='')}/messages", body, **headers)

    def take(self, queue: str, sender: str | None = None) -> Answer:
        query = f"?sender={quote(sender, safe='')}" if sender else ""
        return self.call("POST", f"/queues/{quote(queue, safe='')}/take{query}")

    def peek(self, queue: str, sender: str | None = None) -> Answer:
        query = f"?sender={quote(sender, safe='')}" if sender else ""
        return self.call("GET", f"/queues/{quote(queue, safe='')}/peek{query}")

    def acknowledge(self, queue: str, taken: Answer) -> Answer:
        receipt = taken.headers["x-receipt"]
        return self.call("DELETE", f"/queues/{queue}/messages/{taken.id}?receipt={receipt}")

    def queues(self) -> dict[str, int]:
        return {one["name"]: one["messages"] for one in json.loads(self.call("GET", "/queues").body)}

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Service(Served):
    """A service in a process of its own; it is waited for when its address is first asked for."""

    def __init__(self, postgres: Postgres, complaints: Path | None = None, **settings: Any) -> None:
        config = {"listen": "127.0.0.1:0", "database": postgres.url, "workers": 8, "connections": 8, **settings}
        self.worker = WorkerProcess("messages", {"network": None, "messages": config}, log=complaints)

    @cached_property
    def ready(self) -> dict[str, Any]:
        return self.worker.ready()

    @property
    def address(self) -> str:
        address: str = self.ready["address"]
        return address

    def client(self, timeout_s: float = 20.0) -> Client:
        return Client(self.address, timeout_s)

    def socket(self, timeout_s: float = 20.0) -> socket.socket:
        host, port = self.address.rsplit(":", 1)
        return socket.create_connection((host, int(port)), timeout=timeout_s)

    def say(self, text: bytes) -> list[int]:
        """The statuses of the answers to `text`, after which nothing more is sent."""
        with self.socket() as talk:
            talk.sendall(text)
            talk.shutdown(socket.SHUT_WR)
            return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+)", everything(talk))]


@contextmanager
def starting(
    postgres: Postgres, then: Callable[[Service], object] = lambda _: None
) -> Iterator[Callable[..., Service]]:
    """Starts services on a database without queues, and does `then` with each; they are ended at the end."""
    postgres.run("DROP SCHEMA IF EXISTS sojourn CASCADE")
    services: list[Service] = []

    def begin(**settings: object) -> Service:
        services.append(Service(postgres, **settings))
        then(services[-1])
        return services[-1]

    yield begin
    for service in services:
        service.close()


def everything(talk: socket.socket) -> bytes:
    """All that is said until the other side ends it."""
    out = b""
    while more := talk.recv(65536):
        out += more
    return out
