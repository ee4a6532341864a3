"""A small HTTP service whose limit is known: workers that sleep or compute, a lock, a pool, pauses, a cache, by option.

One thread reads requests, `--workers` threads take them in the order of their arrival. Computing outside the
interpreter's lock is PBKDF2, a fixed number of rounds a request, so that a slower core takes longer.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import queue
import random
import selectors
import signal
import socket
import sqlite3
import sys
import tempfile
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--sleep-ms", type=float, default=0.0, help="mean of what a worker waits for")
parser.add_argument("--law", choices=("constant", "exponential"), default="constant")
parser.add_argument("--slow-ms", type=float, help="the same for paths that begin with /slow")
parser.add_argument("--rounds", type=int, default=0, help="of PBKDF2: CPU time, on as many cores as there are workers")
parser.add_argument("--loops", type=int, default=0, help="of Python: CPU time, one worker at a time")
parser.add_argument("--rows", type=int, default=0, help="written to SQLite by each request, one request at a time")
parser.add_argument("--connections", type=int, help="to what is slept for: fewer than there are workers")
parser.add_argument("--collect-every", type=int, default=0, help="requests between two collections of garbage")
parser.add_argument("--heap", type=int, default=300_000, help="objects that a collection looks at")
parser.add_argument("--kept-ms", type=float, help="what a path takes that was asked before")
parser.add_argument("--held", help="a file for what workers and connections were held by their own clocks, at the end")
options = parser.parse_args()

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
waiting: queue.SimpleQueue[tuple[socket.socket, str]] = queue.SimpleQueue()
connections = threading.BoundedSemaphore(options.connections or options.workers)
lock = threading.Lock()
kept: set[str] = set()
heap = [{"number": [number]} for number in range(options.heap if options.collect_every else 0)]
served = 0
held: list[tuple[str, bool, float]] = []  # by what, for a slow path, seconds; an append is one step for threads


def hold(by: str, path: str, since: float) -> None:
    if options.held:
        held.append((by, path.startswith("/slow"), time.monotonic() - since))


def sleep(draw: random.Random, path: str) -> None:
    mean_ms = options.slow_ms if options.slow_ms and path.startswith("/slow") else options.sleep_ms
    if options.kept_ms is not None:
        mean_ms = options.kept_ms if path in kept else mean_ms
        kept.add(path)
    if mean_ms:
        with connections:
            since = time.monotonic()
            time.sleep(mean_ms / 1e3 * (draw.expovariate(1.0) if options.law == "exponential" else 1.0))
            hold("connections", path, since)


def compute() -> None:
    if options.rounds:
        hashlib.pbkdf2_hmac("sha256", b"page", b"salt", options.rounds)
    for _ in range(options.loops):
        pass


def store(database: sqlite3.Connection, rows: list[tuple[int, str]]) -> None:
    with lock, database:
        database.executemany("REPLACE INTO page VALUES (?, ?)", rows)


def collect() -> None:
    global served
    served += 1
    if options.collect_every and served % options.collect_every == 0:
        gc.collect()


def work(number: int, file: str) -> None:
    draw = random.Random(number)
    rows = [(draw.randrange(5000), "x" * 80) for _ in range(options.rows)]
    database = sqlite3.connect(file, isolation_level="IMMEDIATE", timeout=60) if options.rows else None
    if database:
        database.execute("PRAGMA synchronous=OFF")
    while True:
        client, path = waiting.get()
        since = time.monotonic()
        compute()
        sleep(draw, path)
        if database:
            store(database, rows)
        collect()
        try:
            client.send(ANSWER)
        except OSError:  # it has gone
            continue
        finally:
            hold("workers", path, since)


def read(poll: selectors.BaseSelector, client: socket.socket) -> None:
    try:
        text = client.recv(65536)
    except BlockingIOError:
        return
    except OSError:
        text = b""
    if text:
        waiting.put((client, text.split(b" ", 2)[1].decode()))
    else:
        poll.unregister(client)
        client.close()


def serve(listening: socket.socket) -> None:
    poll = selectors.EpollSelector()
    poll.register(listening, selectors.EVENT_READ)
    while True:
        for key, _ in poll.select():
            if key.fileobj is listening:
                client, _ = listening.accept()
                client.setblocking(False)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                poll.register(client, selectors.EVENT_READ)
            else:
                assert isinstance(key.fileobj, socket.socket)
                read(poll, key.fileobj)


def end(*_: object) -> None:
    if options.held:
        with open(options.held, "a") as file:
            file.writelines(f"{by},{slow:d},{held_s}\n" for by, slow, held_s in held)
    sys.exit(0)


signal.signal(signal.SIGTERM, end)
with tempfile.TemporaryDirectory() as folder:
    file = f"{folder}/pages.db"
    if options.rows:
        made = sqlite3.connect(file)
        made.execute("CREATE TABLE page (number INTEGER PRIMARY KEY, text TEXT)")
        made.close()
    if options.collect_every:
        gc.disable()  # only when we say so
    for number in range(options.workers):
        threading.Thread(target=work, args=(number, file), daemon=True).start()
    serve(socket.create_server(("127.0.0.1", options.port), backlog=512))
