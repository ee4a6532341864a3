"""Closed networks: our kernels and whole calls against a bare C loop and octave's `queueing`, measured in one run.

    python benches/solve/run.py

Needs `cc`; `octave-cli` with the package `queueing` (Debian: octave, octave-queueing) is left out where it is missing,
and the summary says so. Tools take turns in each round, medians are compared, and the answers are compared too. Writes
benches/solve/DATE/{summary.md,raw.json}.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import sojourn as sj
from sojourn import _native
from sojourn.model import Closed, Model, Queue

HERE = Path(__file__).resolve().parent
ROUNDS = 9
DEMANDS = 0.01 * np.arange(1, 11)
SERVERS = [1, 1, 1, 1, 1, 1, 1, 4, 8, 25]
THREE = np.array([[0.01 * k, 0.02 * k, 0.1 / k] for k in range(1, 5)])
POPULATIONS = (20, 20, 10)
LATTICE = (99, 99, 99, 99)  # 1e8 vectors
Answer = tuple[float, float]  # seconds a solution, throughput of all classes


def one_class(servers: list[int], population: int = 1000) -> Model:
    names = [f"s{k}" for k in range(len(servers))]
    stations = [Queue(name, servers=m) for name, m in zip(names, servers, strict=True)]
    demands = {name: {"user": float(d)} for name, d in zip(names, DEMANDS, strict=True)}
    return Model(stations=stations, classes=[Closed("user", population, think_s=1.0)], demands_s=demands)


def three_classes(populations: tuple[int, ...] = POPULATIONS, demands: np.ndarray = THREE) -> Model:
    classes = [Closed(f"c{r}", n, think_s=1.0) for r, n in enumerate(populations)]
    stations = [Queue(f"s{k}", discipline="ps") for k in range(len(demands))]
    times = {f"s{k}": {f"c{r}": float(d) for r, d in enumerate(row)} for k, row in enumerate(demands)}
    return Model(stations=stations, classes=classes, demands_s=times)


def timed(solve: Callable[[], float], repetitions: int) -> Answer:
    x = solve()
    start = time.perf_counter()
    for _ in range(repetitions):
        solve()
    return (time.perf_counter() - start) / repetitions, x


def bare(program: Path, case: str, repetitions: int) -> Answer:
    out = subprocess.run([program, case, str(repetitions)], capture_output=True, text=True, check=True).stdout.split()
    return float(out[0]), float(out[1])


def octave(call: str, repetitions: int) -> Answer:
    """Seconds a call inside octave, start not counted, and the sum of throughputs at station 1."""
    script = (
        "warning('off', 'all'); pkg load queueing; D = 0.01 * (1:10); Z = 1; m = ones(1, 10);\n"
        "S = [0.01 * (1:4); 0.02 * (1:4); 0.1 ./ (1:4)];\n"
        f"{call}; tic; for i = 1:{repetitions}; {call}; end; t = toc / {repetitions};\n"
        "printf('%.9e %.15g\\n', t, sum(X(:, 1)));\n"
    )
    done = subprocess.run(["octave-cli", "-q", "--eval", script], capture_output=True, text=True)
    words = done.stdout.split()
    return float(words[-2]), float(words[-1])


def cases(program: Path) -> dict[str, dict[str, Callable[[], Answer]]]:
    """Case → tool → one measurement; the first tool of a case is what the others are compared with."""
    one, three, mixed = one_class([1] * 10), three_classes(), one_class(SERVERS)
    speeds = [[float(i + 1) for i in range(m)] for m in SERVERS]
    think, number = np.array([1.0]), np.array([1000])
    found: dict[str, dict[str, Callable[[], Answer]]] = {
        "one class, N = 1000, 10 stations": {
            "bare C loop": lambda: bare(program, "one", 2000),
            "kernel": lambda: timed(lambda: _native.closed_single(DEMANDS[None], think, number)[0][0], 2000),
            "whole call": lambda: whole(one, 500),
            "octave qncsmva": lambda: octave("[U R Q X] = qncsmva(1000, D, ones(1, 10), m, Z)", 5),
        },
        "three classes (20, 20, 10), 4 stations": {
            "bare C loop": lambda: bare(program, "three", 1000),
            "kernel": lambda: timed(lambda: _native.closed_multi(THREE, np.ones(3), np.array([POPULATIONS]))[0].sum(), 1000),
            "whole call": lambda: whole(three, 300),
            "octave qncmmva": lambda: octave("[U R Q X] = qncmmva([20 20 10], S, ones(3, 4), ones(1, 4), [1 1 1])", 1),
        },
        "4, 8 and 25 servers among 10 stations, N = 1000": {
            "bare C loop of one class": lambda: bare(program, "one", 2000),
            "kernel": lambda: timed(
                lambda: _native.closed_convolution(DEMANDS[:, None], speeds, think, number[:, None], 0)[0][0, 0], 300
            ),
            "whole call": lambda: whole(mixed, 200),
            "octave qncsmva": lambda: octave(
                "m = [1 1 1 1 1 1 1 4 8 25]; [U R Q X] = qncsmva(1000, D, ones(1, 10), m, Z)", 1
            ),
        },
        "sweep of 1000 points to N = 200, 10 stations, with all rows": {"whole call": lambda: a_sweep(one)},
        "lattice of 1e8 vectors, 4 classes, 4 stations": {"whole call": a_lattice},
    }  # fmt: skip
    if not shutil.which("octave-cli"):
        found = {name: {t: f for t, f in tools.items() if "octave" not in t} for name, tools in found.items()}
    return found


def whole(model: Model, repetitions: int) -> Answer:
    """`sj.solve` of a model that was lowered; the rows are made when asked for."""
    seconds, _ = timed(lambda: len(sj.solve(model).method), repetitions)
    table = sj.solve(model)
    return seconds, sum(table.value("throughput", cls=c.name) for c in model.classes)


def a_sweep(model: Model) -> Answer:
    values = [1 + i % 200 for i in range(1000)]
    start = time.perf_counter()
    frame = sj.sweep(model, "classes.user.population", values).frame
    return time.perf_counter() - start, float(frame.height)


def a_lattice() -> Answer:
    demands = np.array([[0.01 * k, 0.02 * k, 0.1 / k, 0.03] for k in range(1, 5)])
    model = three_classes(LATTICE, demands)
    start = time.perf_counter()
    table = sj.solve(model, "mva-multiclass")
    seconds = time.perf_counter() - start
    return seconds, sum(table.value("throughput", cls=c.name) for c in model.classes)


def measure() -> list[dict[str, float | str | int]]:
    rows: list[dict[str, float | str | int]] = []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bare"
        subprocess.run(["cc", "-O2", "-o", program, HERE / "bare.c"], check=True)
        for name, tools in cases(program).items():
            for round_ in range(1 if name.startswith("lattice") else ROUNDS):
                for tool, run in tools.items():
                    seconds, x = run()
                    rows.append({"case": name, "tool": tool, "round": round_, "seconds": seconds, "answer": x})
    return rows


def summary(rows: list[dict[str, float | str | int]], machine: dict[str, object]) -> str:
    lines = ["# solve", "", f"Medians of {ROUNDS} rounds, tools in turn; raw.json has each round.", ""]
    lines += [f"{k}: {v}" for k, v in machine.items()] + [""]
    if machine["disturbed"]:
        lines += ["Others were working on this machine: times are too long, ratios within a case less so.", ""]
    if not shutil.which("octave-cli"):
        lines += ["octave-cli is not installed (Debian: octave, octave-queueing): its columns are missing.", ""]
    for name in dict.fromkeys(row["case"] for row in rows):
        lines += [f"## {name}", ""]
        own = [row for row in rows if row["case"] == name]
        first = 0.0
        for tool in dict.fromkeys(row["tool"] for row in own):
            mine = [row for row in own if row["tool"] == tool]
            seconds = statistics.median(float(row["seconds"]) for row in mine)
            first = first or seconds
            lines.append(
                f"- {tool}: {1e6 * seconds:.4g} µs, ratio {seconds / first:.3g}; answer {mine[0]['answer']:.12g}"
            )
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    before = os.getloadavg()[0]
    rows = measure()
    model = [s.split(":")[1].strip() for s in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in s]
    machine: dict[str, object] = {
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "processor": model[0] if model else platform.machine(),
        "load_before": before,
        "disturbed": before > 0.5,
    }
    folder = HERE / time.strftime("%Y-%m-%d")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "raw.json").write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")
    text = summary(rows, machine)
    (folder / "summary.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
