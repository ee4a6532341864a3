"""What all methods for one station share: whom they refuse, what they read from a network, quantiles of a tail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sojourn.model.distribution_registry import Distribution, Exponential
from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import as_points, outline, stacked

ANY = ("fcfs", "ps", "lcfs_pr", "siro", "priority", "priority_preemptive")
BLIND = ("fcfs", "ps", "lcfs_pr", "siro")  # the number present does not depend on which of these it is
SAME = 1e-12  # relative: two means that differ by rounding are one


def refusal(
    n: Network,
    *,
    kind: str = "queue",
    disciplines: Sequence[str] = BLIND,
    single_server: bool = False,
    exponential: bool = False,
    one_service: bool = False,
    one_class: bool = False,
    poisson: bool = True,
    limited: bool = False,
    closed: bool = False,
    timed: bool = False,
    breaks: bool = False,
) -> str | None:
    """Why a method that needs all this does not apply to `n`; None where it does."""
    reason = _shape(n, kind, disciplines, closed, breaks)
    if reason:
        return reason
    name, services = n.stations[0], n.service[0]
    if single_server and n.servers[0] != 1:
        return f"the station `{name}` has {n.servers[0]} servers, but this method needs exactly one"
    if np.isfinite(n.capacity[0]) != limited:
        need = "needs one" if limited else "allows none"
        return f"the station `{name}` has {'no' if limited else 'a'} capacity limit, but this method {need}"
    if limited and n.on_full[0] != "lose":
        return f"the station `{name}` blocks when it is full, but this method needs on_full = lose"
    if one_class and len(n.classes) != 1:
        return f"the model has {len(n.classes)} classes, but this method needs exactly one"
    if exponential and not all(isinstance(d, Exponential) for d in services):
        return f"the service time at the station `{name}` is not exponential"
    if one_service and np.ptp(n.service_s[0]) > SAME * n.service_s[0].max():
        return f"the classes have different service times at the station `{name}`"
    if timed and not n.service_s[0].any():
        return f"service at the station `{name}` takes no time"
    if poisson and not all(a is None or isinstance(a, Exponential) for a in n.arrivals):
        return "the arrivals are not Poisson"
    return None


def _shape(n: Network, kind: str, disciplines: Sequence[str], closed: bool, breaks: bool) -> str | None:
    if len(n.stations) != 1:
        return f"the model has {len(n.stations)} stations, but this method needs exactly one"
    station = n.model.station(n.stations[0])
    if n.kind[0] != kind:
        return (
            f"this method needs a station of kind `{kind}`, but the station `{n.stations[0]}` is of kind `{n.kind[0]}`"
        )
    if n.closed.any() != closed or n.closed.all() != closed:
        asked, other = ("closed", "an open") if closed else ("open", "a closed")
        return f"this method needs {asked} classes only, but the model has {other} class"
    if not n.at_load:
        return "a time depends on how busy its station is"
    if n.limits or n.switches or n.choices:
        return "the model has a pool, a region, class switching or state-dependent routing"
    if np.abs(n.visits - 1).max() > SAME or any(d is None for d in n.service[0]):
        return f"the station `{n.stations[0]}` is not visited exactly once a pass by every class"
    broken = getattr(station, "breakdowns", None) is not None
    if getattr(station, "server_schedule", ()) or (broken and not breaks):
        return f"the number of servers of the station `{n.stations[0]}` changes over time"
    if breaks and not broken:
        return f"the station `{n.stations[0]}` has no breakdowns, but this method needs breakdowns"
    if n.discipline[0] not in disciplines:
        *others, last = [f"`{d}`" for d in disciplines]
        needed = f"{', '.join(others)} or {last}" if others else last
        has = f"the station `{n.stations[0]}` has `{n.discipline[0]}`"
        return f"this method needs the discipline {needed}, but {has}"
    return None


def sum_over_classes(rate: Array, moment: Array) -> Array:
    """Of rate x moment over classes; a moment that is infinite does not count where nobody comes."""
    return np.asarray(np.where(rate > 0, rate * np.where(rate > 0, moment, 0.0), 0.0).sum(axis=1))


@dataclass(frozen=True)
class StationArrays:
    """P networks of one station with C open classes, as arrays."""

    networks: Sequence[Network]

    @cached_property
    def rate(self) -> Array:
        """P x C, 1/s."""
        return np.asarray(stacked(self.networks, "rate_per_s"))

    @cached_property
    def service_s(self) -> Array:
        """P x C, means."""
        return np.asarray(stacked(self.networks, "service_s")[:, 0])

    @cached_property
    def second(self) -> Array:
        """P x C, second raw moment of service, s^2."""
        return np.array([[d.second for d in row] for row in self.services])

    @cached_property
    def third(self) -> Array:
        """P x C, third raw moment of service, s^3."""
        return np.array([[d.third for d in row] for row in self.services])

    def number_variance(self, response_s: Array, response_variance: Array) -> Array:
        """P x C, of Poisson arrivals in the responses of their class; 0 where nobody comes, however long a service may last."""
        with np.errstate(invalid="ignore"):
            found = self.rate * response_s + self.rate**2 * response_variance
        return np.where(self.rate > 0, found, 0.0)

    @cached_property
    def services(self) -> list[tuple[Distribution, ...]]:
        """P tuples of C service time distributions."""
        return [tuple(d for d in laws if d is not None) for laws in as_points(self.networks).laws(0)]

    @cached_property
    def servers(self) -> Array:
        """P."""
        return np.asarray(stacked(self.networks, "servers")[:, 0], float)

    @cached_property
    def total(self) -> Array:
        """P, arrivals of all classes, 1/s."""
        return self.rate.sum(axis=1)

    @cached_property
    def share(self) -> Array:
        """P x C, of the arrivals; even where nobody arrives."""
        with np.errstate(invalid="ignore"):
            return np.where(self.total[:, None] > 0, self.rate / self.total[:, None], 1 / self.rate.shape[1])

    @cached_property
    def mean_s(self) -> Array:
        """P, mean service time over all arrivals."""
        return (self.share * self.service_s).sum(axis=1)

    @cached_property
    def load(self) -> Array:
        """P, utilisation of one server if all could be served; in the same order of operations as the formulas have it, so
        that all agree on which side of 1 it is."""
        return self.total * self.mean_s / self.servers

    @property
    def fcfs(self) -> bool:
        return outline(self.networks).discipline[0] == "fcfs"


Tail = Callable[..., Array]


def quantile(tail: Tail, q: ArrayLike, start: Array, *args: Any) -> Array:
    """x with P(X > x) = 1 - q, P values (q is one, or P); 0 where P(X > 0) <= 1 - q, NaN where `start` is.

    `tail(x, *args)` is P(X > x), elementwise with `args` of P values; `start` > 0 is of the order of X. Chandrupatla's
    method on the logarithm of the tail, which is nearly a straight line.
    """
    start, level, *given = np.broadcast_arrays(start, np.asarray(q, float), *args)
    found = np.where(np.isfinite(start), 0.0, np.nan)
    with np.errstate(all="ignore"):
        open_ = np.flatnonzero(np.isfinite(start) & (tail(np.zeros(len(start)), *given) > 1 - level))
    if not len(open_):
        return found
    from scipy.optimize import elementwise

    own_args = [a[open_] for a in (level, *given)]

    def gap(x: Array, level: Array, *own: Any) -> Array:
        with np.errstate(all="ignore"):
            return np.log(np.maximum(tail(x, *own), 1e-300)) - np.log1p(-level)

    high = _above(gap, start[open_].astype(float), own_args)
    root = elementwise.find_root(gap, (np.zeros(len(open_)), high), args=tuple(own_args), maxiter=200)
    found[open_] = root.x
    return found


def _above(gap: Callable[..., Array], high: Array, args: Sequence[Any]) -> Array:
    """Doubled until the tail is below what is asked."""
    for _ in range(200):
        short = gap(high, *args) > 0
        if not short.any():
            break
        high = np.where(short, 2 * high, high)
    return high
