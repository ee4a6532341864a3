"""SQLite with a commit that waits for the disk a request, a thread a connection, one commit at a time."""

import sqlite3
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

lock = threading.Lock()
database = sqlite3.connect(sys.argv[2], check_same_thread=False, isolation_level=None)
database.execute("PRAGMA journal_mode=WAL")
database.execute("PRAGMA synchronous=FULL")
database.execute("CREATE TABLE IF NOT EXISTS page (text TEXT)")


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        with lock:
            database.execute("INSERT INTO page VALUES (?)", ("x" * 200,))
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128  # 64 connections may be opened at once


Server(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
