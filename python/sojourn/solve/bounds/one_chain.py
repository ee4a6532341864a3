"""What the bounds share: one closed chain as arrays, and throughput bounds as a Solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.closed import chain_arrays
from sojourn.solve.closed.closed_refusals import closed_chains, one_speed
from sojourn.solve.product_form import product_form, structure
from sojourn.solve.solution import Solution


@dataclass(frozen=True)
class ClosedChain:
    """P points, K stations; demands 0 at delays, whose time is in `think_s`."""

    demands_s: Array  # P x K
    think_s: Array  # P
    population: Array  # P
    chains: chain_arrays.ChainArrays

    @property
    def total_s(self) -> Array:
        return self.demands_s.sum(axis=1)

    @property
    def longest_s(self) -> Array:
        return self.demands_s.max(axis=1, initial=0.0)


def of(networks: Sequence[Network]) -> ClosedChain:
    c = chain_arrays.of(networks)
    inside = np.where(c.delay, 0.0, c.demands_s[:, :, 0])
    outside = c.think_s[:, 0] + np.where(c.delay, c.demands_s[:, :, 0], 0.0).sum(axis=1)
    population = c.population[:, 0].astype(float)
    return ClosedChain(inside, np.where(population > 0, outside, 1.0), population, c)


def one_closed(network: Network) -> str | None:
    """One closed chain, no open class, nothing that customers are turned away by."""
    if not network.closed.all() or closed_chains(network) != 1:
        chains, classes = closed_chains(network), int((~network.closed).sum())
        has = f"{_counted(chains, 'closed chain', 's')} and {_counted(classes, 'open class', 'es')}"
        return f"this method needs exactly one closed chain and no open class, but the model has {has}"
    return structure(network)


def _counted(number: int, what: str, plural: str) -> str:
    return f"{number or 'no'} {what}{plural * (number > 1)}"


def single_servers(network: Network) -> str | None:
    """The same with a product form, and single servers and delays only."""
    return one_closed(network) or one_speed(network) or product_form(network)


def solution(b: ClosedChain, low: Array, high: Array) -> Solution:
    """Between two throughputs (P) of the chain: also of response (N/X - Z) and utilisations."""
    c, n = b.chains, b.chains.network
    shape = c.by_class.shape
    none = np.full(shape, np.nan)
    s = Solution(np.full((len(low), shape[2]), np.nan), none, none.copy(), ["bounds"] * len(low))
    think = c.think_s[:, 0]
    served = np.array(
        [kind == "queue" for kind in n.kind]
    )  # of a load-dependent station it is 1 - p(0), which X D does not bound
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = {"low": (low, b.population / high - think), "high": (high, b.population / low - think)}
    for name, (rate, response) in ends.items():
        busy = np.where(~served[:, None], np.nan, rate[:, None, None] * c.by_class / c.servers[:, :, None])
        table = {"throughput": rate[:, None] * c.passes, "utilisation": np.minimum(busy, 1.0)}
        if len(n.classes) == 1:
            table["response_s"] = response[:, None]
        setattr(s, name, table)
    return s
