"""PostgreSQL behind Python: a pool of two connections, each request sums some thousand rows, some 2 ms of CPU time of PostgreSQL."""

import queue
import signal
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sojourn_cases.common.postgres import DATABASE, USER, Postgres
from sojourn_cases.common.postgres_protocol import PostgresSession

CONNECTIONS, ROWS = 2, 12_000
pool: queue.SimpleQueue[PostgresSession] = queue.SimpleQueue()


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        one = pool.get()
        try:
            one.run("SELECT sum(price) FROM page WHERE price > 7")
        finally:
            pool.put(one)
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
with tempfile.TemporaryDirectory() as folder:
    database = Postgres(folder, durable=False)
    try:
        database.run(f"CREATE TABLE page AS SELECT (n * 7919) % 100 AS price FROM generate_series(1, {ROWS}) n")
        for _ in range(CONNECTIONS):
            pool.put(PostgresSession(database.socket, user=USER, database=DATABASE))
        Server(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
    finally:
        database.close()
