"""What a station of kind multicore is asked for, at many points at once, and the rate at which it has no time left.

Letters and laws: `solve.two_class`. A sweep changes the station in `Network.hosts`, and each point has a station of its own there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.two_class import arguments
from sojourn.solve.two_class_equations import TwoClassLoad, saturation

TIMES = ("client_s", "handoff_s", "crossing_s", "interrupt_scv")  # of a station, as `arguments` has them
Points = np.ndarray  # indices into the networks


def loads(networks: Sequence[Network], k: int) -> list[tuple[Points, TwoClassLoad]]:
    """The points of station `k` that the laws take in one call: one capacity and one rule for p; p itself may differ."""
    stations = [n.hosts[k] for n in networks]
    by_kind: dict[tuple[int, str], list[int]] = {}
    for i, s in enumerate(stations):
        by_kind.setdefault((int(s.capacity), s.p if isinstance(s.p, str) else ""), []).append(i)
    rate = np.array([float(n.visits[k] @ n.rate_per_s) for n in networks])
    page = np.array([float(n.service_s[k].max()) for n in networks])
    scv = np.array([_scv(n, k) for n in networks])
    found = []
    for (capacity, rule), points in by_kind.items():
        own, at = [stations[i] for i in points], np.array(points)
        found.append((at, arguments(
            rate[at], interrupt_s=np.array([s.interrupt_s for s in own], float), page_s=page[at],
            p=None if rule else np.array([s.p for s in own], float), p_rule=rule or "uniform", capacity=capacity,
            cores=np.array([s.cores for s in own], float), nics=np.array([s.nics for s in own], float), page_scv=scv[at],
            **{name: np.array([getattr(s, name) for s in own], float) for name in TIMES},
        )))  # fmt: skip
    return found


def _scv(network: Network, k: int) -> float:
    """Of the page; 1, an exponential, where several classes have pages, which no method takes."""
    own = [d for d in network.service[k] if d is not None]
    return float(own[0].scv) if len(own) == 1 else 1.0


def saturation_rates(networks: Sequence[Network], k: int) -> Array:
    """P, visits a second of station `k` at which one kind of its cores has no time left."""
    found = np.full(len(networks), np.inf)
    variant = networks[0].hosts[k].variant
    for points, x in loads(networks, k):
        found[points] = np.minimum(*saturation(variant, x))
    return found
