"""What hosts are known to be limited to bounds every prediction.

A rate and a share of the cores are token buckets, no queues with a service time: below them a request does not meet them,
above them no more gets through. So a model's throughput is cut at rate × servers / bits of an operation, and at
share × servers / CPU time of an operation. Source: the utilisation law (Lazowska et al. 1984, section 3.3) with U = 1; what
is in the way is then where the clients wait, N/X in all by Little's law. Bits and CPU times are those of the fitted runs,
the latter between client counts straight in 1/N; both count what all servers do. Limits: load spread evenly over servers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from sojourn.study.kv.models.network import Prediction
from sojourn.study.kv.models.times import Times, estimate

NETWORK, CPU = "network of a server", "server CPU"


@dataclass(frozen=True)
class Limits:
    """Of `servers` servers: a rate of each and the bits that all send for one operation; the share of a core of each.
    None: no limit."""

    servers: int = 1
    rate_bit_per_s: float | None = None
    operation_bit: float | None = None
    cores: float | None = None

    def most_per_s(self, times: Times, clients: int) -> dict[str, float]:
        """The throughput at which each limit is used up."""
        found = {}
        if self.rate_bit_per_s and self.operation_bit:
            found[NETWORK] = self.rate_bit_per_s * self.servers / self.operation_bit
        if self.cores and (work := times.at("server_cpu_s", clients)) > 0:
            found[CPU] = self.cores * self.servers / work
        return found

    def on(self, free: Prediction, times: Times) -> Prediction:
        """The prediction `free` of limits, within them."""
        most = self.most_per_s(times, free.clients)
        x = min([free.throughput_per_s, *most.values()])
        used = {name: value * x / free.throughput_per_s for name, value in free.utilisation.items()}
        used |= {name: x / rate for name, rate in most.items()}
        return replace(free, throughput_per_s=x, utilisation=used)


def limits_of(rows: pl.DataFrame) -> Limits:
    """From the runs of one configuration that were chosen for the fit (columns of `system.kv.frame`)."""
    sent = rows["server_sent_bit_per_s"].cast(pl.Float64) * rows["servers"] / rows["throughput_per_s"]
    bits = estimate(sent.to_numpy()).value if sent.is_finite().any() else None
    return Limits(int(rows["servers"][0]), _known(rows, "server_rate_bit_per_s"), bits, _known(rows, "server_cores"))


def _known(rows: pl.DataFrame, column: str) -> float | None:
    values = rows[column].cast(pl.Float64).drop_nulls().drop_nans()
    return float(values[0]) if len(values) else None
