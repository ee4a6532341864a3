"""`sojourn compare` on simulated runs of known truth: how often it claims what is not so, and how often it tells what is.

    python benches/compare/run.py --first SEED --comparisons 200 --out FOLDER

Each comparison draws a service (1 to 4 workers in order of arrival, exponential or constant times, 30 to 80 % busy) and makes 20 runs of
1200 requests of each side by a recursion in numpy; in each run everything takes longer by a factor of its own (log-normal, 0 to 5 %, drawn
per service), as on a machine that changes. B's response times are those of such a run times the true ratio. `blocks`: both runs of a
block have the same arrivals; `apart`: nothing in common. The verdicts are the product's (`sojourn.compare.compare_values`, level 0.9,
margin 5 %) on the first 3, 5, 10 and 20 runs. `raw-SEED.parquet`: a row a comparison, design, ratio, metric and number of
runs (`interval`: that does not hold 0);
`summary-SEED.csv`: shares. `needed-SEED.csv`: of comparisons without a difference that cannot tell at 5 runs, what as many fresh runs
tell as were said to be needed (400 at most). Nothing is measured: others may use the machine.
"""

from __future__ import annotations

import argparse
import heapq
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn.compare import MetricComparison, RunValues, compare_values

RUNS, COUNTS, RATIOS = 20, (3, 5, 10, 20), (1.0, 1.05, 1.1)
REQUESTS, WARM_UP = 1200, 200
MARGIN = 0.05
MOST_NEEDED = 400


class Service:
    """A drawn one; `times` are those of a run."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng([seed, 2901])
        self.workers = int(random.choice([1, 2, 4]))
        self.law = str(random.choice(["constant", "exponential"]))
        self.busy = float(random.uniform(0.3, 0.8))
        self.spread = float(random.uniform(0.0, 0.05))

    def times(self, arrivals: np.random.Generator, own: np.random.Generator) -> np.ndarray:
        """Response times of a run in mean service times, after the warm-up."""
        count = REQUESTS + WARM_UP
        at = np.cumsum(arrivals.exponential(1 / (self.busy * self.workers), count))
        service = own.exponential(1.0, count) if self.law == "exponential" else np.ones(count)
        free = [0.0] * self.workers
        found = np.empty(count)
        for k, (came, takes) in enumerate(zip(at.tolist(), service.tolist(), strict=True)):
            begun = max(came, heapq.heappop(free))
            heapq.heappush(free, begun + takes)
            found[k] = begun + takes - came
        return found[WARM_UP:] * np.exp(self.spread * own.standard_normal())


def side(service: Service, seed: int, which: int, count: int, blocks: bool) -> list[dict[str, float]]:
    """Figures of the runs of a side."""
    found = []
    for k in range(count):
        arrivals = np.random.default_rng([seed, 11, k] if blocks else [seed, 12, which, k])
        times = service.times(arrivals, np.random.default_rng([seed, 13, which, k]))
        found.append({"mean": float(times.mean()), "p99": float(np.quantile(times, 0.99))})
    return found


def values(figures: list[dict[str, float]], blocks: bool, ratio: float = 1.0) -> list[RunValues]:
    return [
        RunValues(str(k), {name: ratio * value for name, value in one.items()}, {}, f"block-{k}" if blocks else "")
        for k, one in enumerate(figures)
    ]


def comparison(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of one service, and what the runs that were needed tell."""
    service = Service(seed)
    rows, needed = [], []
    for blocks in (True, False):
        design = "blocks" if blocks else "apart"
        a, b = (side(service, seed, which, RUNS, blocks) for which in (0, 1))
        for ratio in RATIOS:
            for count in COUNTS:
                found = compare_values(
                    values(a[:count], blocks), values(b[:count], blocks, ratio), equivalence_margin=MARGIN
                )
                for name in ("mean", "p99"):
                    one = found[name]
                    rows.append({
                        "seed": seed, "design": design, "ratio": ratio, "metric": name, "runs": count, "differs": one.differs,
                        "wrong_way": one.differs and one.change < 0, "interval": outside(one),
                        "equivalent": one.equivalent, "verdict": one.verdict,
                        "half_width": None if one.low is None or one.high is None else (one.high - one.low) / 2,
                    })  # fmt: skip
        needed += again(
            service,
            seed,
            blocks,
            compare_values(values(a[:5], blocks), values(b[:5], blocks))["mean"].further_runs_needed,
        )
    return rows, needed


def outside(one: MetricComparison) -> bool:
    """Whether the interval does not hold 0, which of few runs, or where exchanges do not agree, is no claim."""
    return one.low is not None and one.high is not None and not one.low <= 0 <= one.high


def again(service: Service, seed: int, blocks: bool, more: int | None) -> list[dict[str, Any]]:
    """Fresh runs without a difference, as many as were said to be needed."""
    if not more or 5 + more > MOST_NEEDED:
        return []
    a, b = (side(service, seed + 1_000_000, which, 5 + more, blocks) for which in (0, 1))
    found = compare_values(values(a, blocks), values(b, blocks), equivalence_margin=MARGIN)["mean"]
    return [
        {
            "seed": seed,
            "design": "blocks" if blocks else "apart",
            "runs": 5 + more,
            "told": found.verdict == "equivalent",
        }
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    needed: list[dict[str, Any]] = []
    for seed in range(given.first, given.first + given.comparisons):
        more = comparison(seed)
        rows += more[0]
        needed += more[1]
    table = pl.DataFrame(rows, infer_schema_length=None)
    table.write_parquet(given.out / f"raw-{given.first}.parquet")
    shares = [pl.col(name).mean() for name in ("differs", "interval", "wrong_way", "equivalent")]
    summary = table.group_by("design", "ratio", "metric", "runs").agg(pl.len(), *shares, pl.col("half_width").median())
    summary = summary.sort("design", "metric", "ratio", "runs")
    summary.write_csv(given.out / f"summary-{given.first}.csv", float_precision=4)
    with pl.Config(tbl_rows=-1):
        print(summary)
    fresh = pl.DataFrame(needed, schema={"seed": pl.Int64, "design": pl.String, "runs": pl.Int64, "told": pl.Boolean})
    fresh.write_csv(given.out / f"needed-{given.first}.csv")
    print(fresh.group_by("design").agg(pl.len(), pl.col("told").mean(), pl.col("runs").median()))


if __name__ == "__main__":
    main()
