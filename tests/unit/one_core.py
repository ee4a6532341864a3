"""Observations of one core made from closed forms by hand, with block noise of known size: S = 1 ms, A = 2 ms, N large.

shared: T = (S+A)/(1 - lambda (S+A)). paper: T = 1/(mu1-lambda) + 1/(mu2-lambda). mmm: T = 1/(1/A - lambda), S = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

S, A = 1e-3, 2e-3
RATES = (60.0, 100.0, 140.0, 180.0, 220.0, 260.0)
RESPONSE: dict[str, Callable[[float], float]] = {
    "shared": lambda x: (S + A) / (1 - x * (S + A)),
    "paper": lambda x: 1 / (1 / S - x) + 1 / (1 / A - x),
    "mmm": lambda x: 1 / (1 / A - x),
}


def observations(
    law: str = "shared",
    rates: Sequence[float] = RATES,
    blocks: int = 12,
    noise: float = 0.02,
    seed: int = 5,
    runs: int = 1,
) -> pl.DataFrame:
    """One block a second; response, busy and soft-interrupt shares each with independent relative noise."""
    rng = np.random.default_rng(seed)
    interrupt = 0.0 if law == "mmm" else S
    rows = []
    for rate in rates:
        for run in range(runs):
            for block in range(blocks):
                response, busy, soft = 1 + noise * rng.standard_normal(3)
                rows.append(
                    {
                        "run": f"{rate:g}-{run}",
                        "cores": 1,
                        "nics": 1,
                        "rate_per_s": rate,
                        "block": block,
                        "requests": round(rate),
                        "response_s": RESPONSE[law](rate) * response,
                        "throughput_per_s": rate,
                        "duration_s": 1.0,
                        "util_leading": rate * (interrupt + A) * busy,
                        "util_trailing": None,
                        "softirq_leading": rate * interrupt * soft,
                        "valid": True,
                    }
                )
    return pl.DataFrame(rows, infer_schema_length=None, schema_overrides={"util_trailing": pl.Float64})
