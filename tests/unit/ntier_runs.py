"""Runs of a site whose demands are known, for tests of its analyses."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl

from sojourn.runs.host_samples import EVERYTHING
from sojourn.runs.run_folder import RunFolder

# seconds when the cores are full, and what is added when they are idle
TRUE_S = {
    "nginx": (50e-6, 60e-6),
    "application": (2.1e-3, 0.3e-3),
    "database": (0.2e-3, 0.1e-3),
    "client": (60e-6, 50e-6),
}
FOR_S = 10.0
FACTORS = {"cores": 1, "placement": "first", "mix": "browse", "page_work_s": 2e-3, "users": 50, "think_s": 0.1}


def run(
    utilisation: float, noise: float = 0.0, seed: int = 0, background_cores: float = 0.0, **factors: Any
) -> RunFolder:
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
    pids = {name: number for number, name in enumerate(TRUE_S, 1)}
    resources = {name: {"capacity": 1.0, "pids": [pid]} for name, pid in pids.items()} | {"cpu": None}
    manifest = {
        "valid": True, "factors": {**FACTORS, **factors}, "resources": resources, "window_s": (0.0, FOR_S)
    }  # fmt: skip
    used = {name: FOR_S * utilisation / path_s * demand_s for name, demand_s in demands.items()}
    rows = [("procs", str(pid), "run_s", used[name]) for name, pid in pids.items()]
    rows += _ticks([sum(used.values()) - used["client"], used["client"] + FOR_S * background_cores])
    frames = {"metrics": frame, "host": _counters(rows)}
    return cast(RunFolder, SimpleNamespace(manifest=manifest, frame=frames.get, path=Path("run")))


def _ticks(busy_s: list[float]) -> list[tuple[str, str, str, float]]:
    """Of cores: half of what they were busy with in user mode, half in the kernel, ticks of 10 ms."""
    told = [dict.fromkeys(EVERYTHING, 0.0) | {"user": s / 2, "system": s / 2, "idle": FOR_S - s} for s in busy_s]
    return [("cpu", str(core), item, 100 * s) for core, of in enumerate(told) for item, s in of.items()]


def _counters(rows: list[tuple[str, str, str, float]]) -> pl.DataFrame:
    """At the begin of the window and at its end."""
    both = [(t_s, *key, at * value) for t_s, at in ((0.0, 0), (FOR_S, 1)) for *key, value in rows]
    return pl.DataFrame(both, schema=["t_s", "source", "key", "item", "value"], orient="row")


LEVELS = [0.1, 0.2, 0.4, 0.6, 0.8, 0.96, 0.98, 0.99]


def runs(noise: float = 0.0) -> list[RunFolder]:
    return [run(u, noise, 10 * k + j, users=int(100 * u)) for k, u in enumerate(LEVELS) for j in range(3)]
