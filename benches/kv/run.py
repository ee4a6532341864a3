"""Benches of the key-value parts, on a quiet machine.

    python benches/kv/run.py [load|proxy|flood|throughput|uring …] # without a word: load and proxy
    python benches/kv/run.py soak [--seed N] [--seconds S] [--design direct|staged]

Results go to benches/kv/NAME/DATE: machine.json, raw.csv, summary.md; soak.py says what it writes.
"""

from __future__ import annotations

import sys
from importlib import import_module

from folder import HERE, PEERS, record

from sojourn.lab.cleanup_registry import only_one

if __name__ == "__main__":
    if sys.argv[1:2] == ["soak"]:
        with only_one("bench"):
            sys.exit(import_module("soak").main(sys.argv[2:]))
    record(HERE, ("load", "proxy", "flood", "throughput", "uring"), PEERS, usual=2)
