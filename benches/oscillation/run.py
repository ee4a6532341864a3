"""How often the oscillation detector is right where the truth is known: `python benches/oscillation/run.py [--seeds 200] [--first 0]`.

Writes DATE/{summary.md,raw.csv,machine.json} beside this file. The pairs: known_pairs.py, at three lengths, with samples of 0.1 s and, over
60 s, at the ends of the intervals that are judged as they are (55 and 110 ms). The size of the test: independent AR(1) series.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from known_pairs import CASES, Draw, pair

import sojourn as sj
from sojourn.stats.circular_shift import correlations, high_passed, shift_test

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from record import new_folder  # noqa: E402

LENGTHS = ((30.0, 0.1), (60.0, 0.1), (180.0, 0.1), (60.0, 0.055), (60.0, 0.11))
NOMINAL, SIZE_PAIRS, SHUFFLES, COEFFICIENT = 0.05, 400, 199, 0.9
MOST_SIZE = 0.07
VERDICTS = ("none", "hidden", "visible", "too_short")


def judged(task: tuple[int, float, float, int, int]) -> dict[str, Any]:
    """A row: one kind of pair at one length, over all seeds."""
    number, length_s, interval_s, first, seeds = task
    case = CASES[number]
    found = [
        sj.oscillation(*pair(case, seed, length_s, interval_s), interval_s) for seed in range(first, first + seeds)
    ]
    count = Counter(one.verdict for one in found)
    return {
        "kind": case.name, "length_s": length_s, "interval_s": interval_s, "truth": case.truth, "least": case.least,
        "right": count[case.truth] / seeds, **{name: count[name] for name in VERDICTS},
        "median_r": float(np.median([one.correlation for one in found])),
    }  # fmt: skip


def size(first: int) -> tuple[float, float, float]:
    """Share of independent pairs that are related at `NOMINAL`: by circular shifts, by shuffling the samples, and by shuffling them
    without the high-pass."""
    below, shuffled = 0, [0, 0]
    for seed in range(first, first + SIZE_PAIRS):
        rng = np.random.default_rng([seed, 1])
        draw = Draw(rng, 600, 0.1, 0.0)
        one, other = (draw.ar1(0.5, 0.2, COEFFICIENT) for _ in range(2))
        found = shift_test(one, other, 0.1)
        assert found.p_value is not None
        below += found.p_value <= NOMINAL
        high = high_passed(one, 0.1), high_passed(other, 0.1)
        for k, (first_one, second) in enumerate((high, (one, other))):
            r = correlations(first_one, second)[0]
            chance = np.array([correlations(first_one, rng.permutation(second))[0] for _ in range(SHUFFLES)])
            shuffled[k] += (1 + (chance <= r).sum()) / (1 + SHUFFLES) <= NOMINAL
    return below / SIZE_PAIRS, shuffled[0] / SIZE_PAIRS, shuffled[1] / SIZE_PAIRS


def summary(rows: list[dict[str, Any]], sizes: tuple[float, float, float], command: str, seeds: int) -> str:
    return "\n".join(_lines(rows, sizes, command, seeds)) + "\n"


def _lines(rows: list[dict[str, Any]], sizes: tuple[float, float, float], command: str, seeds: int) -> Iterator[str]:
    heads = [f"{length:g} s" + ("" if step == 0.1 else f", every {1000 * step:g} ms") for length, step in LENGTHS]
    yield f"# Oscillation detector, {seeds} seeds a cell\n\n`{command}`\n\nShare of right verdicts.\n"
    yield f"| kind | truth | at least | {' | '.join(heads)} |\n|---|---|---|{'---|' * len(heads)}"
    for case in CASES:
        own = [row for row in rows if row["kind"] == case.name]
        cells = [f"{row['right']:.1%}" + ("" if row["right"] >= case.least else " (missed)") for row in own]
        yield f"| {case.name} | {case.truth} | {case.least:.0%} | {' | '.join(cells)} |"
    yield ""
    missed = [row for row in rows if row["right"] < row["least"]]
    yield f"{len(rows) - len(missed)} of {len(rows)} cells are at their bound or above."
    for row in missed:
        told = ", ".join(f"{row[name]} {name}" for name in VERDICTS if row[name])
        yield f"Missed: {row['kind']}, {row['length_s']:g} s every {row['interval_s']:g} s: {told}."
    by_shift, shuffled, plain = sizes
    yield (
        f"\nSize at nominal {NOMINAL:.0%}, independent AR(1) series with coefficient {COEFFICIENT:g}, 60 s, {SIZE_PAIRS} pairs: "
        f"circular shifts {by_shift:.1%} (at most {MOST_SIZE:.0%} wanted), shuffled samples {shuffled:.1%}, "
        f"without the high-pass {plain:.1%}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    tasks = [(number, *length, given.first, given.seeds) for number in range(len(CASES)) for length in LENGTHS]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        rows = list(pool.map(judged, tasks))
    folder = new_folder(HERE.parent, HERE.name, {})
    with open(folder / "raw.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    command = f"python benches/oscillation/run.py --seeds {given.seeds} --first {given.first}"
    text = summary(rows, size(given.first), command, given.seeds)
    (folder / "summary.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
