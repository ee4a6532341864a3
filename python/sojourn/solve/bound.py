"""What every answer must satisfy before it leaves: 0 <= X <= min(N/(Z+D), m/D), sum of mean numbers = N, Little's law.

Source: Lazowska et al., Quantitative System Performance (1984), chapters 3 and 5 (pp. 72-81).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.errors import SolverError
from sojourn.model.network import Network
from sojourn.solve.solution import Solution

CLOSE = 1e-6


def verify(networks: Sequence[Network], solution: Solution, method: str) -> None:
    """Raises SolverError, naming the law and by how much it is broken. Points whose status is not ok are passed over."""
    n = networks[0]
    for p, network in enumerate(networks):
        if solution.status and solution.status[p] not in ("ok", "approximate"):
            continue
        x, q = solution.throughput[p], solution.queue_length[p]
        if not (np.all(np.isfinite(x)) and np.all(x >= 0) and np.all(q >= -CLOSE)):
            _broken(
                method, f"throughput {x.tolist()}, queue lengths {q.tolist()}", "numbers of customers are not negative"
            )
        slack = 0.05 if solution.status and solution.status[p] == "approximate" else CLOSE
        held_back = 0.0 if solution.outside is None else solution.outside[p]
        _population(network, x, q.sum(axis=0) + held_back, method, slack)
        _capacity(network, x, method, slack)
    del n


def _population(network: Network, x: np.ndarray, q: np.ndarray, method: str, slack: float) -> None:
    for number in set(network.chain[network.closed].tolist()):
        own = network.chain == number
        there = q[own].sum() + (x * network.think_s)[own].sum()
        wanted = float(network.population[own].sum())
        if abs(there - wanted) > slack * max(wanted, 1.0):
            _broken(method, f"{there:.9g} customers where {wanted:.9g} are", "numbers add up to the population")


def _capacity(network: Network, x: np.ndarray, method: str, slack: float) -> None:
    chain = x @ (network.chain[:, None] == network.chain[None, :])
    most = np.array([network.speed(k, _most(network, k))[-1] for k in range(len(network.stations))])
    busy = (network.demands_s * chain).sum(axis=1) / most
    finite = np.array([kind in ("queue", "load_dependent") for kind in network.kind])
    if finite.any() and np.isinf(network.capacity[finite]).all() and busy[finite].max() > 1 + slack:
        worst = int(np.argmax(np.where(finite, busy, 0)))
        _broken(method, f"station {network.stations[worst]} busy {busy[worst]:.9g} times", "X <= m/D")


def _most(network: Network, k: int) -> int:
    """Number present at which a station has reached its full speed."""
    return len(network.rates[k]) if k in network.rates else int(network.servers[k])


def _broken(method: str, found: str, law: str) -> None:
    raise SolverError(f"{found}, and {law}", f"method {method}", "use another method, and report this model to us")
