"""Whom the methods of closed and mixed networks refuse, in words."""

from __future__ import annotations

import numpy as np

from sojourn.model.network_arrays import Network
from sojourn.solve.product_form import product_form, structure

NO_CLOSED = "this method needs a closed class, but the model has none"


def closed_chains(network: Network) -> int:
    """Chains of closed classes (classes that switch into each other are one)."""
    return len(set(network.chain[network.closed].tolist()))


def some_closed(network: Network) -> str | None:
    return None if network.closed.any() else NO_CLOSED


def exactly(network: Network) -> str | None:
    """Closed or mixed, and of product form."""
    return some_closed(network) or product_form(network)


def one_speed(network: Network) -> str | None:
    """Single servers and delays only."""
    for name, kind, servers in zip(network.stations, network.kind, network.servers.tolist(), strict=True):
        if kind == "load_dependent":
            return f"the station `{name}` is load-dependent, which this method does not support"
        if kind == "queue" and servers != 1:
            return f"the station `{name}` has {servers} servers, but this method needs single servers"
    return None


def single_servers(network: Network) -> str | None:
    """Closed or mixed, of product form, single servers and delays only."""
    return some_closed(network) or one_speed(network) or product_form(network)


def roughly(network: Network) -> str | None:
    """For approximations in the product-form way: queues of any number of servers, and delays."""
    reason = some_closed(network) or product_form(network)
    return reason or next(
        (
            f"the station `{s}` is load-dependent, which this method does not support"
            for s, k in zip(network.stations, network.kind, strict=True)
            if k == "load_dependent"
        ),
        None,
    )


def roughly_fcfs(network: Network) -> str | None:
    """For the approximation of general service at queues in the order of arrival: closed classes only."""
    if not network.closed.all():
        return (
            f"the class `{network.classes[int(np.argmin(network.closed))]}` is open, but this method needs closed classes only"
            if network.closed.any()
            else NO_CLOSED
        )
    reason = structure(network)
    if reason:
        return reason
    for k, (name, kind, discipline) in enumerate(zip(network.stations, network.kind, network.discipline, strict=True)):
        if kind == "load_dependent":
            return f"the station `{name}` is load-dependent, which this method does not support"
        there = network.visits[k] > 0
        if discipline.startswith("priority") and len(set(network.priority[there].tolist())) > 1:
            return f"the station `{name}` serves by priority, which this method does not support"
        if not np.isfinite(network.scv[k, there]).all():
            return f"a service time at the station `{name}` has no finite variance"
    return None


def customers(network: Network) -> list[int]:
    """Population of each closed chain that has customers."""
    numbers = [int(network.population[network.chain == c].sum()) for c in set(network.chain[network.closed].tolist())]
    return sorted((n for n in numbers if n > 0), reverse=True)


def states(network: Network) -> float:
    """How many vectors of populations there are from 0 to that of the network."""
    return float(np.prod([n + 1.0 for n in customers(network)])) if customers(network) else 1.0
