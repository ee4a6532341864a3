"""What a station of kind multicore is asked for, at many points at once, and the rate at which it has no time left.

Letters and laws: `solve.two_class`. A sweep changes the station in `Network.hosts`, and each point has numbers of its own there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import HOSTS, Points, as_points
from sojourn.solve.two_class import arguments
from sojourn.solve.two_class_equations import TwoClassLoad, at_its_rate, saturation

TIMES = ("client_s", "handoff_s", "crossing_s", "interrupt_scv")  # of a station, as `arguments` has them


def loads(networks: Sequence[Network], k: int) -> list[tuple[Points, TwoClassLoad]]:
    """The points of station `k` that the laws take in one call: one capacity and one rule for p; p itself may differ."""
    points = as_points(networks)
    given = {
        name: points.part(HOSTS, k, name) for name in ("p", "capacity", "interrupt_s", "cores", "nics", "saved", *TIMES)
    }
    rules = [p if isinstance(p, str) else "" for p in given["p"]] if given["p"].dtype == object else [""] * len(points)
    rate = (points.column("visits")[:, k] * points.column("rate_per_s")).sum(axis=1)
    page, scv = points.column("service_s")[:, k].max(axis=1), points.by_base(lambda n: _scv(n, k))
    variant, found = networks[0].hosts[k].variant, []
    for capacity, rule in dict.fromkeys(zip(given["capacity"].tolist(), rules, strict=True)):
        at = np.flatnonzero((given["capacity"] == capacity) & (np.array(rules) == rule))
        own = {name: given[name][at].astype(float) for name in ("interrupt_s", "cores", "nics", *TIMES)}
        p = None if rule else given["p"][at].astype(float)
        x = arguments(
            rate[at], page_s=page[at], p=p, p_rule=rule or "uniform", capacity=int(capacity), page_scv=scv[at], **own,
        )  # fmt: skip
        saved = given["saved"][at].astype(float)
        found.append((at, at_its_rate(variant, x, saved) if saved.any() else x))
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
