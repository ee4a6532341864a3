"""A chain that stands for a network whose own chain is too large, or that has no phases: an approximation.

Source of the phases: `fitted_phases`. Stations that serve in the order of arrival serve waiting customers at random instead, as BCMP
networks allow for equal means (F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios, J. ACM 22(2), 1975, pp. 248-260): who
is in service then says all that the order said, so that states are sets and no words. Means of waits hardly depend on
which of them is next, since the choice does not look at their service times; quantiles do, and are not told.

Measured in `benches/approximations`. Limits: those of `ctmc` after the change; and no priorities, limits of room, pools, regions or
routes by state, since none of these were measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

import numpy as np

from sojourn.errors import MethodRefused
from sojourn.model.distribution_registry import Distribution
from sojourn.model.network_arrays import Network
from sojourn.solve.markov import ctmc
from sojourn.solve.markov.fitted_phases import fitted
from sojourn.solve.markov.phase_type import arrivals, phases
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution

Law = TypeVar("Law")
ORDERED_S = 0.05  # a chain of all orders that takes no longer keeps them


@lru_cache(maxsize=64)
def nearby(network: Network) -> Network | None:
    """The network whose chain is taken; None where nothing has to be changed, or a law has no two moments."""
    laws = [law for row in (*network.service, network.think, network.arrivals) for law in row]
    if not all(np.isfinite(law.scv) for law in laws if isinstance(law, Distribution)):
        return None
    own = replace(
        network,
        service=tuple(tuple(_phased(law) for law in row) for row in network.service),
        think=tuple(_phased(law) for law in network.think),
        arrivals=tuple(_phased(law) if arrivals(law) is None else law for law in network.arrivals),
    )
    mixed = replace(own, discipline=tuple("siro" if d == "fcfs" else d for d in network.discipline))
    changed = (own.service, own.think, own.arrivals) != (network.service, network.think, network.arrivals)
    if changed and ctmc.refuses(own) is None and ctmc.METHOD.cost_s(own) <= ORDERED_S:
        return own
    return mixed if changed or mixed.discipline != network.discipline else None


def _phased(law: Law) -> Law | Distribution:
    return fitted(law) if isinstance(law, Distribution) and law.first > 0 and phases(law) is None else law


def refuses(network: Network) -> str | None:
    if network.limits or network.choices or np.isfinite(network.capacity).any():
        return "the model has pools, regions, capacity limits or state-dependent routing, with which this method was not tested"
    if any(d.startswith("priority") for d in network.discipline):
        return "a station serves by priority, and this method was not tested with priorities"
    taken = nearby(network)
    if taken is None:
        return "a time has no finite variance, or `ctmc` can solve the model without this approximation"
    return ctmc.refuses(taken)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    if (cost_s := sum(map(_cost_s, networks))) > wanted.budget_s * len(networks):
        value = f"it takes about {cost_s:.2g} s and {wanted.budget_s * len(networks):g} s are allowed"
        remedy = f"request it by name, give an exact_time_limit_s above {cost_s / len(networks):.2g}, or simulate"
        raise MethodRefused(value, "method random-order", remedy)
    solution = ctmc.run([nearby(n) or n for n in networks], replace(wanted, quantiles=()))
    names = solution.status or ["ok"] * len(networks)
    solution.status = ["approximate" if name == "ok" else name for name in names]
    return solution


def _cost_s(network: Network) -> float:
    return ctmc.METHOD.cost_s(nearby(network) or network)


METHOD = Method(
    name="random-order",
    title="Markov chain with service in random order and fitted phases",
    exact=False,
    sources=(
        "H. C. Tijms: A First Course in Stochastic Models (2003), pp. 441-446 (phases)",
        "F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios: J. ACM 22(2), 1975, pp. 248-260 (disciplines)",
    ),
    refuses=refuses,
    run=run,
    cost_s=_cost_s,
    memory_bytes=lambda n: ctmc.METHOD.memory_bytes(nearby(n) or n),
    rank=5,
    known_errors=(0.009, 0.15),
)
