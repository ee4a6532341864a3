"""Benches of the message service, on a quiet machine: `python benches/messages/run.py speed|stored|growth`.

Without a word: speed. Results go to benches/messages/NAME/DATE: machine.json, raw.csv, summary.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sojourn_cases.common.postgres_programs import programs, version

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for record.py

from record import record  # noqa: E402

if __name__ == "__main__":
    record(HERE, ("speed", "stored", "growth"), {"postgres": lambda: version(programs())}, usual=1)
