"""Recovery of what `recovery.py` does not simulate: cores that take interrupts.

    python benches/fit/cores.py --seeds 200 --first 31000 --out FOLDER [--only shared]

What runs say is drawn from the law of the variant (`benches/virtual/hosts_by_law.py`), a host for each seed, and these runs state their
errors as 20 batches do. So the answers of a method cannot be wrong here, only its intervals: each row is a 95 % interval of one unknown,
with its truth.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import sojourn as sj
from sojourn.errors import SojournError
from sojourn.fit import FitRuns
from sojourn_cases.web.model_files import model_file

sys.path.insert(0, str(Path(__file__).parents[1] / "virtual"))
from hosts_by_law import HostByLaw

VARIANTS = ("priority", "shared", "paper")
LEVEL, FEW = 0.95, 20  # of the intervals; draws, which these do not depend on
SHARES, SECONDS = (0.2, 0.35, 0.5, 0.6, 0.7, 0.8), 20.0  # of saturation; of a run
Case = tuple[sj.Model, FitRuns, Mapping[str, float]]


def _host(name: str, seed: int) -> Case:
    host = HostByLaw.drawn(seed, SECONDS)
    host = replace(host, variant=name, interrupt_scv=host.interrupt_scv if name == "priority" else 1.0)
    truth = {"stations.cpu.interrupt_s": host.interrupt_s, "stations.cpu.crossing_s": host.crossing_s,
             "service_s.cpu.user": host.page_s}  # fmt: skip
    more = {"stations.cpu.interrupt_scv": host.interrupt_scv} if name == "priority" else {}
    return model_file(name), host.runs((host.cores, 1), SHARES), truth | more


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with open(asked.out / "cores.csv", "a+", newline="") as file:
        file.seek(0)
        done = {(row[0], int(row[1])) for row in list(csv.reader(file))[1:]}
        writer = csv.writer(file)
        if not done:
            writer.writerow(["variant", "seed", "unknown", "truth", "value", "low", "high", "held"])
        for name in VARIANTS:
            for seed in range(asked.first, asked.first + asked.seeds) if asked.only in name else ():
                if (name, seed) not in done:
                    writer.writerows((name, seed, *row) for row in recovered(*_host(name, seed), seed))
                    file.flush()
    table(asked.out / "cores.csv")


def recovered(model: sj.Model, runs: FitRuns, truth: Mapping[str, float], seed: int) -> list[tuple[Any, ...]]:
    try:
        fitted = sj.fit(runs, model, LEVEL, seed, FEW)
    except SojournError as error:
        return [("refused", "", str(error), "", "", "")]
    found = [(path, value, *fitted.estimates[path]) for path, value in truth.items()]
    return [(*row, int(row[3] <= row[1] <= row[4])) for row in found]


def table(path: Path) -> None:
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    print("| variant | unknown | fits | 95 % interval held |\n|---|---|---|---|")
    for variant, unknown in dict.fromkeys((row["variant"], row["unknown"]) for row in rows):
        own = [row for row in rows if (row["variant"], row["unknown"]) == (variant, unknown)]
        held = "" if unknown == "refused" else f"{np.mean([int(row['held']) for row in own]):.1%}"
        print(f"| {variant} | {unknown} | {len(own)} | {held} |")


if __name__ == "__main__":
    main()
