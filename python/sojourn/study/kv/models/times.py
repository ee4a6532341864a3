"""Parameters of a configuration's models, from instrumented times alone: no throughput enters as such.

Source: the operational way (Lazowska et al., Quantitative System Performance, 1984, chapter 12): times measured inside the
system, averaged over the runs that were chosen for the fit. Intervals: Student's t over those runs.
The network's delay is what the client saw longer than the middleware, at the fewest clients: later it has queueing in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from sojourn.study.estimate import Estimate, estimate

INSTRUMENTED = ("net_s", "service_s", "net_cpu_s", "worker_cpu_s", "server_cpu_s", "client_cpu_s")


@dataclass(frozen=True)
class Times:
    """`network_s` and `light_service_s` at the fewest clients; `means` over all fitted runs; `curves` by clients: what
    the machine needs per operation changes with the load (more is done at each waking). `fewest`: that client count."""

    network_s: Estimate
    light_service_s: Estimate
    means: dict[str, Estimate]
    curves: dict[str, tuple[tuple[float, ...], tuple[float, ...]]]
    fewest: int = 1

    def at(self, name: str, clients: int) -> float:
        """An instrumented time at `clients`, between fitted points straight in ln(clients); 0 where it is unknown."""
        points, values = self.curves.get(name, ((), ()))
        return float(np.interp(math.log(clients), points, values)) if points else 0.0

    def mean(self, name: str) -> float:
        """0 where this system has no such part."""
        return self.means[name].value if name in self.means else 0.0


def fit_times(rows: pl.DataFrame, level: float = 0.95) -> Times:
    """From the runs of one configuration that were chosen for the fit (columns of `Seen`)."""
    light = rows.filter(pl.col("clients") == rows["clients"].min())
    inside = light["mw_response_s"].to_numpy()
    outside = light["response_s"].to_numpy()
    network = estimate(np.maximum(np.where(np.isfinite(inside), outside - inside, 0.0), 0.0), level)
    served = light["service_s"].to_numpy()
    service = estimate(np.where(np.isfinite(served), served, outside), level)
    means = {
        name: estimate(values, level)
        for name in INSTRUMENTED
        if np.isfinite(values := rows[name].to_numpy().astype(float)).any()
    }
    return Times(network, service, means, {name: _curve(rows, name) for name in means}, int(light["clients"][0]))


def _curve(rows: pl.DataFrame, name: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    known = rows.filter(pl.col(name).is_finite()).group_by("clients").agg(pl.col(name).mean()).sort("clients")
    return tuple(np.log(known["clients"].to_numpy())), tuple(known[name].to_list())


__all__ = ["Estimate", "Times", "estimate", "fit_times"]
