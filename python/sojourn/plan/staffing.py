"""Square-root staffing: how many servers a load of R erlangs needs, as a check of what was found by solving.

Source: Halfin and Whitt, Heavy-traffic limits for queues with many exponential servers, Operations Research 29 (1981), pp. 567-588,
Proposition 1: with m = R + beta sqrt(R) servers an arrival waits with probability 1/(1 + beta Phi(beta)/phi(beta)) as R grows.
Limits: one station, many servers, exponential service, a load that is known. Where the load itself is uncertain, room for that grows
with R and not with sqrt(R), and the rule gives too few (Bassamboo, Randhawa, Zeevi, Management Science 56 (2010), pp. 1668-1686).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

from sojourn.errors import InputError

Array = NDArray[np.float64]
FEW = 10.0  # erlangs; below, the limit is rough
LIMITS = "the rule is a limit for many servers at one station with a known load; with an uncertain load it gives too few servers"


def waiting_probability(beta: ArrayLike) -> Array:
    """P(an arrival waits) with R + beta sqrt(R) servers, beta > 0, as R grows."""
    b = np.asarray(beta, float)
    if not np.all(b > 0):
        raise InputError(b.tolist(), "beta", "give numbers above 0")
    log_phi = -(b**2) / 2 - math.log(math.sqrt(2 * math.pi))
    return np.asarray(1 / (1 + b * np.exp(log_ndtr(b) - log_phi)))


def servers_needed(erlangs: float, beta: float) -> int:
    """ceil(R + beta sqrt(R)), R > 0, at least one more than fits without room."""
    if not erlangs > 0:
        raise InputError(erlangs, "erlangs", "give an offered load above 0")
    return max(math.ceil(erlangs + beta * math.sqrt(erlangs) - 1e-9), math.floor(erlangs) + 1)


@dataclass(frozen=True)
class SquareRootCheck:
    """A station's servers beside the rule: offered load in erlangs, beta, and P(an arrival waits) by the limit."""

    station: str
    erlangs: float
    servers: int
    beta: float
    waits: float

    @staticmethod
    def of(station: str, erlangs: float, servers: int) -> SquareRootCheck:
        """`erlangs` > 0, `servers` > erlangs."""
        beta = (servers - erlangs) / math.sqrt(erlangs)
        return SquareRootCheck(station, erlangs, servers, beta, float(waiting_probability(beta)))

    def __str__(self) -> str:
        few = f"; under {FEW:g} erlangs it is rough" if self.erlangs < FEW else ""
        return (
            f"square-root staffing, {self.station}: {self.erlangs:.3g} erlangs on {self.servers} servers are R + "
            f"{self.beta:.2f} √R, by which {100 * self.waits:.0f} % of arrivals wait{few}; {LIMITS}"
        )
