"""Benches of the key-value parts, on a quiet machine: `python benches/kv/run.py load|proxy`, both without a word."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    for name in sys.argv[1:] or ("load", "proxy"):
        runpy.run_path(str(HERE / f"{name}.py"), run_name="__main__")
