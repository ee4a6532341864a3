"""Recovery of words that `recovery.py` does not simulate: cores that take interrupts, what runs measured, answers that are asked again.

    python benches/fit/words.py --seeds 200 --first 31000 --out FOLDER [--only shared]

What runs say is computed from the laws of the model, with errors as runs of that length have them, and these runs state their errors as
20 batches do. So the answers of a method cannot be wrong here, only its intervals: each row is a 95 % interval of one unknown, with its
truth. The hosts of the variants of a multicore station are drawn for each seed (`benches/virtual/hosts_by_law.py`).
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import sojourn as sj
from sojourn.errors import SojournError
from sojourn.fit.factor_mapping import applied, factors_of
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.model.unknown_parameters import replaced
from sojourn_cases.web.model_files import model_file

sys.path.insert(0, str(Path(__file__).parents[1] / "virtual"))
from hosts_by_law import HostByLaw

SHARES, SECONDS = (0.2, 0.35, 0.5, 0.6, 0.7, 0.8), 20.0  # of saturation; of a run
ERROR, BATCHES = 0.01, 20  # relative, of a mean of a run
ANY = "{ free = true }"
MEASURED = f"""
[parameters]
request_s = {ANY}
key_s = {ANY}
keys = 1
cpu_s = {{ metric = "service_demand", station = "server", formula = "request_s + key_s*keys" }}
[stations.cpu]
[stations.elsewhere]
kind = "delay"
[classes.user]
kind = "open"
rate_per_s = 1
[demands_s]
cpu = {{ user = "cpu_s" }}
elsewhere = {{ user = {{ free = true, low = 0 }} }}
"""
RETRIED = f"""
[parameters]
work_s = {ANY}
own_s = {ANY}
again = {ANY}
retry_s = 0.1
[stations.cpu]
servers = 2
[classes.user]
kind = "closed"
population = 1
think_s = "own_s + again*retry_s"
[demands_s.cpu]
user = "work_s"
"""
Case = tuple[sj.Model, FitRuns, Mapping[str, float]]


def _variant(name: str, seed: int) -> Case:
    host = HostByLaw.drawn(seed, SECONDS)
    host = replace(host, variant=name, interrupt_scv=host.interrupt_scv if name == "priority" else 1.0)
    truth = {"stations.cpu.interrupt_s": host.interrupt_s, "stations.cpu.crossing_s": host.crossing_s,
             "service_s.cpu.user": host.page_s}  # fmt: skip
    more = {"stations.cpu.interrupt_scv": host.interrupt_scv} if name == "priority" else {}
    return model_file(name), host.runs((host.cores, 1), SHARES), truth | more


def _solved(
    text: str, truth: Mapping[str, float], points: Sequence[Mapping[str, Any]], seed: int, demand: bool = False
) -> Case:
    """`demand`: whether runs measure the CPU time of a request."""
    model, rng = sj.Model.parse(text), np.random.default_rng(seed)
    runs = []
    for i, point in enumerate(points):
        told = sj.solve(applied(replaced(model, truth), factors_of(model, points), point))
        means = {("", metric): _mean(told.value(metric), rng) for metric in ("response_time", "throughput")}
        cpu_s = {
            ("server", "", "service_demand"): _mean(told.value("utilisation", "cpu") / told.value("throughput"), rng)[0]
        }
        runs.append(FitRun(f"run-{i}", dict(point), means, {}, measured=cpu_s if demand else {}))
    return model, FitRuns(runs), truth


def _mean(value: float, rng: np.random.Generator) -> tuple[float, float]:
    stated = ERROR * np.sqrt(rng.chisquare(BATCHES - 1) / (BATCHES - 1))
    return value * float(np.exp(ERROR * rng.standard_normal())), float(stated)


def _measured(seed: int) -> Case:
    truth = {"parameters.request_s": 0.004, "parameters.key_s": 0.001, "demands_s.elsewhere.user": 0.01}
    points = [{"rate_per_s": float(r), "keys": k} for r, k in ((20, 1), (40, 8), (60, 2), (30, 16), (50, 4), (45, 1))]
    return _solved(MEASURED, truth, points, seed, demand=True)


def _retried(seed: int) -> Case:
    truth = {"parameters.work_s": 0.02, "parameters.own_s": 0.2, "parameters.again": 0.5}
    points = [
        {"users": n, "retry_s": r}
        for n, r in ((2, 0.1), (6, 0.4), (10, 0.1), (14, 0.4), (20, 0.1), (26, 0.4), (32, 0.1))
    ]
    return _solved(RETRIED, truth, points, seed)


WORDS: dict[str, Callable[[int], Case]] = {
    **{f"cores: {name}": lambda seed, name=name: _variant(name, seed) for name in ("priority", "shared", "paper")},
    "a formula of a measured number": _measured,
    "a share that is asked again": _retried,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with open(asked.out / "words.csv", "a+", newline="") as file:
        file.seek(0)
        done = {(row[0], int(row[1])) for row in list(csv.reader(file))[1:]}
        writer = csv.writer(file)
        if not done:
            writer.writerow(["word", "seed", "unknown", "truth", "value", "low", "high", "held"])
        for name, case in WORDS.items():
            for seed in range(asked.first, asked.first + asked.seeds) if asked.only in name else ():
                if (name, seed) not in done:
                    writer.writerows((name, seed, *row) for row in recovered(*case(seed), seed))
                    file.flush()
    table(asked.out / "words.csv")


def recovered(model: sj.Model, runs: FitRuns, truth: Mapping[str, float], seed: int) -> list[tuple[Any, ...]]:
    try:
        fitted = sj.fit(runs, model, seed=seed)
    except SojournError as error:
        return [("refused", "", str(error), "", "", "")]
    found = [(path, value, *fitted.estimates[path]) for path, value in truth.items()]
    return [(*row, int(row[3] <= row[1] <= row[4])) for row in found]


def table(path: Path) -> None:
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    print("| word | unknown | fits | 95 % interval held |\n|---|---|---|---|")
    for word, unknown in dict.fromkeys((row["word"], row["unknown"]) for row in rows):
        own = [row for row in rows if (row["word"], row["unknown"]) == (word, unknown)]
        held = "" if unknown == "refused" else f"{np.mean([int(row['held']) for row in own]):.1%}"
        print(f"| {word} | {unknown} | {len(own)} | {held} |")


if __name__ == "__main__":
    main()
