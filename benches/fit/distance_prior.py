"""The scale of what is believed of a model's error at another number of workers, by small services that were measured twice as large.

    python benches/fit/distance_prior.py

b of a service: the logarithm of predicted by measured saturation rate with twice the workers, less that with the workers that were
fitted, by the unit of distance (docs/decisions/0036). Of benches/services/*/raw.csv, the model of the file, where the runs of both were
valid. b is N(0, v + s²), v the error of the two measured rates, s of the prior s0/(s0 + s)²; a service counts once, however often it was
measured. Prints each b, the s0 of the greatest likelihood, and those that are less likely by half a unit of its logarithm.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import norm

from sojourn.fit.factor_distance import DOUBLED

Array = NDArray[np.float64]
FOLDERS = Path(__file__).resolve().parents[1] / "services"
MEASURED = 0.01  # relative, what the ratio of two measured rates is uncertain by


def slopes() -> list[tuple[str, float]]:
    """Service and b, one for each time that it was measured."""
    found = []
    for path in sorted(FOLDERS.glob("*/raw.csv")):
        rows = pl.read_csv(path).filter(pl.col("valid"), model="hand", metric="saturation_rate")
        for (service,), own in rows.group_by("service", maintain_order=True):
            off = {size(row["asked"]): np.log(row["predicted"] / row["measured"]) for row in own.iter_rows(named=True)}
            if len(off) == 2:
                found.append((str(service).split()[0], float(off[max(off)] - off[min(off)]) / DOUBLED))
    return found


def size(asked: str) -> int:
    """`workers 4, saturation`: 4; 0 where there is none."""
    given = re.match(r"\w+ (\d+),", asked)
    return int(given[1]) if given else 0


def likelihood(each: list[tuple[str, float]], scale: float) -> float:
    """Its logarithm."""
    s = np.geomspace(1e-4, 1.0, 400)
    prior = s / (1 + s / scale) ** 2  # on a grid of logarithms
    names = [name for name, _ in each]
    wide = np.hypot(s, MEASURED / DOUBLED)
    one = [float(np.log(norm.pdf(b, 0, wide) @ prior / prior.sum())) / names.count(name) for name, b in each]
    return sum(one)


def main() -> None:
    each = slopes()
    for name, b in each:
        print(f"{name:12s} {b:+.3f}")
    scales = np.geomspace(0.005, 0.3, 100)
    told = np.array([likelihood(each, float(scale)) for scale in scales])
    near = scales[told > told.max() - 0.5]
    print(
        f"{len({name for name, _ in each})} services: s0 {scales[told.argmax()]:.3f} ({near.min():.3f} to {near.max():.3f})"
    )


if __name__ == "__main__":
    main()
