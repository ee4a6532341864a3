"""CPU time of a sweep of 10 000 points of two closed classes by Linearizer, with its table, of another checkout in turn; the first in a
process, with what it imports.

    python benches/solve/two_classes.py --beside OTHER/python --out benches/solve/DATE
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROUNDS = 5
STATIONS = {"a": (0.01, 0.02), "b": (0.02, 0.01), "c": (0.015, 0.012)}
MODEL = "".join(f'[stations.{name}]\ndiscipline = "ps"\n' for name in STATIONS) + "".join(
    f'[classes.{name}]\nkind = "closed"\npopulation = 10\nthink_s = 1\n' for name in "xy"
)
MODEL += "[service_s]\n" + "".join(f"{name} = {{ x = {x}, y = {y} }}\n" for name, (x, y) in STATIONS.items())
MODEL += "[visits]\n" + "".join(f"{name} = {{ x = 1, y = 1 }}\n" for name in STATIONS)
SWEEP = """
import sys, time
import sojourn as sj
model = sj.Model.parse(sys.argv[1], "two.toml")
begun = time.process_time()
numbers = range(1, 101)
found = sj.sweep(model, {"classes.x.population": numbers, "classes.y.population": numbers}, method="linearizer").frame
print(time.process_time() - begun, found.height, found["value"].fill_nan(0).sum())
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", default="")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    rows: list[tuple[int, str, float, int, float]] = []
    for round_ in range(ROUNDS):
        for which, code in {"now": "", **({"before": asked.beside} if asked.beside else {})}.items():
            environment = os.environ | ({"PYTHONPATH": code} if code else {})
            words = [sys.executable, "-c", SWEEP, MODEL]
            done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
            cpu_s, height, total = done.stdout.split()
            rows.append((round_, which, float(cpu_s), int(height), float(total)))
            print(*rows[-1], flush=True)
    for which in dict.fromkeys(row[1] for row in rows):
        print(f"{which:7} {statistics.median(row[2] for row in rows if row[1] == which):.2f} s CPU")
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        with (asked.out / "two-classes.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("round", "which", "cpu_s", "rows", "sum_of_values"), *rows])


if __name__ == "__main__":
    main()
