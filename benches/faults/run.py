"""Every verb × every fault × seeds, each cell in a world of its own.

    python benches/faults/run.py [--seeds 1..20] [--jobs 2] [--verbs load,study] [--faults kill,disk] [--out FOLDER]

Results go to benches/faults/DATE (or --out): raw.csv with a row a cell, machine.json, README.md with counts, misses first. A cell that
raw.csv has is not run again, so that the same command goes on where it was ended. Needs root. Fails (1) where a cell has a problem.
"""

from __future__ import annotations

import argparse
import csv
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cell import FAULTS, cell
from fixtures import make
from summary import summary
from verbs import verbs
from world import IN, entered, furnish

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from record import describe  # noqa: E402

COLUMNS = ("verb", "fault", "seed", "at_s", "hit", "code", "took_s", "acknowledged", "problems", "said")


def main() -> int:
    options = arguments()
    if IN in os.environ:
        return work(options)
    if os.geteuid():
        sys.exit("benches/faults: needs root, for namespaces")
    out = options.out or HERE / time.strftime("%Y-%m-%d")
    if Path("/tmp") in out.absolute().parents:
        sys.exit(f"--out: {out}; each job has a /tmp of its own: give a folder elsewhere")
    describe(out, {})
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    raw = out / "raw.csv"
    if not raw.exists():
        raw.write_text(",".join(COLUMNS) + "\n")
    with tempfile.TemporaryDirectory(prefix="sojourn-faults-", dir="/var/tmp") as fixtures:
        make(Path(fixtures))
        words = [str(Path(__file__)), *sys.argv[1:], "--out", str(out.absolute()), "--fixtures", fixtures]
        jobs = [
            subprocess.Popen(entered([*words, "--job", str(job)]), env={**os.environ, IN: "1"})
            for job in range(options.jobs)
        ]
        try:
            ended = [job.wait() for job in jobs]
        except BaseException:
            for job in jobs:
                job.kill()
            raise
    with open(raw, newline="") as file:
        rows = list(csv.DictReader(file))
    text = summary(rows)
    (out / "README.md").write_text(text)
    print(text)
    return 1 if any(ended) or any(row["problems"] for row in rows) else 0


def work(options: argparse.Namespace) -> int:
    """One job's share of the cells, in its own world."""
    furnish()
    known = verbs(options.fixtures)
    names = options.verbs.split(",") if options.verbs else list(known)
    first, _, last = options.seeds.partition("..")
    raw = options.out / "raw.csv"
    with open(raw, newline="") as file:
        done = {(row["verb"], row["fault"], int(row["seed"])) for row in csv.DictReader(file)}
    cells = [
        (name, fault, seed)
        for seed in range(int(first), int(last or first) + 1)
        for name in names
        for fault in (options.faults.split(",") if options.faults else FAULTS)
    ]
    base_s: dict[str, float] = {}
    for number, (name, fault, seed) in enumerate(cells):
        if number % options.jobs != options.job or (name, fault, seed) in done:
            continue
        if name not in base_s:
            row = cell(verbs(options.fixtures)[name], "none", seed, 0.0)
            base_s[name] = float(row["took_s"])
            if row["problems"] and (name, "none", seed) not in done:
                append(raw, row)
        append(raw, cell(verbs(options.fixtures)[name], fault, seed, base_s[name]))
    return 0


def append(raw: Path, row: dict[str, object]) -> None:
    with open(raw, "a", newline="") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        csv.DictWriter(file, COLUMNS).writerow(row)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1..20")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbs")
    parser.add_argument("--faults")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--fixtures", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--job", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
