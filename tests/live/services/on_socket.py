"""Answers HTTP on a Unix socket at the path that is given."""

import http.server
import socketserver
import sys


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        pass


class Server(socketserver.ThreadingUnixStreamServer):
    request_queue_size = 64
    daemon_threads = True


Server(sys.argv[1], Answer).serve_forever()
