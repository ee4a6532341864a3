"""Plans: how long 10 000 configurations take, and how often a choice holds what it says.

    python benches/plan/run.py [speed] [regret]

Simulations and solving, no load. Each bench writes a folder of its date with raw.csv, machine.json and summary.md.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from record import record  # noqa: E402

if __name__ == "__main__":
    record(HERE, ("speed", "regret"), {})
