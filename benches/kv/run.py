"""Benches of the key-value parts, on a quiet machine: `python benches/kv/run.py load|proxy`, both without a word.

Results go to benches/kv/NAME/DATE: machine.json, raw.csv, summary.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sojourn.testbed.memcached import version

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for record.py

from record import record  # noqa: E402

if __name__ == "__main__":
    record(HERE, ("load", "proxy"), {"memcached": version})
