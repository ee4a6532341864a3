"""Seeds of schedules: another for each series of runs and each of its levels, so that no two services are sent the same arrivals."""

from __future__ import annotations

import hashlib
import os

SERIES_BITS, RUN_BITS = 31, 48  # short enough to type; exact in JSON


def fresh_seed() -> int:
    """One that nobody had before, of a series; it is told, and repeats the series."""
    return int.from_bytes(os.urandom(4), "big") >> (32 - SERIES_BITS)


def run_seed(series: int, run: str) -> int:
    """Of the run named `run` (`rate-50`) in the series with the seed `series`: a hash of both, so that the same level of another series
    has other arrivals, and the same series has the same ones in whatever order it is run."""
    return int.from_bytes(hashlib.sha256(f"{series}/{run}".encode()).digest()[:8], "big") >> (64 - RUN_BITS)
