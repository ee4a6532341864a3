"""Are our errors on LibReDE's sets larger than those of the best recorded estimate, or is that the windows?

    python benches/external/librede.py FOLDER --out predictions.csv
    python benches/external/differences.py predictions.csv

By set: the median error of ours and of the best recorded estimate (through the same model); that of a forecast that knows the held-out
windows, which is the median of each class there; the 90 % interval of the difference of ours and the best one over 2 000 bootstraps of
the windows (B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap (1993), 13.3); and in how many of them ours is below all.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from librede import BARE, OPEN, OURS  # type: ignore[import-not-found]

DRAWS = 2000


def main(file: str) -> None:
    table = pl.read_csv(file, infer_schema_length=None).drop_nulls("measured_s").sort("set", "who", "start_s", "class")
    print("| set | ours | best recorded | median of the held-out windows | ours less best, 90 % | ours below all |")
    print("|---|---|---|---|---|---|")
    for (name,), own in table.group_by("set", maintain_order=True):
        error = pl.col("predicted_s") / pl.col("measured_s") - 1
        off = {str(who): rows.select(error.abs()).to_series().to_numpy() for (who,), rows in own.group_by("who")}
        recorded = {who: e for who, e in off.items() if who not in (OURS, OPEN) and not who.endswith(BARE)}
        best = min(recorded, key=lambda who: float(np.median(recorded[who])))
        ours = own.filter(pl.col("who") == OURS)
        known = ours.select(
            (pl.col("measured_s").median().over("class") / pl.col("measured_s") - 1).abs().median()
        ).item()
        start = ours["start_s"].to_numpy()
        of_window = [np.flatnonzero(start == at) for at in np.unique(start)]
        random, less, below = np.random.default_rng(1), [], 0
        for _ in range(DRAWS):
            pick = np.concatenate([of_window[i] for i in random.integers(0, len(of_window), len(of_window))])
            mine = float(np.median(off[OURS][pick]))
            less.append(mine - float(np.median(recorded[best][pick])))
            below += all(mine <= np.median(e[pick]) for e in recorded.values())
        low, high = np.quantile(less, [0.05, 0.95])
        print(f"| {name} | {np.median(off[OURS]):.1%} | {best} {np.median(recorded[best]):.1%} | {known:.1%} | "
              f"{100 * low:+.1f} to {100 * high:+.1f} | {below / DRAWS:.0%} |")  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])
