"""How far two exact answers may be apart, and the load of a model by its definition.

`ok` promises 1e-6. More is allowed where a reason can be given:

near saturation   a product that is rounded once moves 1 - rho by 1e-16, so a wait at load rho moves by 1e-16/(1 - rho),
                  and ten such roundings and a square are granted
a grid            quantiles of M/G/1 by transform on a grid say themselves that they are good to 1e-4; GI/G/1 on a grid says
                  3e-6 of means, 5e-5 of quantiles and 6e-5 of the probability of waiting
a cut             a chain of open customers says by which share its bound on them may change a number; twice that is
                  granted
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

import sojourn as sj
from agreement.rows import Key
from sojourn.model.components import Delay, LoadDependent, Pool, Queue

USUAL = 1e-6
GRID = 3e-4
GIG1 = 1e-5
CUT = re.compile(r"change any number by more than a share of ([0-9.e+-]+)")


def allowance(model: sj.Model, ours: sj.Metrics, theirs: sj.Metrics) -> Callable[[Key], float]:
    """The relative difference that is allowed, by row."""
    rho = load(model)
    spare = 1.0 if rho is None else max(1 - rho, 1e-15)
    near = max(USUAL, 4e-15 / spare)
    cut = max((float(found[1]) for m in (ours, theirs) if (found := CUT.search(m.message))), default=0.0)
    near = max(near, 2 * cut)
    grid = "mg1" in (ours.method, theirs.method) or "gig1" in (ours.method, theirs.method)
    if "gig1" in (ours.method, theirs.method):
        near = max(near, GIG1)

    def allowed(key: Key) -> float:
        if key.q is not None and grid:
            short = (
                near >= GIG1 and key.metric == "waiting_time_quantile"
            )  # just above 0, it is told to a share of the response
            return max(GRID * 4 if short else GRID, near)
        if key.metric == "waiting_probability" and near >= GIG1:
            return max(GRID, near)
        return near * (10 if "variance" in key.metric else 1)

    return allowed


def load(model: sj.Model) -> float | None:
    """Offered load of the busiest station by its definition, where every visit is served and waits only there; None
    where something else decides: room, limits, routes by state, forks."""
    odd = any(not isinstance(s, Queue | Delay | LoadDependent) or getattr(s, "capacity", None) for s in model.stations)
    routed = any(not hasattr(row, "items") for rows in model.routing.values() for row in rows.values())
    if odd or routed or model.regions or any(isinstance(s, Pool) for s in model.stations):
        return None
    found = 0.0
    n = model.network
    for k, station in enumerate(model.stations):
        if isinstance(station, Delay):
            continue
        if isinstance(station, LoadDependent):
            most = station.rates_per_s[-1] / station.rates_per_s[0]
        else:
            most = float(getattr(station, "servers", 1))
        busy = 0.0
        for c in np.flatnonzero(~n.closed):
            together = n.rate_per_s[n.same_chain[c]].sum()
            busy += float(together * n.visits[k, c] * n.service_s[k, c])
        found = max(found, busy / most)
    return found
