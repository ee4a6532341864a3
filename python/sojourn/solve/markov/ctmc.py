"""Any small network, state by state: a continuous-time Markov chain.

Source: W. J. Stewart, Introduction to the Numerical Solution of Markov Chains (1994), chapters 1, 3, 6; G. Bolch et al.,
Queueing Networks and Markov Chains, 2nd ed. (2006), chapters 2 and 3. Blocking after service: H. G. Perros, Queueing
Networks with Blocking (1994), ch. 1. The distribution comes from `crates/solve/src/markov` (elimination without
subtractions for small chains, multilevel aggregation for large ones; all its sums have one sign).

| letters            | here                                        | unit |
|--------------------|---------------------------------------------|------|
| Q                  | generator, from `network_chain`             | 1/s  |
| pi                 | stationary distribution                     | 1    |
| ‖pi Q‖/sum pi_i q_i | residual: share of the flow out of balance  | 1    |

Limits: exponential and phase-type service, thinking and arrivals (MAP too); at most 2 million states. Open customers
without a bound are cut off at a number that is so large that the share of arrivals cut off is below 1e-9; where that
does not fit, the status is `approximate` and the message gives the share. A customer that finds a region or a pool full
waits outside it: it counts for the system, and for the row of the pool, but for no station.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sojourn.errors import MethodRefused
from sojourn.model.network import Network
from sojourn.solve.markov.answer import Measured, answer
from sojourn.solve.markov.applies import MOST_CUSTOMERS, offered, refuses
from sojourn.solve.markov.estimate import MOST_STATES, states
from sojourn.solve.markov.spec import UNLIMITED, spec
from sojourn.solve.method import Method, Wanted
from sojourn.solve.solution import Solution

TOLERANCE, CYCLES, GOOD = 1e-15, 200, 1e-9
LOST = 1e-9

REFUSALS = {
    "too_many": ("more states than the method takes", "reduce the population, or simulate"),
    "deadlock": ("customers can block each other for ever", "give one of the stations more room, or on_full = 'lose'"),
    "no_room": ("the closed customers do not fit into the stations", "raise a capacity, or give a think time"),
    "too_wide": ("too many stations and classes for the coding of states", "simulate"),
}


def network_chain(network: Network, most_open: int = UNLIMITED, most_states: int = MOST_STATES) -> Any:
    """The states of a network and their generator (`sojourn._native.NetworkChain`).

    Raises MethodRefused where there are too many, where customers can block each other for ever, where they do not fit.
    """
    from sojourn._native import NetworkChain

    try:
        return NetworkChain(spec(network, most_open), most_states)
    except ValueError as error:
        value, remedy = REFUSALS.get(str(error), (str(error), "report this model to us"))
        raise MethodRefused(value, "method ctmc", remedy) from None


def run(networks: Sequence[Network], wanted: Wanted) -> Solution:
    return answer(networks, [_measured(n) for n in networks], wanted)


def _measured(network: Network) -> Measured:
    status = offered(network)
    if status:
        return Measured.unstable(network, status)
    if network.closed.all():
        return _solved(network, UNLIMITED)
    most = first_bound(network)
    found = _solved(network, most)
    while found.cut > LOST and (more := _fitting(network, 2 * most)) > most:
        most = more
        found = _solved(network, most)
    return found


def _solved(network: Network, most_open: int) -> Measured:
    chain = network_chain(network, most_open)
    p, residual, _ = chain.steady(TOLERANCE, CYCLES)
    return Measured.of(network, chain.measure(p), len(p), residual, residual <= GOOD)


def first_bound(network: Network) -> int:
    """Open customers at once: enough for the busiest station's geometric tail of 1e-10, or as many as fit."""
    return _fitting(network, wanted_bound(network))


def _fitting(network: Network, most: int) -> int:
    """`most`, or the largest number below it whose states are not too many; at least 1."""
    most = min(most, MOST_CUSTOMERS - int(network.population[network.closed].sum()))
    if states(network, most) <= MOST_STATES:
        return most
    low = 1
    while most - low > 1:
        middle = (low + most) // 2
        low, most = (middle, most) if states(network, middle) <= MOST_STATES else (low, middle)
    return low


def wanted_bound(network: Network) -> int:
    """The same, whether it fits or not."""
    visited = [k for k in range(len(network.stations)) if network.visits[k, ~network.closed].any()]
    if np.isfinite(network.capacity[visited]).all() and not network.limits:
        return int(network.capacity[visited].sum()) + 1
    most = int(np.clip(np.log(1e-10) / np.log(np.clip(_loads(network), 1e-3, 1 - 1e-9)), 16, 1e6))
    return most + int(sum(network.servers[k] for k in visited if network.kind[k] == "queue"))


def _loads(network: Network) -> float:
    rates = network.rate_per_s * ~network.closed
    chain = network.chain[:, None] == network.chain[None, :]
    busy = (network.demands_s * (rates @ chain)).sum(axis=1)
    full = [np.inf if network.kind[k] == "delay" else network.speed(k, max(int(network.servers[k]), len(network.rates.get(k, ()))))[-1]
            for k in range(len(network.stations))]  # fmt: skip
    return float((busy / np.array(full)).max(initial=0.0))


@lru_cache(maxsize=64)
def count(network: Network) -> float:
    """About how many states an exact answer needs."""
    return states(network) if network.closed.all() else states(network, wanted_bound(network))


METHOD = Method(
    name="ctmc",
    title="Markov chain of the whole network, state by state",
    exact=True,
    sources=(
        "W. J. Stewart: Introduction to the Numerical Solution of Markov Chains (1994), chapters 1, 3, 6",
        "G. Horton, S. T. Leutenegger: SIGMETRICS 1994, pp. 191-200 (multilevel)",
    ),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 1e-3 + 4e-5 * count(n),
    memory_bytes=lambda n: 400 * count(n),
)
