"""How many states a network has, counted without visiting them; an upper bound, and exact for most small models.

The states of each station with given numbers of each chain's customers are counted by their form (a set, or a word where
order matters) and the stations joined by convolution, as normalising constants are (J. P. Buzen, Comm. ACM 16(9), 1973).
"""

from __future__ import annotations

import math
from functools import lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.markov.network_spec import rule
from sojourn.solve.markov.phase_type import arrivals, phases

MOST_STATES = 2_000_000
FEW_OPEN = 4  # open customers that any answer has to count
_MOST_LATTICE = 200_000
LONG = 2000  # from here on a transform is quicker


def fewest(network: Network) -> float:
    """A lower bound in microseconds: the ways to spread each closed chain, and some customers of one open chain, over stations that
    have room for all of it."""
    limited = {k for limit in network.limits for k in limit.stations}
    roomy = [k for k in range(len(network.stations)) if np.isinf(network.capacity[k]) and k not in limited]
    used = network.visits[roomy] > 0
    found = 1.0
    for chain in set(network.chain[network.closed].tolist()):
        own = network.chain == chain
        places = int(used[:, own].any(axis=1).sum()) + int((network.think_s[own] > 0).any())
        found *= float(
            min(math.comb(int(network.population[own].sum()) + max(places, 1) - 1, max(places, 1) - 1), 10**300)
        )
    some_open = [
        int(used[:, network.chain == chain].any(axis=1).sum()) for chain in set(network.chain[~network.closed].tolist())
    ]
    ways = [math.comb(max(some_open, default=0) + FEW_OPEN, FEW_OPEN)]
    if some_open:
        opened: NDArray[np.bool_] = np.asarray((network.visits[:, ~network.closed] > 0).any(axis=1))
        inside = [(int(opened[list(limit.stations)].sum()), min(limit.size, FEW_OPEN)) for limit in network.limits]
        ways += [math.comb(places + some, some) for places, some in inside]
    return found * float(max(ways))


@lru_cache(maxsize=64)
def states(network: Network, most_open: int = 0) -> float:
    """About how many states, with at most `most_open` open customers at once."""
    chains = sorted(set(network.chain.tolist()))
    shape = tuple(_most(network, chain, most_open) + 1 for chain in chains)
    lattice = math.prod(shape)
    if lattice > _MOST_LATTICE or not np.isfinite(lattice):
        return float(lattice)
    grid = np.stack(np.meshgrid(*(np.arange(s) for s in shape), indexing="ij")).astype(float)
    stations = {k: _station(network, k, chains, grid) for k in range(len(network.stations))}
    total = _outside(network, chains, grid)
    for limit in network.limits:
        own = [stations.pop(k) for k in limit.stations if k in stations]
        inside = _joined(own, grid)
        full = np.where(grid.sum(axis=0) == limit.size, inside, 0.0)
        words = np.where(grid.sum(axis=0) > 0, _words(np.array([_classes(network, c) for c in chains]), grid), 0.0)
        within = np.where(grid.sum(axis=0) <= limit.size, inside, 0.0)
        total = _join(total, within + (0.0 if limit.on_full == "lose" else _join(full, words)))
    total = _joined([total, *stations.values()], grid)
    sources = [arrivals(a) for a in network.arrivals if a is not None]
    closed = [i for i, chain in enumerate(chains) if network.closed[network.chain == chain].all()]
    free = [i for i in range(len(chains)) if i not in closed]
    kept = grid[free].sum(axis=0) <= most_open
    for i in closed:
        kept &= grid[i] == shape[i] - 1
    return float(total[kept].sum()) * math.prod(len(s.silent) for s in sources if s is not None)


def _most(network: Network, chain: int, most_open: int) -> int:
    own = network.population[network.chain == chain]
    return most_open if (own < 0).any() else int(own.sum())


def _classes(network: Network, chain: int, k: int | None = None) -> int:
    own = network.chain == chain
    return int((own if k is None else own & (network.visits[k] > 0)).sum())


def _types(network: Network, chain: int, k: int) -> int:
    laws = [network.service[k][c] for c in np.flatnonzero((network.chain == chain) & (network.visits[k] > 0))]
    return sum(len(p.start) for law in laws if (p := phases(law)) is not None)


def _station(network: Network, k: int, chains: list[int], grid: Array) -> Array:
    classes = np.array([_classes(network, c, k) for c in chains])
    types = np.array([_types(network, c, k) for c in chains])
    kind, n = rule(network, k), grid.sum(axis=0)
    if kind in ("delay", "shared"):
        found = _sets(types, grid)
    elif kind in ("last", "preemptive"):
        alone = kind == "preemptive" and len(set(network.priority[network.visits[k] > 0].tolist())) == classes.sum()
        found = _sets(types, grid) if alone and (types == classes).all() else _words(types, grid)
    elif kind == "fork_join":
        branches = int(getattr(network.model.station(network.stations[k]), "branches", 2))
        found = _words(classes, grid) * _choose(n + branches - 1, branches - 1)
    else:
        sorted_line = kind == "random" or (
            network.discipline[k] == "priority" and len(set(network.priority.tolist())) == len(network.classes)
        )
        waiting = _sets(classes, grid) if sorted_line else _words(classes, grid)
        serving, m = _sets(types, grid), network.servers[k]
        found = np.where(n < m, serving, 0.0) + _join(np.where(n == m, serving, 0.0), waiting)
    return np.where(n <= network.capacity[k], found, 0.0)


def _outside(network: Network, chains: list[int], grid: Array) -> Array:
    """Closed chains think there; nobody of an open one is there."""
    found = np.ones(grid.shape[1:])
    for i, chain in enumerate(chains):
        own = np.flatnonzero(network.chain == chain)
        if not network.closed[own[0]]:
            found = found * (grid[i] == 0)
            continue
        laws = [phases(network.think[c]) for c in own if network.think_s[c] > 0]
        types = np.zeros(len(chains), int)
        types[i] = sum(len(p.start) for p in laws if p is not None)
        rest = np.moveaxis(grid, 0, -1).copy()
        rest[..., [j for j in range(len(chains)) if j != i]] = 0
        found = found * _sets(types, np.moveaxis(rest, -1, 0))
    return found


def _sets(types: Array, grid: Array) -> Array:
    """Ways to spread n customers over their types."""
    found = np.ones(grid.shape[1:])
    for t, n in zip(types, grid, strict=True):
        found = found * (np.where(n == 0, 1.0, 0.0) if t == 0 else _choose(n + t - 1, t - 1))
    return found


def _words(types: Array, grid: Array) -> Array:
    """Orders of n customers, each of one of its types."""
    from scipy.special import gammaln  # slow to import

    logs = gammaln(grid.sum(axis=0) + 1)
    for t, n in zip(types, grid, strict=True):
        logs = logs - gammaln(n + 1) + (np.where(n == 0, 0.0, -np.inf) if t == 0 else n * np.log(t))
    return np.exp(np.minimum(logs, 600.0))


def _choose(n: Array, k: Array | float) -> Array:
    from scipy.special import gammaln  # slow to import

    return np.exp(np.minimum(gammaln(n + 1) - gammaln(np.asarray(k) + 1) - gammaln(n - k + 1), 600.0))


def _joined(parts: list[Array], grid: Array) -> Array:
    if not parts:
        found = np.zeros(grid.shape[1:])
        found[(0,) * found.ndim] = 1.0
        return found
    return reduce(_join, parts)


def _join(a: Array, b: Array) -> Array:
    """Convolution, cut to the lattice; capped, so that a hopeless model says so instead of overflowing."""
    a, b = np.minimum(a, 1e100), np.minimum(b, 1e100)
    if a.ndim == 1 and a.size < LONG:
        whole = np.convolve(a, b)
    elif a.ndim == 1:
        whole = np.fft.irfft(np.fft.rfft(a, 2 * a.size) * np.fft.rfft(b, 2 * a.size), 2 * a.size)
    else:
        from scipy.signal import convolve  # a second to import, for models of several classes only

        whole = convolve(a, b)
    return np.clip(whole[tuple(slice(s) for s in a.shape)], 0.0, 1e100)
