"""The engine beside bare loops and other simulators, in one run: `python benches/simulate/run.py [rounds]`.

Works: `mm1` (rho 0.9), `tandem` (five M/M/1 at 0.8), `cycle` (six FCFS, 50 customers, means 20 … 10 ms). Ours counts
everything and runs by events and by whatever it chooses itself, without histograms and ("quantiles") with one of every
station and one of the system; `bare` (bare.c) counts completions only. SimPy, Ciw and salabim are installed in an
environment of their own. CPU seconds of one thread, tools in turn, medians of the rounds.
"""

from __future__ import annotations

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

HERE = Path(__file__).resolve().parent
PEERS = ("simpy", "ciw", "salabim")
WORKS = ("mm1", "tandem", "cycle")
OURS, BARE, PEER = 10_000_000, 10_000_000, 20_000  # service completions in a run


def exponential(mean: float) -> dict[str, Any]:
    return {"kind": "exponential", "mean": mean}


def config(work: str, engine: str = "auto", replication: int = 0, quantiles: bool = False) -> dict[str, Any]:
    """The work for our engine; with a histogram of every station and of the system if `quantiles`."""
    means, gap = {
        "mm1": ([1.0], 1 / 0.9),
        "tandem": ([1.0] * 5, 1 / 0.8),
        "cycle": ([0.020, 0.018, 0.016, 0.014, 0.012, 0.010], None),
    }[work]
    n = len(means)
    return {
        "seed": 1,
        "replication": replication,
        "engine": engine,
        "stations": [{"name": f"q{i}", "kind": "queue"} for i in range(n)],
        "classes": [{"name": "a", "arrivals": exponential(gap)} if gap else {"name": "a", "population": 50}],
        "service": [[exponential(mean)] for mean in means],
        "routes": [{"node": (i - 1) % (n + 1), "class": 0, "to": [[i, 0, 1.0]]} for i in range(n + 1)],
        "batch_s": means[0],
        "histograms": ["/a", *(f"q{i}/a" for i in range(n))] if quantiles else [],
    }


def ours(work: str, engine: str, quantiles: bool = False) -> float:
    """Service completions a CPU second."""
    from sojourn import _native

    simulation = _native.Simulation(json.dumps(config(work, engine, quantiles=quantiles)))
    stations = len(config(work)["stations"])
    started = time.process_time()
    simulation.run(completions=OURS // stations)
    return simulation.completions * stations / (time.process_time() - started)


def bare(program: Path, work: str) -> float:
    line = subprocess.run([program, work, str(BARE)], capture_output=True, text=True, check=True).stdout.split()
    return float(line[1]) / float(line[0])


def peer(python: Path, tool: str, work: str) -> float:
    command = [python, HERE / "peers.py", tool, work, str(PEER)]
    line = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(line[1]) / float(line[0])


def replications(cores: int) -> float:
    """Wall time of one replication after the other over that of `cores` at once: how many cores' worth it is."""
    from sojourn import _native

    def run(replication: int) -> None:
        _native.Simulation(json.dumps(config("cycle", "events", replication))).run(completions=OURS // 6)

    started = time.perf_counter()
    for i in range(cores):
        run(i)
    one = time.perf_counter() - started
    threads = [threading.Thread(target=run, args=(i,)) for i in range(cores)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return one / (time.perf_counter() - started)


def prepare(folder: Path) -> tuple[Path, Path]:
    """The bare loops compiled, the peers installed; their program and interpreter."""
    program, environment = folder / "bare", folder / "peers"
    subprocess.run(["cc", "-O3", "-o", program, HERE / "bare.c", "-lm"], check=True)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    subprocess.run([environment / "bin/pip", "install", "-q", *PEERS], check=True)
    return program, environment / "bin/python"


def measure(rounds: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        program, python = prepare(Path(folder))
        for round_ in range(rounds):
            for work in WORKS:
                tools = {
                    "bare": bare(program, work),
                    "sojourn": ours(work, "auto"),
                    "sojourn, quantiles": ours(work, "auto", quantiles=True),
                    "sojourn events": ours(work, "events"),
                    "sojourn events, quantiles": ours(work, "events", quantiles=True),
                    **{tool: peer(python, tool, work) for tool in PEERS},
                }
                rows += [{"round": round_, "work": work, "tool": t, "per_s": r} for t, r in tools.items()]
            limit = bare(program, "lindley")
            rows.append({"round": round_, "work": "lindley", "tool": "bare", "per_s": limit})
            rows.append({"round": round_, "work": "lindley", "tool": "sojourn", "per_s": ours("mm1", "recursion")})
            cores = os.cpu_count() or 1
            rows.append({"round": round_, "work": f"{cores} cores", "tool": "sojourn", "per_s": replications(cores)})
    return rows


def summary(rows: list[dict[str, Any]], machine: dict[str, Any]) -> str:
    lines = ["# simulate", "", f"Medians; raw.json has each round. Load at the start and end: {machine['load']}.", ""]
    for work in dict.fromkeys(row["work"] for row in rows):
        own = [row for row in rows if row["work"] == work]
        median = {
            tool: statistics.median(row["per_s"] for row in own if row["tool"] == tool)
            for tool in dict.fromkeys(row["tool"] for row in own)
        }
        if "bare" not in median:
            lines.append(f"- replications on {work}: {median['sojourn']:.2f} times as fast as on one")
            continue
        parts = [f"{t} {rate / 1e6:.3g} M/s ({rate / median['bare']:.2g} of bare)" for t, rate in median.items()]
        lines.append(f"- {work}, service completions a CPU second: " + ", ".join(parts))
    return "\n".join(lines) + "\n"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    before = os.getloadavg()[0]
    rows = measure(rounds)
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    machine = {
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "processor": names[0].split(":")[1].strip() if names else platform.machine(),
        "load": [round(before, 1), round(os.getloadavg()[0], 1)],
        "rounds": rounds,
    }
    folder = HERE / time.strftime("%Y-%m-%d")
    folder.mkdir(exist_ok=True)
    (folder / "raw.json").write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")
    text = summary(rows, machine)
    (folder / "summary.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
