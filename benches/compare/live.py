"""`sojourn compare --url` on loopback: a service beside itself, and beside one that takes a tenth longer.

    python benches/compare/live.py --comparisons 20 --out FOLDER [--slower 1.1] [--rate 60]

Two processes of tests/live/services/queueing.py (two workers that wait 6 ms on average, exponential) are loaded in turn: 5 blocks of runs
of 2 s a comparison, level 0.9, margin 5 %, each comparison with a seed of its own. `live-RATIO.csv`: a row a comparison and
metric. It measures: what else runs on the machine belongs into the record. Waits where another measurement runs.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.compare import Comparison, InterleavedLimits, compare_urls
from sojourn.errors import Busy

SERVICE = Path(__file__).resolve().parents[2] / "tests/live/services/queueing.py"
MEAN_MS, RUN_S, BLOCKS = 6.0, 2.0, 5
WAIT_S = 5.0


@contextmanager
def service(mean_ms: float) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--port", str(port), "--workers", "2", "--sleep-ms", str(mean_ms), "--law", "exponential"]
    process = subprocess.Popen([sys.executable, str(SERVICE), *words])
    try:
        time.sleep(1.0)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait()


def one(a: str, b: str, rate_per_s: float, seed: int) -> Comparison:
    with tempfile.TemporaryDirectory() as place:
        while True:
            try:
                limits = InterleavedLimits(BLOCKS, 600.0, seed)
                return compare_urls(a, b, rate_per_s=rate_per_s, run_s=RUN_S, out=Path(place, "out"), limits=limits)
            except Busy:
                time.sleep(WAIT_S)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--comparisons", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--slower", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=150.0)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    with service(MEAN_MS) as a, service(MEAN_MS * given.slower) as b:
        for number in range(given.comparisons):
            found = one(a, b, given.rate, 1000 * (given.first + number))
            told = {
                "seed": given.first + number,
                "ratio": given.slower,
                "pairs": found.counts[0],
                "load_average": os.getloadavg()[0],
            }
            rows += [
                {**told, "metric": m.metric, "a": m.a, "b": m.b, "change": m.change, "low": m.low, "high": m.high,
                 "differs": m.differs, "equivalent": m.equivalent, "verdict": m.verdict, "more_runs": m.more_runs}
                for m in found.metrics
            ]  # fmt: skip
            name = f"live-{given.slower:g}.csv"
            pl.DataFrame(rows, infer_schema_length=None).write_csv(given.out / name, float_precision=6)
            print(number + 1, found.first_line(), flush=True)


if __name__ == "__main__":
    main()
