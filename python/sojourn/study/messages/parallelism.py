"""How much the database does at once: completions a second with 1, 2, … requests in it, for a number of connections.

Three models of the same thing, each with `rates(connections)`, the rates of a load-dependent station:

document   the rule of "Analytical Queuing Model for Telesto" (2013), section 1.1.4, kept as it is: n/S with n present, up
           to an order of parallelism m(c) for c connections, m/S from there. Its defects: m falls from 15 to 14.4
           at c = 16, so one connection more costs 4 % of the throughput; and m(c) is no whole number above 15, so that a
           server is counted that is there for a part. Beyond 25 it is constant: it cannot show a decline.
measured   the service curve: throughput measured with 1, 2, 4, … requests in the database, between them by a monotone
           cubic (F. N. Fritsch, R. E. Carlson, SIAM J. Numer. Anal. 17(2), 1980), beyond the largest as there.
usl        the universal scalability law fitted to that curve (`sojourn.fit.usl`): also beyond what was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
from scipy.interpolate import PchipInterpolator

from sojourn.errors import FitError
from sojourn.fit.usl import Scalability, fit_usl

MEASURED_TO, MOST_ORDER = 25, 22.5


class Parallelism(Protocol):
    """`name` says which model it is."""

    name: ClassVar[str]

    def rates(self, connections: int) -> tuple[float, ...]:
        """Completions/s with 1, 2, … requests at the database; the last holds for more. `connections` >= 1."""


def order_of_parallelism(connections: int) -> float:
    """The Telesto report's m(c): c, 0.9 c above 15, 22.5 above 25."""
    if connections <= 15:
        return float(connections)
    return 0.9 * connections if connections <= MEASURED_TO else MOST_ORDER


def parallel(order: float, service_s: float) -> tuple[float, ...]:
    """n/S up to the order, which need not be whole: the Telesto report's section 1.3.1."""
    return tuple(min(n, order) / service_s for n in range(1, int(order) + 2))


@dataclass(frozen=True)
class DocumentRule:
    """`service_s`: the mean time in the database at the reference run, as the Telesto report takes it."""

    service_s: float
    name: ClassVar[str] = "document"

    def rates(self, connections: int) -> tuple[float, ...]:
        return parallel(order_of_parallelism(connections), self.service_s)


@dataclass(frozen=True)
class ServiceCurve:
    """`rates_per_s` measured with `sizes` requests in the database (> 0, ascending, not whole where the mean was not)."""

    sizes: tuple[float, ...]
    rates_per_s: tuple[float, ...]
    name: ClassVar[str] = "measured"

    def __post_init__(self) -> None:
        n, x = np.array(self.sizes), np.array(self.rates_per_s)
        if n.shape != x.shape or not len(n) or np.any(np.diff(n, prepend=0.0) <= 0) or np.any(~(x > 0)):
            remedy = "give ascending sizes above 0 and as many rates above 0"
            raise FitError(f"sizes {self.sizes}, rates {self.rates_per_s}", "service curve", remedy)

    @cached_property
    def _between(self) -> PchipInterpolator:
        return PchipInterpolator((0.0, *self.sizes), (0.0, *self.rates_per_s))

    def rates(self, connections: int) -> tuple[float, ...]:
        n = np.minimum(np.arange(1, connections + 1), self.sizes[-1])
        return tuple(self._between(n).tolist())


@dataclass(frozen=True)
class ScalabilityLaw:
    """The fitted law."""

    law: Scalability
    name: ClassVar[str] = "usl"

    def rates(self, connections: int) -> tuple[float, ...]:
        return tuple(self.law(np.arange(1, connections + 1)).tolist())

    @classmethod
    def fit(cls, sizes: Sequence[float], rates_per_s: Sequence[float]) -> ScalabilityLaw:
        """From the measured curve, repetitions welcome. FitError with fewer than three different sizes."""
        return cls(fit_usl(sizes, rates_per_s))
