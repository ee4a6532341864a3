"""A table of one station of equal servers at growing load: M/M/m.

Source: as `sojourn.solve.single.mmm`. Limits: Poisson arrivals, exponential service, FCFS.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sojourn.errors import InputError
from sojourn.solve.single.mmm import MMm

FIVE = (0.0, 0.2, 0.4, 0.6, 0.8)
MOST = 1_000_000  # servers


def staff_table(servers: int, service_s: float, utilisations: Sequence[float] = FIVE) -> pl.DataFrame:
    """A row a utilisation in [0, 1): utilisation, rate_per_s, response_s, waiting_s, waiting_probability (of an arrival), p99_s.

    `servers` a whole number of 1 or more, `service_s` mean service time above 0. InputError else.
    """
    if servers != int(servers) or not 1 <= servers <= MOST:
        raise InputError(servers, "servers", f"give a whole number from 1 to {MOST}")
    if not (np.isfinite(service_s) and service_s > 0):
        raise InputError(service_s, "service", "give a time above 0, as 127us")
    busy = np.asarray(utilisations, float)
    wrong = busy[~((busy >= 0) & (busy < 1))]
    if wrong.size or not busy.size:
        raise InputError(float(wrong[0]) if wrong.size else "none", "utilisation", "give shares from 0 to below 1")
    rate = busy * servers / service_s
    q = MMm(rate, service_s, servers)
    return pl.DataFrame(
        {
            "utilisation": busy, "rate_per_s": rate, "response_s": q.response_s, "waiting_s": q.waiting_s,
            "waiting_probability": q.waits, "p99_s": q.response_quantile(0.99),
        }
    )  # fmt: skip
