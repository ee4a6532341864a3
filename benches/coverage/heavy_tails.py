"""How often the simulator says `ok` with a wrong interval where service times are very unequal.

    python benches/coverage/heavy_tails.py [--seeds 100] [--few 5] [--first-seed 1] [--precision 0.1] [--processes 2]

Demanded of each case: of the runs that say `ok` 92 to 98 % hold the true mean response time, or no run says `ok`. `--few` seeds for
cases of which hardly a run can say it (no fourth moment; lognormal times of scv 25 and more, which take 1e8 customers), or whose truth
is not known, or at load 0.9. There the precision asked for is twice as coarse, since a run takes some twenty times as long. Writes
heavy-tails.{md,json} and machine.json into DATE beside this file.

Truths: one server by Pollaczek and Khinchine (Kleinrock, Queueing Systems, vol. 1 (1975), p. 190), moments of the laws by their
definitions, worked out here; a tandem, an exponential server before the heavy one, by Burke's theorem (Oper. Res. 4 (1956), p. 699:
Poisson arrivals at the second too); four servers of hyperexponential service by the balance equations of (number present, long
services under way), cut off where less than 1e-9 lies. Other four-server cases have no truth, and only tell how many runs say `ok`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from run import LEVEL, machine
from scipy import stats

import sojourn as sj
from sojourn.model.distribution_registry import Distribution, Hyperexponential, Lognormal, Pareto, Weibull

HERE = Path(__file__).resolve().parent
LOADS, SYSTEMS = (0.5, 0.7, 0.9), ("one server", "four servers", "tandem")
LONG, SHORT = (1 - math.sqrt(24 / 26)) / 2, (1 + math.sqrt(24 / 26)) / 2  # balanced means, scv 25 (Tijms 2003, B.2)
PHASES = ((SHORT, 0.5 / SHORT), (LONG, 0.5 / LONG))


def pareto_second(shape: float) -> float:
    low = (shape - 1) / shape
    return shape * low**2 / (shape - 2) if shape > 2 else math.inf


# law of mean 1 s: (the law, its second moment, order below which moments are finite)
LAWS: dict[str, tuple[Distribution, float, float]] = {
    **{f"Pareto {a:g}": (Pareto(1.0, a), pareto_second(a), a) for a in (1.9, 2.0, 2.2, 2.5, 3.0)},
    **{f"lognormal, scv {c}": (Lognormal(1.0, float(c)), 1.0 + c, math.inf) for c in (4, 25, 100)},
    "hyperexponential, scv 25": (Hyperexponential(*zip(*PHASES, strict=True)), 26.0, math.inf),
    "Weibull 0.4": (Weibull(1.0, 0.4), math.gamma(6) / math.gamma(3.5) ** 2, math.inf),
}
JUDGED = ("lognormal, scv 4", "hyperexponential, scv 25", "Weibull 0.4")
Case = tuple[str, str, float]
CASES = [(law, system, load) for law in LAWS for system in SYSTEMS for load in LOADS]


def model(case: Case) -> sj.Model:
    law, system, load = case
    service, servers = LAWS[law][0], 4 if system == "four servers" else 1
    stations = [sj.Queue("cpu", servers)]
    times: dict[str, dict[str, float | Distribution]] = {"cpu": {"user": service}}
    if system == "tandem":
        stations, times = [sj.Queue("front"), *stations], {"front": {"user": 1.0}, **times}
    return sj.Model(stations, [sj.Open("user", load * servers)], times)


@cache
def truth(case: Case) -> float | None:
    """Mean response time, s."""
    law, system, load = case
    if system == "four servers":
        return four_servers(load) if law.startswith("hyper") else None
    front = 1 / (1 - load) if system == "tandem" else 0.0
    return front + 1 + load * LAWS[law][1] / (2 * (1 - load))


def four_servers(load: float, servers: int = 4) -> float:
    """M/H2/4: states (n present, i of those in service long), solved level by level from the top down."""
    most = round(20 * 26 / (1 - load))
    rate, (short, short_s), (long, long_s) = load * servers, *PHASES

    def up(n: int) -> np.ndarray:
        if n >= servers:
            return rate * np.eye(servers + 1)
        return rate * (short * np.eye(n + 1, n + 2) + long * np.eye(n + 1, n + 2, k=1))

    def down(n: int) -> np.ndarray:
        busy = min(n, servers)
        i = np.arange(busy + 1)
        of_short, of_long = np.diag((busy - i) / short_s), np.diag(i / long_s)
        fewer = np.eye(busy + 1, k=-1)
        if n > servers:  # the next begins
            one, more = np.eye(busy + 1), np.eye(busy + 1, k=1)
            return of_short @ (short * one + long * more) + of_long @ (short * fewer + long * one)
        return of_short[:, :-1] + (of_long @ fewer)[:, :-1]

    steps, ahead = [], None
    for n in range(most, 0, -1):
        out = down(n).sum(axis=1) + (rate if n < most else 0.0)
        stay = np.diag(out) - (ahead @ down(n + 1) if ahead is not None else 0.0)
        ahead = up(n - 1) @ np.linalg.inv(stay)
        steps.append(ahead)
    levels = [np.ones(1)]
    for step in reversed(steps):
        levels.append(levels[-1] @ step)
    share = np.array([level.sum() for level in levels])
    assert share[-1] < 1e-9 * share.sum()
    return float(share @ np.arange(most + 1) / share.sum() / rate)


def hardly(case: Case) -> bool:
    if case[2] > 0.8 or (case[1] == "four servers" and not case[0].startswith("hyper")):
        return True  # long, or no truth to hold it against
    return case[0] not in JUDGED


def one(job: tuple[Case, float, int, float]) -> dict[str, Any]:
    case, precision, seed, seconds = job
    if hardly(case) and case[0] not in JUDGED:
        seconds = min(seconds, 3.0)
    began = time.monotonic()
    found = sj.simulate(model(case), precision, LEVEL, seed, quantiles=(), max_wall_time_s=seconds)
    low, high = found.interval("response_time")
    value, true = found.value("response_time"), truth(case)
    inside = None if low is None or high is None or true is None else low <= true <= high
    law, system, load = case
    return {
        "law": law, "system": system, "load": load, "precision": precision, "seed": seed, "status": found.status,
        "value": None if math.isnan(value) else value, "low": low, "high": high, "truth": None if true == math.inf else true,
        "inside": inside, "wall_s": round(time.monotonic() - began, 2),
    }  # fmt: skip


def summary(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Coverage under heavy tails", "",
        "Share of the runs that say `ok` whose 95 % interval holds the true mean response time, with its own 95 % interval (Clopper",
        "and Pearson). Demanded: 92 to 98 %, or no run says `ok`.", "",
        "| service | system | load | runs | `ok` | of these hold the truth | other statuses | wall time, median |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    parts: dict[Case, list[dict[str, Any]]] = {}
    for row in rows:
        parts.setdefault((row["law"], row["system"], row["load"]), []).append(row)
    for (law, system, load), part in parts.items():
        good = [row for row in part if row["status"] == "ok"]
        other = sorted({row["status"] for row in part} - {"ok"})
        wall = float(np.median([row["wall_s"] for row in part]))
        lines.append(
            f"| {law} | {system} | {load:g} | {len(part)} | {len(good)} | {_covered(good)} | {', '.join(other) or '–'} | {wall:.1f} s |"
        )
    judged = [row for row in rows if row["status"] == "ok" and row["truth"] is not None]
    return "\n".join([*lines, "", f"All together: {_covered(judged)} of {len(judged)} runs."]) + "\n"


def _covered(good: list[dict[str, Any]]) -> str:
    known = [row["inside"] for row in good if row["inside"] is not None]
    if not known:
        return "no truth known" if good else "–"
    k, n = sum(known), len(known)
    low = stats.beta.ppf(0.025, k, n - k + 1) if k else 0.0
    high = stats.beta.ppf(0.975, k + 1, n - k) if k < n else 1.0
    return f"{k / n:.1%} ({low:.0%} … {high:.0%})"


def store(rows: list[dict[str, Any]]) -> str:
    folder = HERE / time.strftime("%Y-%m-%d")
    folder.mkdir(exist_ok=True)
    (folder / "machine.json").write_text(json.dumps(machine(), indent=1) + "\n")
    (folder / "heavy-tails.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    text = summary(rows)
    (folder / "heavy-tails.md").write_text(text)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--few", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--precision", type=float, default=0.1)
    parser.add_argument("--max-seconds", type=float, default=20.0)
    parser.add_argument("--most-minutes", type=float, default=20.0, help="no block of seeds begins after that")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    began, block = time.monotonic(), 5
    with ProcessPoolExecutor(asked.processes) as pool:
        for start in range(0, asked.seeds, block):
            if time.monotonic() - began > 60 * asked.most_minutes:
                break
            jobs = [
                (case, asked.precision * (2 if case[2] > 0.8 else 1), asked.first_seed + seed, asked.max_seconds)
                for case in CASES
                for seed in range(start, min(start + block, asked.few if hardly(case) else asked.seeds))
            ]
            rows += pool.map(one, jobs)
            text = store(rows)  # after each block, so that an interrupted run leaves what it has
            print(f"{start + block} seeds, {time.monotonic() - began:.0f} s", flush=True)
    print(text)


if __name__ == "__main__":
    main()
