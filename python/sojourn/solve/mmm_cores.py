"""M/M/m: one queue, m equal cores. The comparator that Chen et al. argue against; only its service rate is fitted.

Source: Kleinrock, Queueing Systems vol. 1 (1975), Section 3.5, Erlang's C formula. `m` there is `cores` here, mu is
`mu_per_s`. Stable for any m: `single.erlang`. Limits: rate below cores·mu; no interrupts, all cores alike (so NICs play
no part). The same queue as a model, with variances and quantiles: method mmm of `solve`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sojourn.errors import InputError
from sojourn.former_keyword import former_keyword
from sojourn.solve import status
from sojourn.solve.single.erlang import erlang_c as erlang_c
from sojourn.table import Metrics

Array = NDArray[np.float64]
ROWS = (
    ("rate", "", "arrival_rate"),
    ("response", "", "response_time"),
    ("throughput", "", "throughput"),
    ("jobs", "", "queue_length"),
    ("waiting", "", "waiting_time"),
    ("service", "", "service_time"),
    ("saturation", "", "saturation_rate"),
    ("lead_busy", "leading", "utilisation"),
    ("behind_busy", "trailing", "utilisation"),
)


def evaluate(rate: ArrayLike, service_s: ArrayLike, cores: ArrayLike) -> dict[str, Array]:
    """Arrays with the keys of `ROWS` (broadcast); response infinite at and above saturation."""
    x, s, m = np.broadcast_arrays(np.asarray(rate, float), np.asarray(service_s, float), np.asarray(cores, int))
    rho = x * s / m
    with np.errstate(divide="ignore", invalid="ignore"):
        waiting = np.where(rho < 1, erlang_c(x * s, m) * s / (m * (1 - rho)), np.inf)
    done = np.minimum(x, m / s)
    busy = np.minimum(rho, 1.0)
    response = waiting + s
    return {
        "rate": x,
        "response": response,
        "throughput": done,
        "jobs": np.where(rho < 1, done * np.where(rho < 1, response, 0.0), np.inf),
        "waiting": waiting,
        "service": s,
        "saturation": m / s,
        "lead_busy": busy,
        "behind_busy": busy,
    }


@former_keyword(rate_per_s="total_rate_per_s")
def mmm(total_rate_per_s: ArrayLike, *, mu_per_s: float, cores: int = 1, nics: int = 1) -> Metrics:
    """Solves each rate (scalar or 1-d, 1/s, > 0) with `cores` servers of rate `mu_per_s` > 0.

    Rows as `two_class` has them, factors rate_per_s, cores, nics (a label: it changes nothing), variant="mmm";
    "leading" and "trailing" utilisations are equal. At and above saturation response is null, status `saturated`.
    InputError names the argument.
    """
    rates = np.atleast_1d(np.asarray(total_rate_per_s, float))
    if rates.ndim != 1 or not np.all(np.isfinite(rates) & (rates > 0)):
        raise InputError(rates.tolist(), "total_rate_per_s", "give finite rates > 0 in 1/s")
    if not (np.isfinite(mu_per_s) and mu_per_s > 0):
        raise InputError(mu_per_s, "mu_per_s", "give a finite rate > 0 in 1/s")
    if cores != int(cores) or not 1 <= nics <= cores:
        raise InputError((cores, nics), "cores, nics", "give whole numbers, 1 <= nics <= cores")
    return table(evaluate(rates, 1 / mu_per_s, cores), cores, nics)


def table(results: dict[str, Array], cores: int, nics: int) -> Metrics:
    """Rows of one configuration, 1-d arrays by rate."""
    rows: list[dict[str, Any]] = []
    names: set[str] = set()
    for k, rate in enumerate(results["rate"]):
        factors = {"rate_per_s": float(rate), "cores": cores, "nics": nics, "variant": "mmm"}
        late = bool(rate >= results["saturation"][k])
        for key, station, metric in ROWS:
            if station == "trailing" and cores == nics:
                continue
            fine = not late or metric in ("arrival_rate", "service_time", "saturation_rate")
            names.add("ok" if fine else "saturated")
            value = float(results[key][k])
            rows.append(
                {
                    "station": station,
                    "metric": metric,
                    "value": value,
                    "status": "ok" if fine else "saturated",
                    **factors,
                }
            )
    return Metrics.of(rows, "mmm", status.worst(names), status.message(names))
