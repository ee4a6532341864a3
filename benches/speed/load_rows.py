"""What puts load on a service of this machine: starts, and the open and closed loop beside wrk, oha, wrk2 and a bare loop."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from row import OURS, SOJOURN, Figures, Prepared, Row, Wanted, bench, compiled, used

SECONDS, CONNECTIONS = 4, 64
OHA, LOOP = "oha", "bare loop"


@contextmanager
def start(folder: Path) -> Iterator[Row]:
    cpu = bench("start/cpu")
    out = folder / "run"
    (words,) = (of for name, of in cpu.commands(cpu.serve(), out).items() if "10 users" in name)

    def run() -> Figures:
        row = cpu.measured(words, "", out)
        return {name: row[name] for name in ("first_request_s", "cpu_s", "end_s", "end_cpu_s")}

    about = (
        "`sojourn load`, 10 users who think for 10 ms, 4 s: to the first request, CPU time of all, and from the last answer to the "
        "end, elapsed and CPU"
    )
    wanted = {"first_request_s": Wanted(0.35), "cpu_s": Wanted(1.0), "end_s": Wanted(0.3), "end_cpu_s": Wanted(0.3)}
    yield Row(about, {OURS: run}, wanted, warm=True)


@contextmanager
def closed(folder: Path) -> Iterator[Row]:
    runs = bench("run")
    runs.SECONDS = SECONDS
    with runs.only_one("bench"), runs.shop() as url:

        def ours() -> Figures:
            return {"cpu_us": runs.ours(url)["cpu_us_per_request"]}

        tools: dict[str, Callable[[], Figures]] = {OURS: ours}
        if shutil.which("wrk"):
            tools["wrk"] = lambda: {"cpu_us": runs.wrk(url)["cpu_us_per_request"]}
        yield Row(
            "closed loop of 16 connections without think time, 4 s: CPU time a request, start and end included", tools
        )


def open_tools(rates: ModuleType, url: str, folder: Path, rate: int, *options: str) -> dict[str, Callable[[], Figures]]:
    """`sojourn load` with these options and its peers, as benches/open/rates.py has them."""
    vars(rates).update({"RATE": rate, "SECONDS": SECONDS, "CONNECTIONS": CONNECTIONS})
    asked = ["--rate", str(rate), "--connections", str(CONNECTIONS), "--duration", f"{SECONDS}s", *options]

    def ours() -> Figures:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            whole = used([*SOJOURN, "load", url, *asked, "--out", f"{place}/run"], good=range(256))
            told = json.loads(Path(place, "run/manifest.json").read_text())["generator"]
        times, sending = told["latency"]["from_intended"]["to_done"], sum(lane["cpu_s"] for lane in told["lanes"])
        figures = {"p50_ms": 1e3 * times["p50_s"], "p99_ms": 1e3 * times["p99_s"]}
        opened = sum(lane["connections_opened"] for lane in told["lanes"])
        figures |= {"cpu_us": 1e6 * sending / told["ok"], "command_cpu_us": 1e6 * whole["cpu_s"] / told["ok"]}
        return {**figures, "opened_connections": opened}

    loop, oha = compiled(folder, "open/bare_loop.c", "-O2"), os.environ.get("OHA") or shutil.which("oha")
    tools: dict[str, Callable[[], Figures]] = {OURS: ours, LOOP: lambda: _figures(rates.bare(loop, url))}
    if oha:
        tools[OHA] = lambda: _figures(rates.oha(oha, url))
    if program := os.environ.get("WRK2") or shutil.which("wrk2"):
        tools["wrk2"] = lambda: wrk2(program, url, rate)
    return tools


def _figures(row: dict[str, float]) -> Figures:
    return {name: float(row[name]) for name in ("p50_ms", "p99_ms", "cpu_us")}


def wrk2(program: str, url: str, rate: int) -> Figures:
    words = [program, "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", f"-R{rate}", url]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    printed = process.stdout.read()
    _, status, spent = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    answered = int(next(line for line in printed.splitlines() if "requests in" in line).split()[0])
    return {"cpu_us": 1e6 * (spent.ru_utime + spent.ru_stime) / answered}


@contextmanager
def open_slack(folder: Path) -> Iterator[Row]:
    rates = bench("open/rates")
    with rates.only_one("bench"), rates.shop() as url:
        tools = open_tools(rates, url, folder, 5_000, "--max-send-delay", "1ms")
        wanted = {"cpu_us": Wanted(1.0, OHA)} if OHA in tools else {}
        yield Row("open loop of 5 000/s with `--max-send-delay 1ms`: CPU time a request", tools, wanted)


@contextmanager
def open_fast(folder: Path) -> Iterator[Row]:
    rates = bench("open/rates")
    with rates.only_one("bench"), rates.shop() as url:
        tools = open_tools(rates, url, folder, 50_000)
        yield Row("open loop of 50 000/s: times from when a request was due", tools, {"p99_ms": Wanted(2.5)})


ROWS: dict[str, Prepared] = {"start": start, "open-5k": open_slack, "open-50k": open_fast, "closed": closed}
