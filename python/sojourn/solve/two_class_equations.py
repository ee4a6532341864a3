"""The numbers of the two-class model, array in, arrays out; `two_class` names them and says when they hold.

All arguments broadcast against each other (rates against bootstrap samples, say); times in seconds, rates in 1/s.
Sources, letters and limits: `two_class`. S = `interrupt_s` = 1/mu1, A = `page_s` = 1/mu2, m = `nics`, n = `cores`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sojourn.errors import InputError
from sojourn.solve import interrupt_core

Array = NDArray[np.float64]
Results = dict[str, Array]


@dataclass(frozen=True)
class TwoClassLoad:
    """Broadcast arguments: one entry per point that is solved. `longer`: what `interrupt_s` and `page_s` are at this rate over what they
    are at the saturation rate, 1 or more."""

    rate: Array
    interrupt_s: Array
    page_s: Array
    p: Array
    cores: Array
    nics: Array
    handoff_s: Array
    crossing_s: Array
    client_s: Array
    interrupt_scv: Array
    page_scv: Array
    longer: Array
    capacity: int

    @property
    def per_core(self) -> Array:
        """Arrivals per leading core, 1/s."""
        return self.rate / self.nics

    @property
    def trailing(self) -> Array:
        """Number of trailing cores."""
        return self.cores - self.nics

    @property
    def high_s(self) -> Array:
        """Interrupt and client work of a request, s."""
        return self.interrupt_s + self.client_s


def load(capacity: int, **arguments: ArrayLike) -> TwoClassLoad:
    """Broadcasts everything but the capacity."""
    arrays = np.broadcast_arrays(*(np.asarray(value, float) for value in arguments.values()))
    fields: dict[str, Any] = dict(zip(arguments, arrays, strict=True))
    return TwoClassLoad(capacity=capacity, **fields)


def saturation(variant: str, x: TwoClassLoad) -> tuple[Array, Array]:
    """(leading, trailing): the rates in 1/s at which each kind of core has no time left; infinite where unused."""
    high_s, page_s = x.interrupt_s / x.longer + x.client_s, x.page_s / x.longer
    with np.errstate(divide="ignore"):
        pages = x.p * page_s
        work = np.maximum(high_s, pages) if variant == "paper" else high_s + pages
        away = np.where(x.trailing > 0, (1 - x.p) * page_s, 0.0)
        return x.nics / work, np.where(away > 0, x.trailing / np.where(away > 0, away, 1.0), np.inf)


def at_its_rate(variant: str, x: TwoClassLoad, saved: Array) -> TwoClassLoad:
    """With times that are longer at low rates: 1 + saved (1 - r)² times those at the saturation rate, which `x` has; r: rate over that.
    One soft interrupt stands for more packets, and more is found in caches, as more comes. Ours."""
    left = 1 - np.minimum(x.rate / np.minimum(*saturation(variant, x)), 1.0)
    longer = 1 + saved * left**2
    return replace(x, interrupt_s=x.interrupt_s * longer, page_s=x.page_s * longer, longer=longer)


def chain(x: TwoClassLoad, variant: str) -> Results:
    """Variants `paper` and `shared`: a chain with room for N jobs per leading core, trailing cores M/M/1-PS."""
    kernel: Callable[..., interrupt_core.InterruptCore] = (
        interrupt_core.tandem if variant == "paper" else interrupt_core.shared
    )
    alpha, beta = x.per_core * x.high_s, x.per_core * x.p * x.page_s
    core = kernel(alpha, beta, x.capacity)
    carried = x.rate * core.carried
    away = np.where(x.trailing > 0, carried * (1 - x.p), 0.0)
    busy = _per_core(away * x.page_s, x.trailing)
    with np.errstate(divide="ignore", invalid="ignore"):
        waiting = x.trailing * np.where(busy < 1, busy / (1 - busy), np.inf)
    behind = np.where(away > 0, waiting, 0.0)
    lead = x.nics * core.mean_jobs
    done = carried - away + away / np.maximum(busy, 1.0)
    results = _common(x, carried, away, lead, behind, done)
    results |= {"loss": core.loss, "empty": core.empty, "printed_utilisation": _printed(x, alpha, beta, core)}
    if variant == "shared":
        del results["printed_utilisation"]
    return results


def _printed(x: TwoClassLoad, alpha: Array, beta: Array, core: interrupt_core.InterruptCore) -> Array:
    """Prop. 3, eq. (5), as printed: U = lambda E(T_s) on one leading core."""
    # p mu1/(lambda + p mu1) = p/(alpha + p); alpha + p > 0 unless nothing is served at all
    stays = x.p / np.where(alpha + x.p > 0, alpha + x.p, 1.0)
    free = core.no_interrupt
    service = x.high_s * free + (1 - free) * (x.high_s * (1 - stays) + x.page_s * stays)
    return np.asarray(x.per_core * service)


def priority(x: TwoClassLoad) -> Results:
    """Variant `priority`: X = S + client preempts pages, unbounded queues; derivation in `two_class`."""
    rate, high = x.per_core, x.high_s
    high2 = high**2 + x.interrupt_scv * x.interrupt_s**2
    page2 = (1 + x.page_scv) * x.page_s**2
    both2 = high2 + x.p * (2 * high * x.page_s + page2)
    rho_h, rho = rate * high, rate * (high + x.p * x.page_s)
    with np.errstate(divide="ignore", invalid="ignore"):
        workload = np.where(rho < 1, rate * both2 / (2 * (1 - rho)), np.inf)
        stay = (workload + high + x.page_s) / (1 - rho_h)
        interrupt = np.where(rho_h < 1, rate * high2 / (2 * (1 - rho_h)), np.inf) + high
        behind_s = behind_time(x, rho_h, high2 / np.where(high > 0, high, 1.0) ** 2 - 1)
    with np.errstate(invalid="ignore"):
        away = np.where(x.trailing > 0, (1 - x.p) * x.rate, 0.0)
        stayed = np.where(x.p > 0, x.p * x.rate * stay, 0.0)
        lead = stayed + np.where(away > 0, away * interrupt, 0.0)
        behind = np.where(away > 0, away * behind_s, 0.0)
    results = _common(x, x.rate, away, lead, behind, x.rate)
    return results | {"loss": np.zeros_like(x.rate)}


def behind_time(x: TwoClassLoad, rho_h: Array, scv: Array) -> Array:
    """Mean time of a page at a trailing core, s: QNA departures, split, superposition, Kraemer-Langenbach-Belz wait."""
    share = _per_core(1 - x.p, x.trailing)
    ca2 = 1 + rho_h**2 * (scv - 1)
    ca2 = 1 - share + share * ca2
    rate = x.rate * share
    rho = rate * x.page_s
    weight = 1 / (1 + 4 * (1 - np.minimum(rho, 1.0)) ** 2 * (x.nics - 1))
    ca2 = weight * ca2 + 1 - weight
    both = ca2 + x.page_scv
    smooth = np.where((ca2 < 1) & (rho > 0) & (both > 0), 2 * (1 - rho) * (1 - ca2) ** 2 / (3 * rho * both), 0.0)
    wait = x.page_s * rho * both * np.exp(-smooth) / (2 * (1 - rho))
    return np.where(rho < 1, wait + x.page_s, np.inf)


def _common(x: TwoClassLoad, carried: Array, away: Array, lead: Array, behind: Array, done: Array) -> Results:
    """Stations and system from the mean numbers present; Little's law everywhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        lead_s, behind_s = lead / carried, np.where(away > 0, behind / away, 0.0)
        delay = x.handoff_s + np.where(away > 0, away / carried, 0.0) * x.crossing_s
    response = lead_s + np.where(away > 0, behind / carried, 0.0) + delay
    return {
        "carried": carried,
        "away": away,
        "throughput": done,
        "response": response,
        "lead_jobs": lead,
        "behind_jobs": behind,
        "lead_s": lead_s,
        "behind_s": behind_s,
        "lead_service": x.high_s + x.p * x.page_s,
        "lead_busy": carried / x.nics * (x.high_s + x.p * x.page_s),
        "softirq": carried / x.nics * x.interrupt_s,
        "behind_busy": _per_core(away * x.page_s, x.trailing),
        "handoff": delay,
    }


def _per_core(value: Array, number: Array) -> Array:
    return np.asarray(np.where(number > 0, value / np.where(number > 0, number, 1.0), 0.0))


def evaluate(variant: str, x: TwoClassLoad) -> Results:
    """The results of a variant plus `saturation`, `lead_saturation`; infinite where no stationary value exists."""
    if variant in ("paper", "shared"):
        results = chain(x, variant)
    elif variant == "priority":
        results = priority(x)
    else:
        raise InputError(repr(variant), "variant", f"use one of {', '.join(VARIANTS)}")
    lead, behind = saturation(variant, x)
    return results | {"lead_saturation": lead, "saturation": np.minimum(lead, behind)}


VARIANTS = ("paper", "shared", "priority")
