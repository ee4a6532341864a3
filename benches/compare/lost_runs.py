"""`sojourn compare` where runs get lost, more of one side than of the other: how often it claims a difference that is not there.

    python benches/compare/lost_runs.py --first SEED --comparisons 200 --out FOLDER

Each comparison draws a service (`run.py`) and makes 5 or 10 blocks of both sides. Its machine is of one of three kinds: `log-normal`
(each run takes longer by a factor of its own, spread 5 %), `two modes` (a run takes 1.3 times as long with a chance of one half, as where
memory or cores fall one way or another) and `rare` (one run of ten takes twice as long). Each run is then declared invalid with a chance
that is drawn, for each side, between 0 and 60 %. `alike`: slow runs are lost as often as others; `slow`: twice as often. What is left is
given to the product (`sojourn.compare.compare_values`, level 0.9, margin 5 %). `lost-SEED.csv`: a row a comparison, true ratio and number
of blocks; `interval`: whether the interval does not hold 0, which was the claim before few runs were refused. Nothing is measured: others
may use the machine.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent))
from run import Service, outside

from sojourn.compare import RunValues, compare_values
from sojourn.errors import LoadError

KINDS, LOST = ("log-normal", "two modes", "rare"), ("alike", "slow")
BLOCKS, RATIOS = (5, 10), (1.0, 1.1, 1.3)
MOST_LOST = 0.6
LATE = ("the generator was late",)


def slower(kind: str, random: np.random.Generator) -> float:
    """By what factor everything takes longer in a run."""
    if kind == "log-normal":
        return float(np.exp(0.05 * random.standard_normal()))
    if kind == "two modes":
        return 1.3 if random.random() < 0.5 else 1.0
    return 2.0 if random.random() < 0.1 else 1.0


def runs(service: Service, seed: int, kind: str, which: str, side: int, ratio: float) -> list[RunValues]:
    """Of a side, those that are lost with a reason."""
    random = np.random.default_rng([seed, 31, KINDS.index(kind), side])
    chance = MOST_LOST * random.random()
    found = []
    for k in range(max(BLOCKS)):
        factor = slower(kind, random)
        times = service.times(np.random.default_rng([seed, 11, k]), np.random.default_rng([seed, 13, side, k]))
        lost = random.random() < min(chance * (2 if which == "slow" and factor > 1.05 else 1), 1)
        values = {"mean": ratio * factor * float(times.mean())}
        found.append(RunValues(str(k), values, {}, f"block-{k:02d}", LATE if lost else ()))
    return found


def comparison(seed: int) -> list[dict[str, Any]]:
    service = Service(seed)
    rows = []
    for kind, which, ratio in itertools.product(KINDS, LOST, RATIOS):
        a, b = (runs(service, seed, kind, which, side, (1.0, ratio)[side]) for side in (0, 1))
        for blocks in BLOCKS:
            told = {"seed": seed, "machine": kind, "lost": which, "ratio": ratio, "blocks": blocks}
            try:
                found = compare_values(a[:blocks], b[:blocks])
            except LoadError:  # all of a side are lost
                rows.append({**told, "left": 0, "paired": True, "verdict": "no runs", "interval": False})
                continue
            one = found["mean"]
            paired = "pairs" in found.run_order
            rows.append(
                {
                    **told,
                    "left": min(found.run_counts),
                    "paired": paired,
                    "verdict": found.verdict,
                    "interval": outside(one),
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows = [row for seed in range(given.first, given.first + given.comparisons) for row in comparison(seed)]
    table = pl.DataFrame(rows, infer_schema_length=None)
    table.write_csv(given.out / f"lost-{given.first}.csv")
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=160, float_precision=3):
        print(shares(table, "ratio", "machine", "lost", "blocks"))
        print(
            shares(table.filter(ratio=1.0).with_columns(pl.col("left").clip(upper_bound=5)), "machine", "lost", "left")
        )


def shares(table: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Of verdicts, by these columns."""
    verdicts = ("better", "worse", "equivalent", "cannot tell", "no runs")
    each = [(pl.col("verdict") == name).mean().alias(name) for name in verdicts]
    return table.group_by(*by).agg(pl.len(), *each, pl.col("interval").mean()).sort(*by)


if __name__ == "__main__":
    main()
