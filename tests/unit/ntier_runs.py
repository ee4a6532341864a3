"""Runs of a site whose demands are known, for tests of its template and its analyses."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl

from sojourn.measure.run_folder import RunFolder

# seconds when the cores are full, and what is added when they are idle
TRUE_S = {
    "nginx": (50e-6, 60e-6),
    "application": (2.1e-3, 0.3e-3),
    "database": (0.2e-3, 0.1e-3),
    "client": (60e-6, 50e-6),
}
FACTORS = {"cores": 1, "placement": "first", "mix": "browse", "page_work_s": 2e-3, "users": 50, "think_s": 0.1}


def run(utilisation: float, noise: float = 0.0, seed: int = 0, **factors: Any) -> RunFolder:
    draw = np.random.default_rng(seed)
    demands = {
        name: (full + idle * (1 - utilisation) ** 2) * float(np.exp(noise * draw.normal()))
        for name, (full, idle) in TRUE_S.items()
    }
    path_s = sum(value for name, value in demands.items() if name != "client")
    rows = [
        ("", "throughput", utilisation / path_s),
        ("cpu", "utilisation", utilisation),
        ("cpu", "service_demand", path_s),
    ]
    rows += [(name, "service_demand", value) for name, value in demands.items()]
    frame = pl.DataFrame(rows, schema=["station", "metric", "value"], orient="row").with_columns(
        pl.lit("").alias("class"), pl.lit(None, pl.Float64).alias("q")
    )
    manifest = {"valid": True, "factors": {**FACTORS, **factors}, "resources": dict.fromkeys([*TRUE_S, "cpu"])}
    return cast(RunFolder, SimpleNamespace(manifest=manifest, frame=lambda name: frame, path=Path("run")))


LEVELS = [0.1, 0.2, 0.4, 0.6, 0.8, 0.96, 0.98, 0.99]


def runs(noise: float = 0.0) -> list[RunFolder]:
    return [run(u, noise, 10 * k + j, users=int(100 * u)) for k, u in enumerate(LEVELS) for j in range(3)]
