"""Python's own http.server, a thread a connection: some 2 ms of Python a request, under the interpreter's lock."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = str(sum(number * number for number in range(30_000))).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128  # 64 connections may be opened at once


Server(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
