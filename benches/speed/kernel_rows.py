"""Kernels beside bare C, and whole computations in a process of their own."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from row import BENCHES, OURS, PYTHON, Figures, Prepared, Row, Wanted, bench, compiled, numbers

BARE = "bare C"
BY_DIAGONALS = "bare C by diagonals"
SOLUTIONS = "2000"
SOLVED = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import run
numbers = np.array([run.POPULATIONS])
print(run.timed(lambda: run._native.closed_multi(run.THREE, np.ones(3), numbers)[0].sum(), int(sys.argv[2]))[0])
"""
SIMULATED = """
import sys
sys.path.insert(0, sys.argv[1])
import run
print(1e9 / run.ours(sys.argv[2], "events", quantiles=True))
"""


@contextmanager
def mva(folder: Path) -> Iterator[Row]:
    program = compiled(folder, "solve/bare.c", "-O2")
    ours = [PYTHON, "-c", SOLVED, str(BENCHES / "solve"), SOLUTIONS]
    tools = {
        OURS: lambda: {"us": 1e6 * numbers(ours)[0]},
        BARE: lambda: {"us": 1e6 * numbers([program, "three", SOLUTIONS])[0]},
        BY_DIAGONALS: lambda: {"us": 1e6 * numbers([program, "diagonals", SOLUTIONS])[0]},
    }
    yield Row(
        "exact MVA of three classes (20, 20, 10), four stations: the kernel, CPU time", tools, {"us": Wanted(1.0, BARE)}
    )


@contextmanager
def simulation(folder: Path, work: str, about: str) -> Iterator[Row]:
    """The bare program counts the same: of each station and of the whole the sums, and a histogram of the response times."""
    program = compiled(folder, "simulate/bare.c", "-O3")

    def bare() -> Figures:
        seconds, completions, _ = numbers([program, f"{work}-counted", "10000000"])
        return {"ns": 1e9 * seconds / completions}

    ours = [PYTHON, "-c", SIMULATED, str(BENCHES / "simulate"), work]
    tools = {OURS: lambda: {"ns": numbers(ours)[0]}, BARE: bare}
    yield Row(f"simulation by events with quantiles, {about}: CPU time of a service", tools, {"ns": Wanted(1.3, BARE)})


@contextmanager
def sweep(folder: Path) -> Iterator[Row]:
    source = bench("solve/two_classes")
    tools = {OURS: lambda: {"cpu_s": numbers([PYTHON, "-c", source.SWEEP, source.MODEL])[0]}}
    yield Row(
        "sweep of 10 000 points of two closed classes by Linearizer, with its table", tools, {"cpu_s": Wanted(1.0)}
    )


@contextmanager
def fit_draws(folder: Path) -> Iterator[Row]:
    def run() -> Figures:
        words = [PYTHON, str(BENCHES / "fit/speed.py"), "--repeat", "1"]
        printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        found = re.search(r"median ([\d.]+) s; CPU median ([\d.]+) s", printed)
        assert found, printed
        return {"elapsed_s": float(found[1]), "cpu_s": float(found[2])}

    about = "a fit with 300 draws: five unknown demands, 40 points (benches/fit/speed.py)"
    yield Row(about, {OURS: run}, {"elapsed_s": Wanted(1.5)})


ROWS: dict[str, Prepared] = {
    "mva": mva,
    "simulate-mm1": partial(simulation, work="mm1", about="M/M/1 at 90 %"),
    "simulate-tandem": partial(simulation, work="tandem", about="five stations in tandem at 80 %"),
    "simulate-cycle": partial(simulation, work="cycle", about="six stations in a cycle, 50 customers"),
    "sweep": sweep,
    "fit-draws": fit_draws,
}
