"""A service of a user's own: a pool of workers, its metrics under its own names, and its size by a command.

python resizable_pool.py serve PORTFILE SIZE | size PORTFILE | resize PORTFILE N
"""

from __future__ import annotations

import http.server
import sys
import threading
import time
import urllib.request
from pathlib import Path

SERVICE_S = 0.02


class Pool:
    """At most `size` requests at once, in order of arrival as far as a condition keeps it."""

    def __init__(self, size: int) -> None:
        self.size, self.busy, self.present = size, 0, 0
        self.done, self.response_s, self.busy_s = 0, 0.0, 0.0
        self.free = threading.Condition()

    def work(self) -> None:
        begin = time.monotonic()
        with self.free:
            self.present += 1
            self.free.wait_for(lambda: self.busy < self.size)
            self.busy += 1
        time.sleep(SERVICE_S)
        with self.free:
            self.busy -= 1
            self.present -= 1
            self.done += 1
            self.busy_s += SERVICE_S
            self.response_s += time.monotonic() - begin
            self.free.notify_all()

    def resize(self, size: int) -> None:
        with self.free:
            self.size = size
            self.free.notify_all()

    def page(self) -> str:
        with self.free:
            return (
                "# TYPE shop_request_seconds summary\n"
                f'shop_request_seconds_count{{code="200"}} {self.done}\n'
                f'shop_request_seconds_sum{{code="200"}} {self.response_s!r}\n'
                f"# TYPE shop_in_progress gauge\nshop_in_progress {self.present}\n"
                f"# TYPE shop_busy_seconds_total counter\nshop_busy_seconds_total {self.busy_s!r}\n"
                f"# TYPE shop_pool_workers gauge\nshop_pool_workers {self.size}\n"
            )


def serve(port_file: Path, size: int) -> None:
    pool = Pool(size)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            text = ""
            if path == "/metrics":
                text = pool.page()
            elif path == "/resize":
                pool.resize(int(query))
            elif path == "/size":
                text = str(pool.size)
            else:
                pool.work()
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    written = port_file.with_suffix(".new")
    written.write_text(str(server.server_port))
    written.rename(port_file)
    server.serve_forever()


def ask(port_file: Path, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port_file.read_text()}{path}", timeout=5) as answer:
        return str(answer.read().decode())


if __name__ == "__main__":
    what, file = sys.argv[1], Path(sys.argv[2])
    if what == "serve":
        serve(file, int(sys.argv[3]))
    elif what == "size":
        print(ask(file, "/size"))
    else:
        ask(file, f"/resize?{int(sys.argv[3])}")
