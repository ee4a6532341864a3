"""Time of a plan of 10 000 configurations: the web model (fitted) and M/M/m as a model file. Median of three."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import sojourn as sj
from sojourn.fit import FitRuns
from sojourn.fit.fit_runs import FitRun
from sojourn.plan import Plan
from sojourn_cases.web.model_files import fit_for, model_file

COUNT, GOAL_S, REPEATS = 10_000, 10.0, 3
ONE = """
[stations.cpu]
servers = 4
[classes.user]
kind = "open"
rate_per_s = 1000.0
[demands_s.cpu]
user = 0.02
[factors]
cores = "stations.cpu.servers"
"""


def web() -> Plan:
    """cores x nics with nics <= cores, of a fit of the web case's `priority.toml` to runs as its law has them."""
    runs = []
    for cores, nics, rate in (
        (1, 1, 50.0),
        (1, 1, 200.0),
        (2, 1, 400.0),
        (4, 2, 700.0),
        (200, 100, 900.0),
        (200, 100, 9000.0),
    ):
        told = sj.two_class(rate, mu1_per_s=3300.0, mu2_per_s=370.0, cores=cores, nics=nics, variant="priority")
        means = {("", "response_time"): (told.value("response_time"), 0.01), ("", "throughput"): (rate, 0.005)}
        busy = {"leading interrupts": rate / 3300.0}
        runs.append(FitRun(f"r{rate:g}", {"cores": cores, "nics": nics, "rate_per_s": rate}, means, busy))
    seen = FitRuns(runs)
    fitted = sj.fit(seen, fit_for(model_file("priority"), seen))
    vary = {"cores": range(1, 201), "nics": range(1, 59)}  # 9947 with nics <= cores
    return sj.plan(fitted, vary, "mean < 20ms", "0.04*cores + 0.01*nics", load="200..900")


def station() -> Plan:
    """Cores and demands of one station."""
    vary = {"cores": range(1, 101), "demands_s.cpu.user": list(np.linspace(0.01, 0.03, 100))}
    return sj.plan(sj.Model.parse(ONE), vary, "p99 < 120ms", "cores - 1000*demands_s.cpu.user", load=1000)


def measure() -> list[dict[str, Any]]:
    rows = []
    plans: dict[str, Callable[[], Plan]] = {"web": web, "station": station}
    for name, made in plans.items():
        for k in range(REPEATS):
            begin, cpu = time.perf_counter(), time.process_time()
            found = made()
            rows.append({"plan": name, "repeat": k, "configurations": found.configurations, "draws": found.draws,
                         "wall_s": time.perf_counter() - begin, "cpu_s": time.process_time() - cpu})  # fmt: skip
    return rows


def summary(rows: list[dict[str, Any]]) -> str:
    lines = ["# Time of a plan", "", "| plan | configurations | draws | median | CPU time |", "|---|---|---|---|---|"]
    for name in dict.fromkeys(row["plan"] for row in rows):
        own = [row for row in rows if row["plan"] == name]
        wall, cpu = (median(row[key] for row in own) for key in ("wall_s", "cpu_s"))
        lines.append(f"| {name} | {own[0]['configurations']} | {own[0]['draws']} | {wall:.2f} s | {cpu:.2f} s |")
    worst = max(row["wall_s"] for row in rows if row["plan"] == "web")
    lines += ["", f"Goal: the web model in {GOAL_S:g} s; the slowest of {REPEATS} took {worst:.2f} s."]
    return "\n".join(lines) + "\n"
