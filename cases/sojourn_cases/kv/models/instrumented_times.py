"""Parameters of a configuration's models, from instrumented times alone: no throughput enters as such.

Source: the operational way (Lazowska et al., Quantitative System Performance, 1984, chapter 12): times measured inside the
system, averaged over the runs that were chosen for the fit. Intervals: Student's t over runs of one client count; over
several counts each is a stratum of its own (few clients say less in the same time), with Welch-Satterthwaite's degrees of
freedom (Satterthwaite, An approximate distribution of estimates of variance components, Biometrics Bulletin 2, 1946).
The network's delay is what a client's cycle has beside the middleware, at the fewest clients: later it has queueing in it. A
cycle is a response time and what the client takes to read the answer (`own_s`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import stdtrit

from sojourn.fit import ParameterEstimate
from sojourn.study import mean_with_interval
from sojourn_cases.kv.models.light_load import waiting_s

INSTRUMENTED = ("net_s", "server_cpu_s")


@dataclass(frozen=True)
class InstrumentedTimes:
    """`network_s` and `light_service_s` at the fewest clients; `means` over all fitted runs. `held_s`: of a worker outside the
    servers, at the fewest clients; `light_waiting_s`: what of `light_service_s` is waiting for a server that another client
    uses (0 for one client)."""

    network_s: ParameterEstimate
    light_service_s: ParameterEstimate
    means: dict[str, ParameterEstimate]
    held_s: ParameterEstimate | None = None
    light_waiting_s: float = 0.0

    def mean(self, name: str) -> float:
        """0 where this system has no such part."""
        return self.means[name].value if name in self.means else 0.0


def fit_times(rows: pl.DataFrame, level: float = 0.95) -> InstrumentedTimes:
    """From the runs of one configuration that were chosen for the fit (columns of `system.kv.frame`)."""
    light = rows.filter(pl.col("clients") == rows["clients"].min())
    inside = light["mw_response_s"].cast(pl.Float64).to_numpy()
    outside = (light["response_s"] + light["own_s"].fill_null(0.0)).to_numpy()
    network = mean_with_interval(np.maximum(np.where(np.isfinite(inside), outside - inside, 0.0), 0.0), level)
    served = light["service_s"].cast(pl.Float64).to_numpy()
    service = mean_with_interval(np.where(np.isfinite(served), served, outside), level)
    means = {
        name: stratified(rows, name, level) for name in INSTRUMENTED if rows[name].cast(pl.Float64).is_finite().any()
    }
    held, waits = _held(light, network, {name: e.value for name, e in means.items()}, level)
    return InstrumentedTimes(network, service, means, held, waits)


def _held(
    light: pl.DataFrame, network: ParameterEstimate, means: dict[str, float], level: float
) -> tuple[ParameterEstimate | None, float]:
    """Service less the servers' work, run by run, less the waiting there that the network of queues has at so few clients."""
    outside = (light["service_s"] - light["server_cpu_s"]).cast(pl.Float64).to_numpy()
    if not np.isfinite(outside).any():
        return None, 0.0
    to_all = light["workload"][0] == "set"
    servers = 1 if to_all else int(light["servers"][0])
    work = means["server_cpu_s"] / (int(light["servers"][0]) if to_all else 1)
    found = mean_with_interval(outside, level)
    waits = waiting_s(
        int(light["clients"][0]), network.value + found.value, means.get("net_s", 0.0), int(light["proxies"][0]),
        work, servers,
    )  # fmt: skip
    return ParameterEstimate(found.value - waits, found.low - waits, found.high - waits), waits


def stratified(rows: pl.DataFrame, name: str, level: float = 0.95) -> ParameterEstimate:
    """Mean over client counts of the means over runs; without an interval where a client count has only one run, which does not
    tell how runs differ (client counts do differ)."""
    strata = [
        g[name].to_numpy() for _, g in rows.filter(pl.col(name).is_finite()).group_by("clients", maintain_order=True)
    ]
    mean = float(np.mean([values.mean() for values in strata]))
    if min(len(values) for values in strata) < 2:
        return ParameterEstimate(mean, math.nan, math.nan)
    parts = np.array([values.var(ddof=1) / len(values) for values in strata]) / len(strata) ** 2
    variance = float(parts.sum())
    if variance <= 0:
        return ParameterEstimate(mean, math.nan, math.nan)
    degrees = variance**2 / float((parts**2 / np.array([len(values) - 1 for values in strata])).sum())
    half = float(stdtrit(degrees, (1 + level) / 2)) * math.sqrt(variance)
    return ParameterEstimate(mean, mean - half, mean + half)


__all__ = ["InstrumentedTimes", "ParameterEstimate", "fit_times", "stratified"]
