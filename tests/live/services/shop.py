"""A small HTTP service for tests: `work-ms` of CPU a request at `workers` at a time, and some bad habits by option."""

import argparse
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--work-ms", type=float, default=0.0)
parser.add_argument("--workers", type=int, default=1)
parser.add_argument("--processes", type=int, default=1, help="forked, all accepting on the port")
parser.add_argument("--ready-after", type=float, default=0.0)
parser.add_argument("--dies-after", type=float, help="seconds after its first request")
parser.add_argument("--print", dest="printed", default="", help="these variables of the environment, on each request")
parser.add_argument("--noise-bytes", type=int, default=0)
parser.add_argument("--deaf", action="store_true", help="does not heed SIGTERM")
parser.add_argument("--child", action="store_true", help="starts a process in a session of its own that stays")
parser.add_argument("--background", action="store_true", help="goes to the background as old daemons do")
options = parser.parse_args()
turn = threading.BoundedSemaphore(options.workers)
first = threading.Event()


def work() -> None:
    with turn:
        end = time.thread_time() + options.work_ms / 1e3
        while time.thread_time() < end:
            pass


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path != "/ready":
            first.set()
            work()
        for name in filter(None, options.printed.split(",")):
            print(f"{name} is {os.environ.get(name)}", flush=True)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def die() -> None:
    first.wait()
    time.sleep(options.dies_after)
    print("out of memory: giving up", flush=True)
    os._exit(3)


if options.background and os.fork():
    sys.exit(0)
if options.deaf:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if options.child:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
if options.noise_bytes:
    print("x" * 79 + "\n", end="", flush=True)
    sys.stdout.write(("y" * 79 + "\n") * (options.noise_bytes // 80))
    print("the last line", flush=True)
time.sleep(options.ready_after)
try:
    server = Server((options.host, options.port), Shop)
except OSError as error:
    sys.exit(f"cannot listen on port {options.port}: {error.strerror}")
assert server.socket.family == socket.AF_INET
for _ in range(options.processes - 1):
    if not os.fork():
        break
if options.dies_after is not None:
    threading.Thread(target=die, daemon=True).start()
server.serve_forever()
