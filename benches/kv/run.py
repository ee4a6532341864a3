"""Benches of the key-value parts, on a quiet machine.

    python benches/kv/run.py [load|proxy|recovery …]     # without a word: load and proxy
    python benches/kv/run.py soak [--seed N] [--seconds S] [--design direct|staged]

Results go to benches/kv/NAME/DATE: machine.json, raw.csv, summary.md; soak.py says what it writes.
"""

from __future__ import annotations

import csv
import sys
from importlib import import_module

from folder import new_folder

from sojourn.lab.registry import only_one

NAMES = ("load", "proxy", "recovery")


def main(name: str) -> None:
    bench = import_module(name)  # NAME.py beside this file
    rows = bench.measure()
    folder = new_folder(name)
    with open(folder / "raw.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    text = bench.summary(rows)
    (folder / "summary.md").write_text(text)
    print(text)


if __name__ == "__main__":
    with only_one("bench"):
        if sys.argv[1:2] == ["soak"]:
            sys.exit(import_module("soak").main(sys.argv[2:]))
        for name in sys.argv[1:] or NAMES[:2]:
            if name not in NAMES:
                sys.exit(f"benches: {name}: no such bench; use {', '.join(NAMES)} or soak")
            main(name)
