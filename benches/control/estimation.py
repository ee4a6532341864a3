"""How soon a changed demand is noticed, how right it is after, and how often for nothing: both on-line estimates, on simulated windows.

    python benches/control/estimation.py [--first 700000] [--seeds 200]

Writes DATE-estimation/summary.md. The queue, the processor and their windows are those of tests/unit/control/test_control_estimation.py
(20 workers of 50 ms at 200 /s, windows of 2 s) and tests/unit/shared_processor.py (two classes, one mean mix, windows of 60 s).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/unit"))

import shared_processor as processor  # noqa: E402
from test_control_estimation import two, windows  # noqa: E402

from sojourn.control import DemandEstimate, DemandFilter, WindowMeasurement, filtered, updated  # noqa: E402

QUIET, AFTER = 40, 15
Seen = Sequence[tuple[int, float]]  # of each window: alarms so far, the largest relative error of a demand


def pool(seed: int, count: int, factor: float = 1.0) -> Seen:
    """Recursive least squares on the utilisation law."""
    now, found = DemandEstimate.start([0.05]), []
    for k, (throughput, busy) in enumerate(windows(seed, count, factor, QUIET)):
        now = updated(now, [throughput], busy, 2)
        truth = 0.05 * (factor if k >= QUIET else 1)
        found.append((now.alarms, abs(float(now.demands_s[0]) / truth - 1)))
    return found


def shared(seed: int, count: int, factor: float = 1.0) -> Seen:
    """The extended Kalman filter, on utilisation and both response times; the solver is the closed form."""
    now, found = DemandFilter.start(processor.DEMANDS_S.tolist(), 3), []
    for k, (rows, rates) in enumerate(processor.windows(seed, count, factor, QUIET)):
        now = filtered(
            now, lambda demands, rates=rates: processor.closed_form(rates, demands), WindowMeasurement.of_batches(rows)
        )
        truth = processor.DEMANDS_S * (factor if k >= QUIET else 1)
        found.append((now.alarms, float(np.abs(now.demands_s / truth - 1).max())))
    return found


def row(name: str, changed: Sequence[Seen], quiet: Sequence[Seen]) -> str:
    """Of all seeds."""
    lag = [next((k - QUIET + 1 for k, one in enumerate(seen) if one[0]), len(seen)) for seen in changed]
    error = [seen[-1][1] for seen in changed]
    alarms = np.bincount([seen[-1][0] for seen in quiet], minlength=2)
    return (
        f"| {name} | {np.mean([1 <= x <= 5 for x in lag]):.1%} (last: {max(lag)}) | {np.mean([x <= 0.1 for x in error]):.1%} (worst: "
        f"{max(error):.1%}) | {alarms[0]} without, {alarms[1]} with one, {alarms[2:].sum()} with more |"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--first", type=int, default=700_000)
    options.add_argument("--seeds", type=int, default=200)
    asked = options.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    lines = [
        f"# On-line estimates, {asked.seeds} seeds from {asked.first}\n",
        "Wanted: a demand 1.5 times as large noticed within 5 windows, right within 10 % after 15; at most one false alarm in 500 quiet "
        "windows.\n",
        "| estimate | noticed within 5 windows | right within 10 % after 15 | runs of 500 quiet windows |\n|---|---|---|---|",
    ]
    for name, run in (("least squares, one class", pool), ("Kalman filter, two classes of one mean mix", shared)):
        for factor in (1.5, 1 / 1.5):
            changed = [run(seed, QUIET + AFTER, factor) for seed in seeds]
            lines.append(
                row(f"{name}, × {factor:.2f}", changed, [run(seed, 500) for seed in seeds] if factor > 1 else [])
            )
    lines.append(
        "\nTwo classes by least squares, 60 windows:\n\n| mix | told | of these right within 10 % |\n|---|---|---|"
    )
    for mix, shares in (("20 % and 80 % in turn", [0.2, 0.8] * 30), ("50 %", [0.5] * 60), ("30 %", [0.3] * 60)):
        found = [two(shares, seed) for seed in seeds]
        errors = [np.abs(x.demands_s / [0.02, 0.08] - 1).max() for x in found if x.status() == "fresh"]
        right = f"{np.mean(np.array(errors) <= 0.1):.1%}" if errors else "-"
        lines.append(f"| {mix} | {len(errors)} of {len(found)} | {right} |")
    folder = HERE / f"{time.strftime('%Y-%m-%d')}-estimation"
    folder.mkdir(exist_ok=True)
    (folder / "summary.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
