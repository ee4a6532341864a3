"""Benches of the key-value parts, on a quiet machine: `python benches/kv/run.py load|proxy|recovery`, the first two without a word.

Results go to benches/kv/NAME/DATE: machine.json, raw.csv, summary.md.
"""

from __future__ import annotations

import csv
import json
import os
import platform
import sys
import time
from importlib import import_module
from pathlib import Path

from sojourn.lab.registry import only_one
from sojourn.testbed.memcached import version

HERE = Path(__file__).resolve().parent


def main(name: str) -> None:
    bench = import_module(name)  # NAME.py beside this file
    with only_one("bench"):
        rows = bench.measure()
        folder = HERE / name / time.strftime("%Y-%m-%d")
        folder.mkdir(parents=True, exist_ok=True)
        machine = {"kernel": platform.release(), "cores": os.cpu_count(), "memcached": version()}
        (folder / "machine.json").write_text(json.dumps(machine, indent=1) + "\n")
        with open(folder / "raw.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        text = bench.summary(rows)
        (folder / "summary.md").write_text(text)
        print(text)


if __name__ == "__main__":
    for name in sys.argv[1:] or ("load", "proxy"):
        if name not in ("load", "proxy", "recovery"):
            sys.exit(f"benches: {name}: no such bench; use load, proxy or recovery")
        main(name)
