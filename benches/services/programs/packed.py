"""Python threads: one at a time packs a page of 300 kB, some 2 ms of CPU time in which others may run."""

import sys
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = b"".join(b"A page of words that are not all the same: %d.\n" % number for number in range(6000))
one = threading.Semaphore(1)


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        with one:
            zlib.compress(WORDS, 6)
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 512


Server(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
