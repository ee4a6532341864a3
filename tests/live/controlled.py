"""The web shop with a backend of 5 servers as its safe setting, and what controls it, each in a process of its own."""

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sojourn.control.live_metrics import LiveMetrics
from sojourn.lab.worker_process import WorkerProcess
from sojourn.live_service.control_socket import ServiceSettings, SocketActuator

SAFE = 5
LEASE_S = 1.0
PERIOD_S = 0.2
CONTROLLER = Path(__file__).parent / "controller_main.py"


class Pool:
    """`/wait` of 20 ms on the servers that are set."""

    def __init__(self, folder: Path) -> None:
        self.socket = str(folder / "control")
        backend = {
            "service": {"kind": "exponential", "mean": 0.02},
            "safe": {"workers": SAFE, "cap": 500},
            "control": self.socket,
        }
        web = {"listen": ["127.0.0.1:0"], "cores": [0], "leading": [0], "pinned": False, "backend": backend}
        self.worker = WorkerProcess("web", {"network": None, "web": web})
        self.url = f"http://{self.worker.ready()['addresses'][0]}"

    def settings(self) -> ServiceSettings:
        return SocketActuator(self.socket, "looks", 1.0).read()

    def until(self, holds: Callable[[ServiceSettings], bool], within_s: float) -> float:
        """Waits until it holds; how long that took, s."""
        begin = time.monotonic()
        while not holds(self.settings()):
            assert time.monotonic() - begin < within_s, self.settings()
            time.sleep(0.01)
        return time.monotonic() - begin

    def expired(self) -> int:
        text = LiveMetrics(self.url).text()
        return int(text.split("\nsojourn_web_leases_expired_total ")[1].split("\n")[0])

    def close(self) -> None:
        self.worker.stop()


class Between:
    """Hands on the service's /metrics as `change` makes it; None: no answer at all."""

    def __init__(self, url: str) -> None:
        self.change: Callable[[str], str | None] = lambda text: text
        between = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with urllib.request.urlopen(f"{url}/metrics", timeout=2) as answer:
                    text = between.change(answer.read().decode())
                if text is not None:
                    self.send_response(200)
                    self.end_headers()
                    self.wfile.write(text.encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def controller(url: str, socket: str, out: Path, *words: str) -> subprocess.Popen[str]:
    """A controller that wants 9 servers; `words`: die=PHASE, settings=N before it."""
    return subprocess.Popen(
        [sys.executable, str(CONTROLLER), url, socket, str(out), str(LEASE_S), str(PERIOD_S), *words],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "decisions.ndjson").read_text().splitlines()]


def until_told(out: Path, holds: Callable[[list[dict[str, Any]]], bool], within_s: float = 30) -> None:
    """Waits until the log of decisions says so; its last line may be half written."""
    end = time.monotonic() + within_s
    log = out / "decisions.ndjson"
    while True:
        text = log.read_text() if log.exists() else ""
        told = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        if holds(told):
            return
        assert time.monotonic() < end, told
        time.sleep(0.02)


def refused(told: list[dict[str, Any]]) -> bool:
    return any(line.get("event") == "refused" for line in told)
