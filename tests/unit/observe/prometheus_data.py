"""A day of a service as Prometheus would have scraped it, and a Prometheus that has it: blocks made by promtool, nothing scraped."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

FOLDER = os.environ.get("PROMETHEUS_BIN", "")  # of prometheus and promtool, where they are not installed
SCRAPE_S = 15.0
DEMAND_S = {"/a": 0.02, "/b": 0.06}
CORES = 2


def program(name: str) -> str:
    found = shutil.which(name, path=FOLDER or None)
    if found is None:
        pytest.skip(f"{name} is not installed (Debian: prometheus)")
    return found


def open_metrics(start_s: float, hours: float, reset_at: int | None = None, gap: range = range(0)) -> str:
    """Counters of two routes that share two cores, R = D/(1 - U^2) (M/M/2 with processor sharing), and their CPU time. At sample
    `reset_at` the service was started anew; samples in `gap` were not scraped."""
    count = int(hours * 3600 / SCRAPE_S)
    t = np.arange(count) * SCRAPE_S
    rates = {"/a": 16 + 12 * np.sin(t / 3600), "/b": 10 + 8 * np.cos(t / 2500)}
    used = sum(DEMAND_S[route] * rate for route, rate in rates.items()) / CORES
    total = {route: np.cumsum(rate * SCRAPE_S) for route, rate in rates.items()}
    time_s = {route: np.cumsum(rate * SCRAPE_S * DEMAND_S[route] / (1 - used**2)) for route, rate in rates.items()}
    busy = np.cumsum(used * CORES * SCRAPE_S)
    kept = [i for i in range(count) if i not in gap]
    lines = []

    def counter(name: str, labels: str, values: np.ndarray) -> None:
        base = values[reset_at - 1] if reset_at else 0.0
        for i in kept:
            value = values[i] - (base if reset_at and i >= reset_at else 0.0)
            lines.append(f"{name}{labels} {value:.9g} {start_s + t[i]:.3f}")

    for part, values in (("count", total), ("sum", time_s)):
        lines.append(f"# TYPE http_server_request_duration_seconds_{part} unknown")
        for route in rates:
            counter(f"http_server_request_duration_seconds_{part}", f'{{http_route="{route}"}}', values[route])
    lines.append("# TYPE node_cpu_seconds counter")
    for core in range(CORES):
        of_core = f'cpu="{core}",instance="shop-1:9100"'
        counter("node_cpu_seconds_total", f'{{{of_core},mode="user"}}', busy / CORES)
        counter("node_cpu_seconds_total", f'{{{of_core},mode="idle"}}', np.cumsum((1 - used) * SCRAPE_S))
    return "\n".join([*lines, "# EOF"]) + "\n"


@contextmanager
def prometheus(folder: Path, text: str = "", *more: str) -> Iterator[str]:
    """Its address, `127.0.0.1:port`, while it runs in `folder`. `more`: arguments of its command line."""
    server, tool = program("prometheus"), program("promtool")
    if text:
        (folder / "day.txt").write_text(text)
        blocks = [tool, "tsdb", "create-blocks-from", "openmetrics", str(folder / "day.txt"), str(folder / "data")]
        made = subprocess.run(blocks, capture_output=True, text=True, timeout=120, check=False)
        assert made.returncode == 0, made.stderr
    (folder / "prometheus.yml").write_text("scrape_configs: []\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [server, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
               "--storage.tsdb.retention.time=10y", f"--web.listen-address={address}", *more]  # fmt: skip
    with (folder / "log.txt").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            _ready(address, process, folder / "log.txt")
            yield address
        finally:
            process.terminate()
            process.wait(30)


def _ready(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"http://{address}/-/ready", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(log.read_text())
