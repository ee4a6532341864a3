"""Two cores predicted from one by the model files, on simulated sites whose demands are drawn: how often the intervals hold.

    python benches/ntier/virtual.py --seeds 1001-1040 [--most-contention 0.05] [--out FOLDER]

A seed is a site of `bulletin-simulated` (cases/sojourn_cases/ntier/simulated_bulletin.py): the work of a page and of the client, the
threads and what a second core adds to all times (`contention`, uniform up to `--most-contention`) are drawn. Runs on one core, twice
each and in both mixes, are fitted by `hand-over.toml` and `constant.toml`, averaged; runs on two cores are predicted. Rows are added to
FOLDER/raw.csv after each seed, and seeds that are there are left out.
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sojourn as sj
import sojourn_cases.ntier
from sojourn.study.system import Point
from sojourn_cases.ntier.bulletin_board_simulated import SimulatedBulletin, SimulatedBulletinLoad
from sojourn_cases.ntier.simulated_bulletin import MIXES, SimulatedBulletinOptions

HERE, FILES = Path(__file__).resolve().parent, Path(sojourn_cases.ntier.__file__).parent
USERS = {1: (20, 40, 80, 160), 2: (40, 80, 160, 300)}
LEVEL, REPETITIONS, SECONDS = 0.9, 2, 8.0
COLUMNS = ("seed", "contention", "mix", "users", "metric", "measured", "value", "low", "high", "inside", "model_error")


def one_site(seed: int, most_contention: float, folder: Path) -> Iterator[dict[str, Any]]:
    """A row a run on two cores and metric."""
    draw = np.random.default_rng(seed)
    contention, work_s = most_contention * draw.random(), float(np.exp(draw.uniform(np.log(3e-4), np.log(4e-3))))
    options = SimulatedBulletinOptions(
        contention=contention, crossing=0.0, client_s=float(draw.uniform(3e-5, 2e-4)), workers=int(draw.integers(6, 24))
    )
    site = SimulatedBulletin(options, SimulatedBulletinLoad(**{"for": SECONDS, "users": 20, "think": 0.1}), folder)
    runs: dict[int, list[sj.RunFolder]] = {1: [], 2: []}
    with site.open() as session:
        points = [
            (c, n, mix, k) for c, users in USERS.items() for n in users for mix in MIXES for k in range(REPETITIONS)
        ]
        for number, (cores, users, mix, repetition) in enumerate(points):
            given = {"cores": cores, "users": users, "mix": mix, "strategy": "asynchronous", "page_work_s": work_s}
            point = Point(f"{cores}", site.settled(given, "bench"), repetition)
            runs[cores].append(session.run(point, folder / str(number), seed=1000 * seed + number))
    files = {name: sj.Model.read(FILES / f"{name}.toml") for name in ("hand-over", "constant")}
    best = sj.fit_rivals(sj.fit.observe_runs([run for run in runs[1] if run.manifest["valid"]]), files, seed=1).best
    known: dict[str, pl.DataFrame] = {}
    for run in (run for run in runs[2] if run.manifest["valid"]):
        factors = run.manifest["factors"]
        if repr(factors) not in known:
            known[repr(factors)] = best.predict(factors, LEVEL).frame.filter(station="").filter(pl.col("class") == "")
        told = known[repr(factors)]
        for metric in ("throughput", "response_time"):
            row, measured = told.filter(metric=metric).row(0, named=True), run.metrics().value(metric, cls="")
            inside = row["low"] <= measured and (row["high"] is None or measured <= row["high"])
            values = (
                seed,
                contention,
                factors["mix"],
                factors["users"],
                metric,
                measured,
                row["value"],
                row["low"],
                row["high"],
                int(inside),
            )
            yield dict(zip(COLUMNS, (*values, best.model_error), strict=True))


def summary(rows: pl.DataFrame) -> str:
    """Per metric: median error, runs inside, and sites of which nine in ten runs are inside."""
    lines = [
        "| metric | sites | runs | median error | inside at 90 % | median half-width |",
        "|---|---|---|---|---|---|",
    ]
    for (metric,), own in rows.group_by("metric", maintain_order=True):
        error, half = (
            (own["value"] / own["measured"] - 1).abs().median(),
            ((own["high"] - own["low"]) / 2 / own["value"]).median(),
        )
        lines.append(f"| {metric} | {own['seed'].n_unique()} | {own.height} | {error:.1%} | {own['inside'].sum()} "
                     f"({own['inside'].mean():.1%}) | {half:.1%} |")  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1001-1040")
    parser.add_argument("--most-contention", type=float, default=0.0)
    parser.add_argument("--out", type=Path, default=HERE / time.strftime("%Y-%m-%d"))
    given = parser.parse_args()
    first, last = map(int, given.seeds.split("-"))
    given.out.mkdir(parents=True, exist_ok=True)
    raw = given.out / "raw.csv"
    there = set(pl.read_csv(raw)["seed"]) if raw.exists() else set()
    with open(raw, "a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not there:
            writer.writeheader()
        for seed in sorted(set(range(first, last + 1)) - there):
            with tempfile.TemporaryDirectory() as folder:
                writer.writerows(one_site(seed, given.most_contention, Path(folder)))
            file.flush()
            print(seed, os.times().user, flush=True)
    (given.out / "summary.md").write_text(text := summary(pl.read_csv(raw)))
    print(text)


if __name__ == "__main__":
    main()
