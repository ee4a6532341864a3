"""Rates and loads in an open network, and where it becomes unstable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import as_points, outline, stacked
from sojourn.solve import load_dependent_times
from sojourn.solve.multicore_load import saturation_rates
from sojourn.solve.solution import Solution


@dataclass(frozen=True)
class TrafficSolution:
    """P points, K stations, C classes. `rate` P x K x C, visits/s; `load` likewise, mean busy servers asked for;
    `most` P x K, how many can be busy (infinite at delays)."""

    networks: Sequence[Network]
    passes: Array  # P x C, passes/s
    rate: Array
    load: Array
    most: Array

    @staticmethod
    def of(networks: Sequence[Network]) -> TrafficSolution:
        networks = as_points(networks)  # whose columns are stacked once
        n = outline(networks)
        chain = n.chain[:, None] == n.chain[None, :]
        passes = np.asarray(stacked(networks, "rate_per_s"))
        rate = (passes @ chain)[:, None, :] * stacked(networks, "visits")
        load = rate * stacked(networks, "service_s")
        most = stacked(networks, "servers").astype(float)
        if not n.at_load:  # whose times are still those of a server that has nothing else to do
            most = np.maximum(most - stacked(networks, "background"), 1e-12)
        for k in range(len(n.stations)):
            if n.kind[k] == "delay" or k in n.rates:
                most[:, k] = [full_speed(x, k) for x in networks] if k in n.rates else np.inf
        return TrafficSolution(networks, passes, rate, load, most)

    @property
    def share(self) -> Array:
        """P x K, of what each station can do; of cores with interrupts what those can do that are full first."""
        found = self.load.sum(axis=2) / self.most
        for k in outline(self.networks).hosts:
            found[:, k] = self.rate[:, k].sum(axis=1) / saturation_rates(self.networks, k)
        return found

    @property
    def stable(self) -> np.ndarray:
        """P."""
        return np.asarray(self.share.max(axis=1) < 1)

    @property
    def saturation(self) -> Array:
        """P, all arrivals together in 1/s at which the first station has no time left, classes in proportion."""
        with np.errstate(divide="ignore", invalid="ignore"):
            plain = self.share.copy()
            plain[:, [time.station for time in outline(self.networks).dependent_times]] = (
                0.0  # whose times are others when they are full
            )
            fullest = np.minimum(1 / plain.max(axis=1), load_dependent_times.saturation(self.networks))
            return np.asarray(self.passes.sum(axis=1) * fullest)

    def message(self) -> str:
        """Which station is the first that cannot keep up, and from which rate on; empty where all points are stable."""
        late = np.flatnonzero(~self.stable)
        if not len(late):
            return ""
        names = [self.networks[0].stations[int(np.argmax(self.share[p]))] for p in late]
        low, high = self.saturation[late].min(), self.saturation[late].max()
        where = f"{low:.9g}/s" if high - low <= 1e-9 * high else f"{low:.9g}/s to {high:.9g}/s, depending on the point"
        return (
            f"station {' or '.join(dict.fromkeys(names))} is unstable from arrivals of {where} on, all classes together"
        )

    def unstable(self, further: bool = True) -> Solution:
        """The answer where no point is stable, and the form of all others: everything NaN. `further`: with rows beside the arrays."""
        shape, limit = self.rate.shape, self.saturation if further else np.array([])
        return Solution(
            np.full(self.passes.shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan),
            ["ok" if s else "unstable" for s in self.stable], waiting_s=np.full(shape, np.nan), message=self.message(),
            more=[{"point": p, "station": "", "class": "", "metric": "saturation_rate", "value": float(v)}
                  for p, v in enumerate(limit) if np.isfinite(v)],
        )  # fmt: skip


def full_speed(network: Network, k: int) -> float:
    """Servers' worth of work that station k can do at most; infinite for a delay."""
    if network.kind[k] == "delay":
        return np.inf
    if k in network.rates:
        return float(speeds(network, k)[-1])
    down = getattr(network.model.stations[k], "breakdowns", None)
    works = 1.0 if down is None else down.up.first / (down.up.first + down.down.first)
    return float(network.servers[k]) * works


def speeds(network: Network, k: int) -> Array:
    """Relative speed with 1, 2, … present, to where it is full."""
    return network.speed(k, len(network.rates[k]) if k in network.rates else int(network.servers[k]))


def only_open(network: Network) -> str | None:
    """Why it is no open network."""
    if network.closed.any():
        names = [c for c, closed in zip(network.classes, network.closed, strict=True) if closed]
        return f"the class `{names[0]}` is closed, but this method needs open classes only"
    return None
