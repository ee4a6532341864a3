"""`sojourn compare --service-urls` on loopback: a service beside itself, and beside one that takes a tenth longer, in turn.

    python benches/compare/live.py --out FOLDER [--within 330] [--slower 1.1] [--rate 100] [--blocks 6]

Three processes of tests/live/services/queueing.py (two workers that wait 6 ms on average, exponential), A, A again, and B, which takes
--slower times as long. A beside itself and A beside B are compared in turn until --within seconds are over (a comparison is begun
where there is time left for one as long as the longest so far): blocks of two runs of 2 s, level 0.9, margin 5 %, each with a seed of
its own. `live.csv`: a row a comparison and metric. Ends with what was claimed: the level (of A beside itself) and the power. It measures:
what else runs on the machine belongs into the record. Waits where another measurement runs.
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
MEAN_MS, RUN_S = 6.0, 2.0
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


def one(a: str, b: str, rate_per_s: float, blocks: int, seed: int) -> Comparison:
    with tempfile.TemporaryDirectory() as place:
        while True:
            try:
                limits = InterleavedLimits(blocks, 600.0, seed)
                return compare_urls(a, b, rate_per_s=rate_per_s, run_s=RUN_S, out=Path(place, "out"), limits=limits)
            except Busy:
                time.sleep(WAIT_S)


def summary(rows: list[dict[str, Any]]) -> Iterator[str]:
    """By ratio and metric: how many claimed a difference, how many that there is none, and the median half-width."""
    for ratio in sorted({row["ratio"] for row in rows}):
        own = [row for row in rows if row["ratio"] == ratio]
        yield f"{ratio:g} times as long, {len({row['seed'] for row in own})} comparisons"
        for metric in dict.fromkeys(row["metric"] for row in own):
            each = [row for row in own if row["metric"] == metric]
            widths = sorted(
                (row["high"] - row["low"]) / 2 for row in each if row["low"] is not None and row["high"] is not None
            )
            width = f", half-width {widths[len(widths) // 2]:.1%}" if widths else ""
            differs, same = (sum(bool(row[name]) for row in each) for name in ("differs", "equivalent"))
            yield f"  {metric}: a difference in {differs} of {len(each)}, equivalent in {same}{width}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--within", type=float, default=330.0)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--slower", type=float, default=1.1)
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    began, longest, number = time.monotonic(), 0.0, given.first
    with service(MEAN_MS) as a, service(MEAN_MS) as again, service(MEAN_MS * given.slower) as b:
        while (since := time.monotonic()) - began + longest <= given.within:
            ratio, other = ((1.0, again), (given.slower, b))[(number - given.first) % 2]
            found = one(a, other, given.rate, given.blocks, 1000 * number)
            told = {"seed": number, "ratio": ratio, "pairs": found.run_counts[0], "load_average": os.getloadavg()[0]}
            rows += [
                {**told, "metric": m.metric, "a": m.a, "b": m.b, "change": m.change, "low": m.low, "high": m.high,
                 "differs": m.differs, "equivalent": m.equivalent, "verdict": m.verdict, "more_runs": m.further_runs_needed}
                for m in found.metrics
            ]  # fmt: skip
            pl.DataFrame(rows, infer_schema_length=None).write_csv(given.out / "live.csv", float_precision=6)
            print(number, f"{ratio:g}", found.first_line(), flush=True)
            number, longest = number + 1, max(longest, time.monotonic() - since)
    print("\n".join(summary(rows)))


if __name__ == "__main__":
    main()
