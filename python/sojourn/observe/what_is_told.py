"""What hours of a service can tell of it, and what they cannot: said before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sojourn.observe.observed_windows import ObservedWindow
from sojourn.stats.rate_spread import rate_spread
from sojourn.units import per_second, percent

Array = NDArray[np.float64]
CONSTANT = (
    0.05  # relative standard deviation of the rate, beyond that of counts (Poisson), up to which it tells nothing
)
ALIKE = 0.1  # relative standard deviation of a proportion, beyond that of counts, up to which utilisation hardly separates two classes
CHANCE = 3.0  # standard deviations by which counts alone may move it
LOW = 0.3  # utilisation up to which a response time is at most 1/(1 - 0.3) = 1.43 service times (M/M/1)


def notes(windows: Sequence[ObservedWindow], users: Mapping[str, int]) -> list[str]:
    """Lines for the reader of an observation: the range of the load, and what does not follow from it."""
    rates = np.array([one.rate_per_s for one in windows])
    low, high = np.quantile(rates, [0.1, 0.9])
    found = [
        f"rate {per_second(float(low))} to {per_second(float(high))} in eight of ten windows, at most {per_second(float(rates.max()))}"
    ]
    found += _of_users(users, windows)
    if rate_spread(rates, windows[0].length_s) <= CONSTANT:
        found.append(
            "the rate is nearly constant: how response times grow with the load follows from the model alone, not from these hours"
        )
    for name in sorted({name for one in windows for name in one.busy}):
        share = np.array([one.busy[name] for one in windows if name in one.busy])
        found.append(f"{name} busy {percent(float(share.min()), 0)} to {percent(float(share.max()), 0)}{_low(share)}")
    if not any(one.busy for one in windows):
        found.append(
            "no resource was watched: only how response times grow with the load separates a demand from a delay"
        )
    return found + _alike(windows)


def _of_users(users: Mapping[str, int], windows: Sequence[ObservedWindow]) -> list[str]:
    if not users:
        return []
    said = ", ".join(f"{name} as by {count} users" for name, count in users.items())
    left = "" if len(users) == len(windows[0].classes) else "; the other classes do not"
    return [f"the load waits for its answers ({said}): fewer requests come while more are under way{left}"]


def _low(share: Array) -> str:
    return ": says little of how response times grow" if share.max() < LOW else ""


def _alike(windows: Sequence[ObservedWindow]) -> list[str]:
    """Pairs of classes that came in one proportion throughout. Utilisation is a sum of rates times demands without a constant part: it
    separates two demands by how their proportion moves, whether or not the rates go up and down together."""
    names = list(windows[0].classes)
    if len(windows) < 3:
        return []
    count = {name: np.array([one.classes[name].rate_per_s * one.length_s for one in windows]) for name in names}
    return [
        f"{name} and {other} came in nearly the same proportion throughout: utilisation tells the sum of their demands, only response "
        "times separate them"
        for i, name in enumerate(names)
        for other in names[i + 1 :]
        if _proportion_spread(count[name], count[other]) <= ALIKE
    ]


def _proportion_spread(a: Array, b: Array) -> float:
    """Relative standard deviation of a/b over windows, of their counts, that counts of independent requests do not explain. Infinite where
    one of the two never came."""
    both = a + b
    share = float(a.sum() / both.sum()) if both.sum() else 0.0
    if not 0 < share < 1:
        return float("inf")
    off, degrees = float(((a - share * both) ** 2 / np.maximum(both, 1e-12)).sum()), max(int((both > 0).sum()) - 1, 1)
    explained = share * (1 - share) * (degrees + CHANCE * (2 * degrees) ** 0.5)  # chi squared of binomial counts
    return float((max(off - explained, 0.0) / both.sum()) ** 0.5 / (share * (1 - share)))
