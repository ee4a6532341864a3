"""How often the storage analysis finds what is true, and what it flags: `python benches/storage-virtual/run.py [SEEDS]` → CSV on stdout.

2^5 x 3 runs and 18 backgrounds of `sojourn_cases.storage.simulated_storage`, anew for each seed; one line a
quantity: how many of the seeds' 95 %
intervals hold the truth, or how many studies with a fault (or none) are flagged with what. See README.md beside this file.
"""

from __future__ import annotations

import sys
from collections import Counter

import polars as pl

from sojourn_cases.storage.costs.cost_per_io import background_of, cost_per_io, cost_ratio
from sojourn_cases.storage.costs.effects import storage_effects
from sojourn_cases.storage.costs.run_faults import run_faults
from sojourn_cases.storage.costs.storage_run_list import storage_design
from sojourn_cases.storage.simulated_storage import FAULTS, SimulatedStorageOptions, simulate_storage

LEVELS = {"read": (0, 1), "random": (0, 1), "block_kib": (4, 8), "path": ("local", "nbd"), "iops": (1000, 4000)}
NORMAL_975 = 1.959964


def recovered(runs: pl.DataFrame, truth: SimulatedStorageOptions) -> dict[str, bool]:
    """Quantity → whether its 95 % interval holds what is true."""
    held: dict[str, bool] = {}
    costs = cost_per_io(runs)
    for cost in costs:
        true = truth.paths[cost.path]
        assert cost.low is not None and cost.high is not None and cost.by_factor is not None
        held[f"{cost.path}: CPU per I/O"] = cost.low <= 1e-6 * true.mean_us() <= cost.high
        halves = {"read": -true.read_saves_us / 2, "random": true.random_us / 2, "block_kib": 2 * true.copy_us_per_kib}
        for name, half_us in halves.items():
            value, width = cost.by_factor[name]
            held[f"{cost.path}: {name}"] = abs(value - 1e-6 * half_us) <= width
    server = cost_per_io(runs.with_columns(cpu_cores=pl.col("server_cores")))
    for cost in server:
        if (true_us := truth.paths[cost.path].server_us) and cost.low is not None and cost.high is not None:
            held[f"{cost.path}: server"] = cost.low <= 1e-6 * true_us <= cost.high
    ratio = cost_ratio(costs)
    cheap, dear = sorted(float(path.mean_us()) for path in truth.paths.values())
    assert ratio is not None
    held["ratio"] = ratio[1] <= dear / cheap <= ratio[2]
    rest = background_of(runs)
    held["background"] = abs(rest.cores - truth.background_cores) <= NORMAL_975 * rest.std_error * 1.08  # t, 17 degrees
    effects = storage_effects(runs)
    for name in ("random", "random·path", "read·random", "random·iops"):
        row = effects.per_io.effect(name)
        held[f"null: {name}"] = row["low"] <= 0 <= row["high"]
    return held


def main(seeds: int) -> None:
    truth = SimulatedStorageOptions()
    held: Counter[str] = Counter()
    flagged: Counter[tuple[str, str]] = Counter()
    for seed in range(1, seeds + 1):
        design = storage_design(LEVELS, 3, 18, seed)
        for fault in (None, *FAULTS):
            runs = simulate_storage(design, truth, seed, fault)
            if fault is None:
                held.update({name: int(yes) for name, yes in recovered(runs, truth).items()})
            found = {one.name for one in run_faults(runs)}
            flagged.update((fault or "none", name) for name in found or {"nothing"})
    print("kind,planted,seen,seeds,count")
    for name, count in held.items():
        print(f"interval,,{name},{seeds},{count}")
    for (planted, seen), count in sorted(flagged.items()):
        print(f"flag,{planted},{seen},{seeds},{count}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
