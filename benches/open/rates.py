"""An open loop of 50 000 requests/s beside oha and a bare loop, all of them with what they bring: the time from when a request was due.

    python benches/open/rates.py
    BEFORE=FOLDER python benches/open/rates.py     # also a version of before (record.version_of)

`bare_loop.c` does only the necessary with the same punctuality (built here by `cc`). oha (`cargo install oha --locked`) is found, or where
`OHA` says; what is not there is left out. The service is the web shop without work, one thread on the first core; `sojourn load` runs as a
user runs it, with its collector and its records. Results go to benches/open/DATE.
"""

from __future__ import annotations

import csv
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from sojourn.lab.cleanup_registry import only_one

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for record.py and run.py

from record import version_of  # noqa: E402
from run import shop  # noqa: E402

ROUNDS, RATE, SECONDS, CONNECTIONS = int(os.environ.get("ROUNDS", "5")), 50_000, 4, 64
BEFORE = "sojourn, before"
FIGURES = ("p50_ms", "p99_ms", "cpu_us", "answered_per_s")
Row = dict[str, float | str | int]


def children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sojourn(url: str, folder: str | None) -> Row:
    """Times to the last byte read, as the others have them; CPU time of the sending thread."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "sojourn", "load", url, "--rate", str(RATE), "--connections", str(CONNECTIONS)]
        with version_of(folder):
            subprocess.run(
                [*command, "--duration", f"{SECONDS}s", "--out", f"{out}/run"], capture_output=True, check=False
            )
        told = json.loads(Path(out, "run", "manifest.json").read_text())["generator"]
    latency, used = told["latency"]["from_intended"]["to_done"], sum(lane["cpu_s"] for lane in told["lanes"])
    return row(latency["p50_s"], latency["p99_s"], used, told["ok"])


def oha(program: str, url: str) -> Row:
    before = children_cpu_s()
    command = [
        program,
        "-z",
        f"{SECONDS}s",
        "-q",
        str(RATE),
        "-c",
        str(CONNECTIONS),
        "--latency-correction",
        "--no-tui",
    ]
    done = subprocess.run([*command, "--output-format", "json", url], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    times, answered = told["latencyPercentiles"], sum(told["statusCodeDistribution"].values())
    return row(times["p50"], times["p99"], children_cpu_s() - before, answered)


def bare(program: Path, url: str) -> Row:
    to = urlsplit(url)
    command = [program, str(to.port), to.path, str(RATE), str(SECONDS), str(CONNECTIONS)]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return row(told["p50_s"], told["p99_s"], told["cpu_s"], told["ok"])


def row(p50_s: float, p99_s: float, cpu_s: float, answered: int) -> Row:
    rate = answered / SECONDS
    return {"p50_ms": 1e3 * p50_s, "p99_ms": 1e3 * p99_s, "cpu_us": 1e6 * cpu_s / answered, "answered_per_s": rate}


def measure() -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, shop() as url:
        loop = Path(folder, "bare_loop")
        subprocess.run(["cc", "-O2", "-o", loop, HERE / "bare_loop.c", "-lm"], check=True)
        tools = {"sojourn": lambda: sojourn(url, None), "bare loop": lambda: bare(loop, url)}
        if before := os.environ.get("BEFORE"):
            tools[BEFORE] = lambda: sojourn(url, before)
        if program := os.environ.get("OHA") or shutil.which("oha"):
            tools["oha"] = lambda: oha(program, url)
        for round_ in range(ROUNDS):
            for tool, run in tools.items():
                rows.append({"round": round_, "tool": tool, **run()})
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def summary(rows: list[Row]) -> str:
    """Medians by tool, and the p99 of all rounds."""
    lines = [
        f"# {RATE} requests/s", "",
        f"Medians of {ROUNDS} rounds of {SECONDS} s, alternated; {CONNECTIONS} connections, Poisson arrivals (oha: even ones). Times are "
        "from when a request was due to its answer's last byte. `cpu_us` is CPU time a request: of the sending thread (sojourn), of the "
        "process (the others). raw.csv has each round.", "",
        "| tool | p50_ms | p99_ms | cpu_us | answered_per_s | p99_ms of the rounds |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for tool in dict.fromkeys(str(row["tool"]) for row in rows):
        of = [row for row in rows if row["tool"] == tool]
        p50, p99, cpu, rate = (statistics.median(float(row[figure]) for row in of) for figure in FIGURES)
        rounds = ", ".join(f"{float(row['p99_ms']):.2f}" for row in of)
        lines.append(f"| {tool} | {p50:.3f} | {p99:.2f} | {cpu:.1f} | {rate:.0f} | {rounds} |")
    loads = os.getloadavg()
    return "\n".join([*lines, "", f"Load average at the end: {loads[0]:.1f} ({os.cpu_count()} cores).", ""])


def main() -> None:
    with only_one("bench"):
        rows = measure()
    folder = HERE / time.strftime("%Y-%m-%d")
    folder.mkdir(exist_ok=True)
    machine = {"kernel": platform.release(), "cores": os.cpu_count()}
    (folder / "machine.json").write_text(json.dumps(machine, indent=1) + "\n")
    with open(folder / "raw.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (folder / "summary.md").write_text(summary(rows))
    print(summary(rows))


if __name__ == "__main__":
    main()
