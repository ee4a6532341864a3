"""A small HTTP service whose limit is known: workers, each of which is kept by a request for a time that is exponential.

One thread reads requests, the workers take them in the order of their arrival and wait, as for a database: it is a queue M/M/c with next to
no CPU time, which says the same on a slow machine as on a fast one. It answers 200 to every request without a body.
"""

from __future__ import annotations

import math
import queue
import random
import selectors
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn import _native
from sojourn.errors import InputError
from sojourn.lab.worker_process import WorkerProcess

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
END = b"\r\n\r\n"
LOOK_S = 0.1
BACKLOG = 256
MOST_BYTES = 65_536  # of a request that has not ended
Waiting = queue.SimpleQueue[socket.socket]


class WaitingService:
    """A running one, in a process of its own: where, which process, how to end it."""

    def __init__(self, workers: int, mean_s: float, *, log: Path | int | None = None) -> None:
        """`workers`, 1 or more, each kept `mean_s` (s) by a request in the mean.

        Raises:
            InputError: a value out of range. ServiceError: it cannot be started.
        """
        if workers < 1 or not (0 < mean_s < math.inf):
            raise InputError(
                f"{workers} workers, {mean_s:g} s", "workers, mean_s", "give 1 or more, and a time above 0"
            )
        self.worker = WorkerProcess("waiting-service", {"workers": workers, "mean_s": mean_s}, log=log)
        self.url = f"http://127.0.0.1:{self.worker.ready()['port']}/"

    @property
    def pid(self) -> int:
        return self.worker.process.pid

    def close(self) -> None:
        self.worker.close()


def serve(config: Mapping[str, Any], emit: Callable[..., None]) -> dict[str, Any]:
    """Serves until this process is told to stop; how many it answered."""
    waiting: Waiting = queue.SimpleQueue()
    answered = [0] * int(config["workers"])
    for number in range(len(answered)):
        threading.Thread(target=_work, args=(waiting, float(config["mean_s"]), answered, number), daemon=True).start()
    with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listening, selectors.DefaultSelector() as poll:
        listening.setblocking(False)
        poll.register(listening, selectors.EVENT_READ)
        emit("ready", port=listening.getsockname()[1])
        parts: dict[socket.socket, bytes] = {}
        while not _native.stopped():
            for key, _ in poll.select(LOOK_S):
                if key.fileobj is listening:
                    _accept(listening, poll, parts)
                else:
                    _read(key.fileobj, poll, parts, waiting)  # type: ignore[arg-type]
    return {"answered": sum(answered)}


def _accept(listening: socket.socket, poll: selectors.BaseSelector, parts: dict[socket.socket, bytes]) -> None:
    with suppress(BlockingIOError):
        client, _ = listening.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        parts[client] = b""
        poll.register(client, selectors.EVENT_READ)


def _read(
    client: socket.socket, poll: selectors.BaseSelector, parts: dict[socket.socket, bytes], waiting: Waiting
) -> None:
    """What has come of requests; those that are whole wait for a worker. One that has no end is no client any more."""
    data = b""
    with suppress(OSError):
        data = client.recv(MOST_BYTES)
    *whole, left = (parts[client] + data).split(END)
    for _ in whole:
        waiting.put(client)
    parts[client] = left
    if not data or len(left) > MOST_BYTES:
        poll.unregister(client)
        del parts[client]
        client.close()


def _work(waiting: Waiting, mean_s: float, answered: list[int], number: int) -> None:
    draw = random.Random()
    while True:
        client = waiting.get()
        time.sleep(draw.expovariate(1 / mean_s))
        with suppress(OSError):
            client.sendall(ANSWER)
            answered[number] += 1
