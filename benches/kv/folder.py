"""Where results of these benches go, and what is said of the machine."""

from __future__ import annotations

import sys
from pathlib import Path

from sojourn_cases.common.memcached import version

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for record.py

import record as recorder  # noqa: E402

PEERS = {"memcached": version}
record = recorder.record


def new_folder(bench: str, suffix: str = "") -> Path:
    """benches/kv/BENCH/DATE with what the machine is."""
    return recorder.new_folder(HERE, bench, PEERS, suffix)
