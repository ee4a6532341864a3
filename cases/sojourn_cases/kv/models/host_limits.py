"""What hosts are known to be limited to bounds every prediction.

A rate and a share of the cores are token buckets, no queues with a service time: below them a request does not meet them,
above them no more gets through. So a model's throughput is cut at rate × servers / bits of an operation, and at
share × servers / CPU time of an operation. Source: the utilisation law (Lazowska et al. 1984, section 3.3) with U = 1; what
is in the way is then where the clients wait, N/X in all by Little's law. Bits are a sum of parts, fitted as CPU times are
(`cpu_time_regression`); both count what all servers do. Limits: load spread evenly over servers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from sojourn.fit import fit_parts
from sojourn_cases.kv.models.middleware_network import MeanValues
from sojourn_cases.kv.models.operation_work import OperationWork

NETWORK, CPU = "network of a server", "server CPU"


@dataclass(frozen=True)
class OperationLimits:
    """Of `servers` servers: a rate of each and the bits that all send for one operation; the share of a core of each.
    None: no limit."""

    servers: int = 1
    rate_bit_per_s: float | None = None
    operation_bit: float | None = None
    cores: float | None = None

    def most_per_s(self, server_cpu_s: float) -> dict[str, float]:
        """The throughput at which each limit is used up, where an operation works so long on all servers together."""
        found = {}
        if self.rate_bit_per_s and self.operation_bit:
            found[NETWORK] = self.rate_bit_per_s * self.servers / self.operation_bit
        if self.cores and server_cpu_s > 0:
            found[CPU] = self.cores * self.servers / server_cpu_s
        return found

    def on(self, free: MeanValues, server_cpu_s: float) -> MeanValues:
        """The prediction `free` of limits, within them."""
        most = self.most_per_s(server_cpu_s)
        x = min([free.throughput_per_s, *most.values()])
        used = {name: value * x / free.throughput_per_s for name, value in free.utilisation.items()}
        used |= {name: x / rate for name, rate in most.items()}
        return replace(free, throughput_per_s=x, utilisation=used)


BITS = ("operation", "message", "key", "KiB read")  # what a server's answers consist of


@dataclass(frozen=True)
class HostLimits:
    """`bits` of BITS that all servers send for an operation; the limits of each of them, None: none."""

    bits: tuple[float, ...] = ()
    rate_bit_per_s: float | None = None
    cores: float | None = None

    def limits(self, row: pl.DataFrame) -> OperationLimits:
        """At one point (columns as `OperationWork` needs them)."""
        bit = float((OperationWork(row).terms(BITS) @ np.array(self.bits))[0]) if self.bits else None
        return OperationLimits(int(row["servers"][0]), self.rate_bit_per_s, bit, self.cores)


def fit_sent(rows: pl.DataFrame) -> HostLimits:
    """From all fitted runs (columns of `system.kv.frame`)."""
    sent = rows["server_sent_bit_per_s"].cast(pl.Float64) * rows["servers"] / rows["throughput_per_s"]
    known = rows.with_columns(sent=sent).filter(pl.col("sent").is_finite() & (pl.col("sent") > 0))
    bits = (
        tuple(float(b) for b in fit_parts(OperationWork(known).terms(BITS), known["sent"].to_numpy()))
        if known.height
        else ()
    )
    return HostLimits(bits, _known(rows, "server_rate_bit_per_s"), _known(rows, "server_cores"))


def _known(rows: pl.DataFrame, column: str) -> float | None:
    values = rows[column].cast(pl.Float64).drop_nulls().drop_nans()
    return float(values[0]) if len(values) else None
