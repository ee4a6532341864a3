"""CPU time (user and system, children too) and memory of short commands, medians of rounds in turn; of another checkout beside them.

    python benches/start/cpu.py [--rounds 5] [--only load] [--beside FOLDER] [--out FOLDER]

`--beside`: a folder `python` of another checkout, built, whose code is run in turn with this one. Elapsed time counts only for the first
request: where others use the machine it says little. Bytecode is there before the first round: without it a start compiles 150 modules.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SHOP = str(ROOT / "examples/shop.toml")
SOJOURN = ["-m", "sojourn"]
Row = dict[str, Any]


class Answers(asyncio.Protocol):
    """`200 OK` to every request."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" * data.count(b"\r\n\r\n"))


def serve() -> str:
    """The URL of such a service, which ends with this process."""
    loop, there = asyncio.new_event_loop(), threading.Event()
    port: list[int] = []

    async def begin() -> None:
        server = await loop.create_server(Answers, "127.0.0.1", 0)
        port.append(server.sockets[0].getsockname()[1])
        there.set()

    def run() -> None:
        loop.create_task(begin())
        loop.run_forever()

    threading.Thread(target=run, daemon=True).start()
    there.wait()
    return f"http://127.0.0.1:{port[0]}/"


def commands(url: str, out: Path) -> dict[str, list[str]]:
    return {
        "python -c pass": ["-c", "pass"],
        "import numpy": ["-c", "import numpy"],
        "import typer, pydantic": ["-c", "import typer, pydantic; pydantic.TypeAdapter"],
        "import polars": ["-c", "import polars"],
        "sojourn --help": [*SOJOURN, "--help"],
        "sojourn methods": [*SOJOURN, "methods"],
        "sojourn solve shop.toml": [*SOJOURN, "solve", SHOP],
        "sojourn solve shop.toml --json": [*SOJOURN, "solve", SHOP, "--json"],
        "sojourn load, 20/s for 1 s": [*SOJOURN, "load", url, "--rate", "20", "--for", "1s", "--out", str(out)],
        "sojourn load, 10 users for 4 s": [
            *SOJOURN, "load", url, "--users", "10", "--think", "10ms", "--for", "4s", "--out", str(out),
        ],
    }  # fmt: skip


def _spent_s(pid: int) -> float:
    """CPU time until now of a process, of what it waited for, and of all that it started and runs."""
    try:
        columns = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    return sum(map(int, columns[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(_spent_s, map(int, children)))


def _watch(pid: int, until: threading.Event, spent: list[tuple[float, float]]) -> None:
    """When (CLOCK_MONOTONIC, s), and CPU time until then of a process and all that it started."""
    while not until.wait(0.02):
        spent.append((time.monotonic(), _spent_s(pid)))


def measured(words: list[str], code: str, out: Path) -> Row:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": code} if code else {}
    began = time.monotonic()
    done = subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    until = threading.Event()
    spent: list[tuple[float, float]] = []
    watch = threading.Thread(target=_watch, args=(done.pid, until, spent))
    watch.start()
    _, status, used = os.wait4(done.pid, 0)
    ended = time.monotonic()
    until.set()
    watch.join()
    row: Row = {
        "cpu_s": used.ru_utime + used.ru_stime,
        "rss_mib": used.ru_maxrss / 1024,
        "code": os.waitstatus_to_exitcode(status),
    }
    manifest = out / "manifest.json"
    if manifest.exists():
        row["first_request_s"] = (generator := json.loads(manifest.read_text())["generator"])["start_s"] - began
        row["end_s"] = ended - generator["end_s"]
        row["end_cpu_s"] = row["cpu_s"] - max(
            (cpu_s for at_s, cpu_s in spent if at_s <= generator["end_s"]), default=0.0
        )
        subprocess.run(["rm", "-r", str(out)], check=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beside", default="")
    parser.add_argument("--only", default="", help="commands with this in their name")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    codes = {"now": "", **({"before": asked.beside} if asked.beside else {})}
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "run")
        every = {name: words for name, words in commands(serve(), out).items() if asked.only in name}
        for round_ in range(-1, asked.rounds):  # the first makes bytecode
            for name, words in every.items():
                for which, code in codes.items():
                    row = measured(words, code, out)
                    rows += [{"round": round_, "command": name, "which": which, **row}] if round_ >= 0 else []
    for name in every:
        for which in codes:
            of = [row for row in rows if row["command"] == name and row["which"] == which]
            cpu = statistics.median(row["cpu_s"] for row in of)
            first = [row["first_request_s"] for row in of if "first_request_s" in row]
            told = f", first request after {statistics.median(first):.2f} s" if first else ""
            print(f"{name:32} {which:7} {cpu:.3f} s CPU, {max(row['rss_mib'] for row in of):.0f} MiB{told}")
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        with (asked.out / "raw.csv").open("w", newline="") as file:
            writer = csv.DictWriter(
                file, ["round", "command", "which", "cpu_s", "rss_mib", "code", "first_request_s", "end_s", "end_cpu_s"]
            )
            writer.writeheader()
            writer.writerows(rows)
        system = platform.uname()
        about = {"kernel": system.release, "architecture": system.machine, "cores": os.cpu_count(), "python": platform.python_version(),
                 "load": os.getloadavg()}  # fmt: skip
        (asked.out / "machine.json").write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
