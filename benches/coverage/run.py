"""How often intervals of the simulator enclose the truth, over independent seeds.

    python benches/coverage/run.py [--seeds 400] [--precision 0.05 0.02] [--processes 2]

Writes DATE/{summary.md,raw.json,machine.json} beside this file. Truths are closed forms: M/M/1 and M/M/m response times
(Kleinrock, Queueing Systems, vol. 1 (1975), 3.2, 3.5 and 5.9), the closed single queue by the arrival theorem (Lavenberg
and Reiser, J. Appl. Prob. 17 (1980), p. 1048: who arrives sees the queue of one customer fewer), closed networks by exact
mean-value analysis (Reiser and Lavenberg, J. ACM 27 (1980), p. 313).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import optimize, stats

import sojourn as sj

HERE = Path(__file__).resolve().parent
LEVEL = 0.95
Q = 0.99


@dataclass(frozen=True)
class Case:
    """A model with the true mean response time and its 0.99 quantile (None where there is no closed form)."""

    title: str
    model: sj.Model
    mean_s: float
    quantile_s: float | None


def open_queue(servers: int, rho: float) -> Case:
    """M/M/m with service rate 1 a server."""
    model = sj.Model([sj.Queue("cpu", servers)], [sj.Open("user", servers * rho)], {"cpu": {"user": 1.0}})
    busy = _erlang_c(servers, servers * rho)
    spare = servers * (1 - rho)

    def beyond(t: float) -> float:
        """P(response > t): the wait is 0, or exponential of rate `spare`; the service exponential of rate 1."""
        if abs(spare - 1) < 1e-12:
            return math.exp(-t) * (1 + busy * t)
        return math.exp(-t) + busy * (math.exp(-spare * t) - math.exp(-t)) / (1 - spare)

    quantile_s = optimize.brentq(lambda t: beyond(t) - (1 - Q), 0, 1e4)
    return Case(f"M/M/{servers}, rho {rho:g}", model, 1 + busy / spare, quantile_s)


def _erlang_c(servers: int, load: float) -> float:
    lost = 1.0
    for k in range(1, servers + 1):
        lost = load * lost / (k + load * lost)
    return lost / (1 - load / servers * (1 - lost))


def closed_queue(population: int, think_s: float) -> Case:
    """One FCFS queue of service rate 1 and `population` customers who think."""
    model = sj.Model([sj.Queue("cpu")], [sj.Closed("user", population, think_s)], {"cpu": {"user": 1.0}})
    found = np.cumprod(np.r_[1.0, np.arange(population - 1, 0, -1) / think_s])
    found /= found.sum()  # number found there on arrival: the queue with one customer fewer
    shape = np.arange(population) + 1
    quantile_s = optimize.brentq(lambda t: float(found @ stats.gamma.sf(t, shape)) - (1 - Q), 0, 1e3)
    return Case(f"closed queue, N {population}, Z {think_s:g}", model, float(found @ shape), quantile_s)


def closed_network(population: int, think_s: float, demands_s: dict[str, float]) -> Case:
    stations, user = [sj.Queue(name) for name in demands_s], sj.Closed("user", population, think_s)
    model = sj.Model(stations, [user], {name: {"user": d} for name, d in demands_s.items()})
    demand, number, response = np.array(list(demands_s.values())), np.zeros(len(demands_s)), 0.0
    for n in range(1, population + 1):
        residence = demand * (1 + number)
        response = float(residence.sum())
        number = n / (think_s + response) * residence
    return Case(f"closed network, {len(demands_s)} stations, N {population}", model, response, None)


CASES: dict[str, Callable[[], Case]] = {
    "mm1-0.5": lambda: open_queue(1, 0.5),
    "mm1-0.9": lambda: open_queue(1, 0.9),
    "mm8-0.9": lambda: open_queue(8, 0.9),
    "closed-queue": lambda: closed_queue(20, 10.0),
    "closed-network": lambda: closed_network(25, 1.0, {"cpu": 0.02, "disk": 0.03, "net": 0.01}),
}
Setting = tuple[str, float, int | None]


def one(job: tuple[Setting, int]) -> dict[str, Any]:
    """One simulation: what it found, and whether the truth is inside."""
    (name, precision, replications), seed = job
    case = CASES[name]()
    found = sj.simulate(case.model, precision, LEVEL, seed, replications, quantiles=(Q,), max_wall_time_s=600)
    row: dict[str, Any] = {"case": name, "precision": precision, "replications": replications, "seed": seed}
    row |= {"status": found.status, "events": int(found.message.rsplit(" events", 1)[0].rsplit(" ", 1)[1])}
    row |= _inside("mean", case.mean_s, found.value("response_time"), found.interval("response_time"))
    if case.quantile_s is not None:
        key: dict[str, Any] = {"cls": "user", "q": Q}
        interval = found.interval("response_time_quantile", **key)
        row |= _inside("quantile", case.quantile_s, found.value("response_time_quantile", **key), interval)
    return row


def _inside(what: str, truth: float, value: float, interval: tuple[float | None, float | None]) -> dict[str, Any]:
    low, high = interval
    inside = (low is None or low <= truth) and (high is None or truth <= high)
    half = None if low is None or high is None else (high - low) / 2 / truth
    return {what: value, f"{what}_low": low, f"{what}_high": high, f"{what}_inside": inside, f"{what}_half": half}


def summary(rows: list[dict[str, Any]], seeds: int) -> str:
    margin = 1.96 * math.sqrt(LEVEL * (1 - LEVEL) / seeds)
    lines = [
        "# Coverage of the simulator's intervals", "",
        f"{LEVEL:.0%} intervals, {seeds} seeds each; chance alone spreads a true {LEVEL:.0%} over "
        f"{LEVEL - margin:.1%} to {LEVEL + margin:.1%}. Demanded: 92 % to 98 %.", "",
        "| model | runs | precision | mean covered | 0.99 quantile covered | half-width of mean | of quantile "
        "| bias of mean | events (median) |",
        "|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    parts: dict[Setting, list[dict[str, Any]]] = {}
    for row in rows:
        parts.setdefault((row["case"], row["precision"], row["replications"]), []).append(row)
    return "\n".join([*lines, *(_line(setting, part) for setting, part in parts.items())]) + "\n"


def _line(setting: Setting, rows: list[dict[str, Any]]) -> str:
    case = CASES[setting[0]]()

    def mean(key: str) -> str:
        values = [r[key] for r in rows if r.get(key) is not None]
        return f"{np.mean(values):.1%}" if values else "–"

    bias = np.mean([r["mean"] for r in rows]) / case.mean_s - 1
    runs = "one long" if setting[2] is None else f"{setting[2]} side by side"
    events = int(np.median([r["events"] for r in rows]))
    covered = f"{mean('mean_inside')} | {mean('quantile_inside')} | {mean('mean_half')} | {mean('quantile_half')}"
    return f"| {case.title} | {runs} | {setting[1]:g} | {covered} | {bias:+.2%} | {events} |"


def machine() -> dict[str, Any]:
    model = [x.split(":")[1].strip() for x in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in x]
    return {"kernel": platform.release(), "cores": os.cpu_count(), "processor": (model or [platform.machine()])[0]}


def store(rows: list[dict[str, Any]], seeds: int) -> str:
    folder = HERE / time.strftime("%Y-%m-%d")
    folder.mkdir(exist_ok=True)
    (folder / "machine.json").write_text(json.dumps(machine(), indent=1) + "\n")
    (folder / "raw.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    text = summary(rows, seeds)
    (folder / "summary.md").write_text(text)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=400)
    parser.add_argument("--precision", type=float, nargs="+", default=[0.05, 0.02])
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    asked = parser.parse_args()
    settings: list[Setting] = [(name, p, None) for p in asked.precision for name in asked.cases]
    settings += [(name, asked.precision[0], 10) for name in asked.cases]
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(asked.processes) as pool:
        for setting in settings:
            jobs = [(setting, seed) for seed in range(1, asked.seeds + 1)]
            rows += pool.map(one, jobs, chunksize=10)
            text = store(rows, asked.seeds)  # after each, so that an interrupted run leaves what it has
            print(text.splitlines()[-1], flush=True)
    print(text)


if __name__ == "__main__":
    main()
