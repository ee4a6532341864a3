"""Run folders of two workers in order of arrival with exponential times, behind a constant delay, in numpy: M/M/2."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sojourn.simulate.simulated_folder import write_run

SERVICE_S, RATE, LENGTH_S = 0.006, 100.0, 8.0


def write_runs(out: Path, delay_s: float, seed: int, count: int = 3) -> None:
    """`count` runs of 8 s at 100/s, `out/K/rate-100`."""
    for k in range(count):
        random = np.random.default_rng([seed, k])
        arrivals = np.cumsum(random.exponential(1 / RATE, int(RATE * LENGTH_S)))
        free, done = np.zeros(2), []
        for at, takes in zip(arrivals, random.exponential(SERVICE_S, len(arrivals)), strict=True):
            first = int(free.argmin())
            free[first] = max(at, free[first]) + takes
            done.append(free[first] + delay_s)
        about = {"name": "rate-100", "factors": {"rate_per_s": RATE}}
        write_run(out / f"{k}/rate-100", manifest=about, requests={"intended_s": arrivals, "done_s": np.array(done)})
