"""The detector on the bulletin board with PostgreSQL on a slow disk: `python benches/oscillation/live_board.py`, as root, 6 minutes.

The cases 3 times each in turn; then a point that is `hidden` is searched over rate and pause, one run each, and the one found is run
3 times more. Writes DATE/board.md, board.csv (a row a run) and the busy shares as board/*.csv beside this file.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from board import SCALE, SESSIONS, THINK_S, USERS, Case, Outcome, loaded_board, run

from sojourn.lab.cleanup_registry import only_one

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from record import new_folder  # noqa: E402

REPETITIONS = 3
CASES = (
    (Case("20 MB/s, CHECKPOINT, 0.5 s pause", 20e6, 0.5), "oscillating, r <= -0.5"),
    (Case("no limit", None, None), "none"),
    (Case("8 MB/s", 8e6, None), "none"),
)
SEARCHED = tuple(
    Case(f"{bps / 1e6:g} MB/s, CHECKPOINT, {pause_s:g} s pause", bps, pause_s)
    for bps, pause_s in ((20e6, 0.2), (15e6, 0.3), (15e6, 0.2), (10e6, 0.3), (10e6, 0.2))
)
Row = dict[str, Any]


def rows(out: Path) -> Iterator[Row]:
    """A row for each run: the cases, the search, and what it found once more."""
    with tempfile.TemporaryDirectory() as scratch, loaded_board() as (disk, loaded):

        def row(part: str, case: Case, wanted: str, number: int) -> Row:
            outcome = run(case, disk, loaded, Path(scratch, f"{part}-{number}"), number)
            write_shares(out / f"{part}-{number}.csv", outcome)
            told = {"part": part, "case": case.name, "wanted": wanted, "repetition": number, **outcome.row}
            print(told, flush=True)
            return told

        for repetition in range(1, REPETITIONS + 1):
            for number, (case, wanted) in enumerate(CASES):
                yield row(f"case{number + 1}", case, wanted, repetition)
        tried = []
        for number, case in enumerate(SEARCHED, 1):
            tried.append(row("search", case, "", number))
            yield tried[-1]
        best = SEARCHED[min(range(len(tried)), key=lambda k: _distance(tried[k]))]
        for repetition in range(1, REPETITIONS + 1):
            yield row("found", best, "hidden", repetition)


def _distance(row: Row) -> tuple[bool, float]:
    """How far a run is from being hidden: those that oscillate first, then the full means over a second, then the clearest."""
    return row["verdict"] not in ("hidden", "visible"), row["means_full"] + 1e-3 * row["r"]


def write_shares(path: Path, outcome: Outcome) -> None:
    step_s = outcome.found.judged_interval_s
    lines = "".join(f"{k * step_s:.2f},{a:.4f},{b:.4f}\n" for k, (a, b) in enumerate(outcome.found.series.T))
    path.write_text("t_s,cpu,disk\n" + lines)


def right(row: Row) -> bool | None:
    """Whether the verdict is the wanted one; None where none is wanted."""
    if not row["wanted"]:
        return None
    if row["wanted"].startswith("oscillating"):
        return row["verdict"] in ("hidden", "visible") and row["r"] <= -0.5
    return bool(row["verdict"] == row["wanted"])


HEADS = (
    "case", "wanted", "verdict", "r", "p", "CPU, disk, either full", "means over 1 s full", "mean of CPU, disk", "X /s",
    "p99 ms", "written MB/s", "checkpoint s", "valid",
)  # fmt: skip


def summary(told: list[Row]) -> Iterator[str]:
    yield "# The detector on a bulletin board with PostgreSQL on a slow disk\n"
    yield (
        f"`python benches/oscillation/live_board.py`: {USERS} users of the mix readwrite, think time {THINK_S:g} s, "
        f"{SESSIONS} sessions, scale {SCALE:g}, no page work, both cores for all, synchronous_commit on, checkpoint_flush_after 0; "
        "15 s, samples of 0.1 s, each run on a fresh copy of the data.\n"
    )
    yield f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}"
    for row in sorted(told, key=lambda one: str(one["part"])):
        yield f"| {' | '.join(_cells(row))} |"
    yield ""
    for part in sorted({str(row["part"]) for row in told if row["wanted"]}):
        own = [row for row in told if row["part"] == part]
        yield f"{own[0]['case']}: {own[0]['wanted']} in {sum(map(bool, map(right, own)))} of {len(own)}."


def _cells(row: Row) -> list[str]:
    means = f"{row['cpu_mean']:.2f}, {row['disk_mean']:.2f}"
    full = f"{row['cpu_full']:.2f}, {row['disk_full']:.2f}, {row['either_full']:.2f}"
    return [
        f"search: {row['case']}" if row["part"] == "search" else row["case"], row["wanted"], row["verdict"], f"{row['r']:.2f}",
        f"{row['p']:.2g}", full, f"{row['means_full']:.2f}", means, f"{row['throughput_per_s']:.0f}", f"{1e3 * row['p99_s']:.0f}",
        f"{row['written_MB_per_s']:.1f}", f"{row['checkpoint_s']:.2f}", "yes" if row["valid"] else row["reasons"],
    ]  # fmt: skip


def main() -> None:
    out = new_folder(HERE.parent, HERE.name, {})
    (out / "board").mkdir(exist_ok=True)
    with only_one("bench"):
        told = list(rows(out / "board"))
    with open(out / "board.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(told[0]))
        writer.writeheader()
        writer.writerows(told)
    text = "\n".join(summary(told)) + "\n"
    (out / "board.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
