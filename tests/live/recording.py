"""An HTTP service on loopback that keeps what it was asked."""

from __future__ import annotations

import http.server
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Recording:
    """Requests as (method, path, headers, body); `url` without a path."""

    url: str
    heard: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.recording.heard.append((self.command, self.path, dict(self.headers), body))  # type: ignore[attr-defined]
        self.send_response(201 if self.command == "POST" else 200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"ok")

    do_GET = do_POST = do_HEAD = do_PUT = _any  # noqa: N815

    def address_string(self) -> str:
        return "local"

    def log_message(self, *_: object) -> None:
        pass


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256  # the generator opens its connections at once
    recording: Recording


class _UnixServer(_Server):
    address_family = socket.AF_UNIX

    def server_bind(self) -> None:
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "local", 0


@contextmanager
def recording(certificate: tuple[Path, Path] | None = None, unix: Path | None = None) -> Iterator[Recording]:
    """The service, over TLS where a certificate and its key are given, on a Unix socket where one is named."""
    server = _UnixServer(str(unix), _Handler) if unix else _Server(("127.0.0.1", 0), _Handler)  # type: ignore[arg-type]
    scheme = "http"
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        scheme = "https"
    server.recording = Recording(f"{scheme}://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.recording
    finally:
        server.shutdown()
        server.server_close()
