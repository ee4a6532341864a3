"""`sojourn capacity` on simulated services of known truth: how often its interval holds, how wide it is, what it spent, how far it went.

    python benches/capacity/run.py --first SEED --seeds N --out FOLDER

Each seed draws a service: 1 to 8 workers in order of arrival, constant or exponential times of 2 to 20 ms, a delay before, and an
objective: the mean or p99 below a limit that is met up to 60 to 92 % of saturation. The search is the product's
(`sojourn.capacity.search`) with its defaults, on run folders of 15 s that are made by a recursion in numpy; the truth is a long run of
the same recursion. FOLDER gets a row a service. A bisection to the same width is counted as runs of the same length: log2 of the range
between nothing and saturation over the interval, and one. Nothing is measured: others may use the machine.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn.capacity import SearchLimits, search
from sojourn.query.objectives import read_objectives

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/unit/capacity"))
from virtual_service import VirtualService  # type: ignore[import-not-found]


def drawn(seed: int, out: Path) -> tuple[VirtualService, str, float]:
    """A service, its figure, and the limit in s."""
    random = np.random.default_rng([seed, 29])
    service = VirtualService(
        out, workers=int(random.choice([1, 2, 4, 8])), service_s=float(np.exp(random.uniform(np.log(2e-3), np.log(20e-3)))),
        law=str(random.choice(["constant", "exponential"])), delay_s=float(random.choice([0.0, 1e-3, 5e-3])), seed=seed,
    )  # fmt: skip
    figure = str(random.choice(["mean", "p99"]))
    share = float(random.uniform(0.6, 0.92))
    rate = share * service.workers / service.service_s
    _, times = service.responses(rate, 400_000, np.random.default_rng(77))
    times = times[20_000:]
    return service, figure, float(times.mean() if figure == "mean" else np.quantile(times, 0.99))


def row(seed: int) -> dict[str, Any]:
    """One search beside its truth."""
    with tempfile.TemporaryDirectory() as place:
        service, figure, limit = drawn(seed, Path(place))
        limit = float(f"{limit * 1e3:.3g}") / 1e3
        truth = service.truth(figure, limit)
        found = search(
            service.run,
            service.light(),
            read_objectives([f"{figure} < {limit * 1e3:.3g}ms"]),
            SearchLimits(within_s=86400),
        )
        full = service.workers / service.service_s
        rate = found.rate_per_s
        told = {"value": None, "low": None, "high": None} if rate is None else vars(rate)
        width = None if rate is None or rate.high is None else rate.half_width
        bisection = None if width is None else math.ceil(math.log2(1 / (2 * width))) + 1
        return {
            "seed": seed, "workers": service.workers, "law": service.law, "service_s": service.service_s, "delay_s": service.delay_s,
            "figure": figure, "limit_s": limit, "truth": truth, "share": truth / full, **told, "half_width": width,
            "inside": rate is not None and rate.high is not None and rate.low <= truth <= rate.high,
            "answered": found.answered, "runs": len(found.runs), "requests": sum(round(r * service.run_s) for r in service.asked),
            "most": max(service.asked) / full, "bisection_runs": bisection, "stopped": found.stopped, "why": found.why,
        }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for seed in range(given.first, given.first + given.seeds):
        rows.append(row(seed))
        pl.DataFrame(rows, infer_schema_length=None).write_csv(given.out / f"raw-{given.first}.csv", float_precision=6)
        print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
