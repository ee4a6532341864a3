"""Service times that depend on how busy their station is: the times at a load, found before a method is asked.

A formula of u, the utilisation of the station (one server's mean busy share), stands for a mean: (1 + saved (1 - u)²) falls with the
load (wake-ups, clock frequency, caches, batching), (1 + grown u) grows with it. With X the throughput of all classes at a station of m
servers (what background work leaves of them), u solves

    u = a(u),  a(u) = X S(u) / m

Open classes: X is known, so that each station is alone. The largest load that it can carry is max over u in [0, 1] of u / a(u), times
the one that is offered; below it the lowest u with u = a(u) is taken: it is the one to which an empty station fills up. Closed classes:
X follows from the times of all stations, and u is iterated with the method that solves the model, from an empty station upwards.

This is an approximation of a service whose speed follows its mean load, not its state at each moment: exact where the times change
slowly with the load, or not at all. A fixed point is there by continuity where u / a(u) reaches 1, and is the
only one where u / a(u) grows. Ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.arithmetic import Arithmetic
from sojourn.errors import MethodRefused, ModelError
from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import DEPENDENT, NetworkPoints, as_points, outline
from sojourn.model.parameters import BUSY
from sojourn.solve.solution import Solution

GRID = np.linspace(0.0, 1.0, 129)[1:]
DIGITS = 48  # binary, of a cell of the grid
AT_ONCE = 20_000  # numbers of a call: 8 digits by each call where they are fewer, else 4; a small call takes as long as a tiny one
CLOSE = 1e-6  # of a utilisation, where closed classes are iterated
ITERATIONS = 200
LONGEST = np.finfo(float).max
LEAST_LEFT = 1e-6  # of the servers beside background work, where a search tries more of it than there is
SLOWED = 0.5  # share of a step that is taken where secants do not help
Answer = Callable[[Sequence[Network]], Solution]


def at_rest(networks: Sequence[Network]) -> Sequence[Network]:
    """As they are, for what only looks at which stations and classes there are."""
    if isinstance(networks, NetworkPoints):
        return networks if networks.bases[0].at_load else networks.on(at_load=True)
    return [n if n.at_load else n.altered(at_load=True) for n in networks]


def at_load(networks: Sequence[Network], answer: Answer) -> Sequence[Network]:
    """The networks with the times that they have at their load; `answer` solves networks of one shape.

    Raises MethodRefused where the iteration of a closed network does not end.
    """
    if all(n.at_load for n in (networks.bases if isinstance(networks, NetworkPoints) else networks)):
        return networks
    first = outline(networks)
    networks = beside_background(networks)
    if not first.dependent_times:
        return networks
    stations = sorted({time.station for time in first.dependent_times})
    finite = bool(np.isfinite(as_points(networks).column("capacity")[0]).any())
    lossy = finite or bool(first.limits)  # not all that is offered is carried
    if not first.closed.any() and not lossy:
        times = {k: _StationTimes.of(networks, k) for k in stations}
        busy = {k: own.lowest() for k, own in times.items()}
        return _with_times(networks, {k: own.at(busy[k][:, None])[:, 0] for k, own in times.items()})
    return _iterated(networks, stations, answer)


def check_dependent_times(network: Network) -> None:
    """Raises ModelError for a time that is below 0, or none, somewhere between idle and full."""
    for time in network.dependent_times:
        with np.errstate(all="ignore"):
            values = np.broadcast_to(time.formula.value({**time.given, BUSY: GRID}), GRID.shape)
        wrong = ~(np.isfinite(values) & (values >= 0))
        if wrong.any():
            place = f"{network.stations[time.station]}, {network.classes[time.cls]}"
            at = int(np.argmax(wrong))
            remedy = "write it so that it is 0 or more for all u from 0 to 1"
            raise ModelError(
                f"{time.formula.text} is {values[at]:.3g} at u = {GRID[at]:.3g}", f"the time of {place}", remedy
            )


def saturation(networks: Sequence[Network]) -> Array:
    """P, by what all arrivals of an open network are to be multiplied until a station with such times is full; infinite without any."""
    found = np.full(len(networks), np.inf)
    for k in sorted({time.station for time in outline(networks).dependent_times}):
        with np.errstate(divide="ignore"):
            found = np.minimum(found, (GRID / _StationTimes.of(networks, k).offered(GRID)).max(axis=1))
    return found


@dataclass(frozen=True)
class _StationTimes:
    """The times of a visit to one station, P networks at once: `longer` P, by background work; `plain` P x C, `servers` P,
    `rate` P x C (visits/s of open classes), and of each time that depends on how busy the station is: class, what it is spread over,
    formula and its parameters, P x 1 each."""

    longer: Array
    plain: Array
    servers: Array
    rate: Array
    formulas: Sequence[tuple[int, float, Arithmetic, dict[str, Array]]]

    @staticmethod
    def of(networks: Sequence[Network], station: int) -> _StationTimes:
        formulas, points = [], as_points(networks)
        for number, time in enumerate(outline(networks).dependent_times):
            if time.station == station:
                names = [name for name in time.formula.names if name != BUSY]
                given = {name: points.part(DEPENDENT, number, name).astype(float)[:, None] for name in names}
                formulas.append((time.cls, time.over, time.formula, given))
        rate = points.column("rate_per_s") @ outline(networks).same_chain
        servers = points.column("servers")[:, station].astype(float)
        return _StationTimes(
            _longer(servers, points.column("background")[:, station]), points.column("service_s")[:, station], servers,
            rate * points.column("visits")[:, station], formulas,
        )  # fmt: skip

    def at(self, busy: Array) -> Array:
        """P x G x C, where the station is busy like that (P x G)."""
        found = np.repeat(self.plain[:, None, :], busy.shape[1], axis=1)
        for cls, over, formula, given in self.formulas:
            value = formula.value({**given, BUSY: busy})
            # no number is no time, and an infinite one the longest
            found[:, :, cls] = np.fmin(np.fmax(value, 0.0), LONGEST) / over * self.longer[:, None]
        return found

    def offered(self, busy: Array) -> Array:
        """P x G, a(u) of an open station at each of `busy` (G, or P x G)."""
        wide = np.broadcast_to(busy, (len(self.plain), busy.shape[-1]))
        work = (self.rate[:, None, :] * self.at(wide)).sum(axis=2)
        return np.asarray(np.maximum(work / self.servers[:, None], 1e-300))

    def lowest(self) -> Array:
        """P, the lowest u at which the station carries what is offered; 1 where there is none."""
        short = GRID / self.offered(GRID) < 1
        reached = (~short).any(axis=1)
        at = np.argmax(~short, axis=1)
        high = np.where(reached, GRID[at], 1.0)
        low = np.where(reached & (at > 0), GRID[np.maximum(at - 1, 0)], np.where(reached, 0.0, 1.0))
        rows, digits = np.arange(len(low)), 8 if len(low) * 2**8 <= AT_ONCE else 4
        parts = np.linspace(0.0, 1.0, 2**digits + 1)[1:]
        for _ in range(DIGITS // digits):
            ends = np.column_stack([low, low[:, None] + (high - low)[:, None] * parts])
            less = ends[:, 1:] < self.offered(ends[:, 1:])
            less[:, -1] = False
            first = np.argmin(less, axis=1)
            low, high = ends[rows, first], ends[rows, first + 1]
        return np.asarray(high)


def _with_times(networks: Sequence[Network], times: Mapping[int, Array]) -> NetworkPoints:
    """With these times at each station, P x C."""
    points = as_points(networks)
    service_s = np.array(points.column("service_s"))
    for time in outline(networks).dependent_times:
        service_s[:, time.station, time.cls] = times[time.station][:, time.cls]
    return points.on(at_load=True).altered(service_s=service_s)


def beside_background(networks: Sequence[Network]) -> Sequence[Network]:
    """With what background work leaves of each server: times longer by m/(m - b) where it keeps b of m servers busy in the mean.

    Exact for processor sharing where that work comes as a class of Poisson arrivals does: R = D/(1 - b - XD) (F. P. Kelly, Reversibility
    and Stochastic Networks (1979), 3.3). Elsewhere an approximation by slower servers, without the bursts of that work."""
    points = as_points(networks)
    background = points.column("background")
    if not background.any():
        return networks
    longer = _longer(points.column("servers"), background)
    made = points.altered(service_s=points.column("service_s") * longer[..., None])
    return made if points.bases[0].dependent_times else made.on(at_load=True)


def _longer(servers: Array, background: Array) -> Array:
    return np.asarray(servers / np.maximum(servers - background, LEAST_LEFT * servers))


def _iterated(networks: Sequence[Network], stations: Sequence[int], answer: Answer) -> NetworkPoints:
    """Secants from an empty station on, kept in [0, 1]; a plain step of half the length where a secant leads nowhere."""
    points, left = as_points(networks), np.arange(len(networks))
    settled = {k: np.array(points.column("service_s")[:, k]) for k in stations}
    busy = np.zeros((len(networks), len(stations)))
    last_busy = last_gap = np.full_like(busy, np.nan)
    for number in range(ITERATIONS):
        here = points.take(left)
        times = {k: _StationTimes.of(here, k).at(busy[:, i : i + 1])[:, 0] for i, k in enumerate(stations)}
        gap = np.nansum(answer(_with_times(here, times)).utilisation[:, stations], axis=2) - busy
        off = np.max(np.abs(gap), axis=1)
        more = off > CLOSE
        for k in stations:
            settled[k][left[~more]] = times[k][~more]
        if not more.any():
            return _with_times(points, settled)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (gap - last_gap) / (busy - last_busy)
            step = -gap / slope
        useful = np.isfinite(step) & (slope < 0) & (np.abs(step) <= 2 * np.abs(gap) + CLOSE) & (number % 10 != 9)
        last_busy, last_gap = busy[more], gap[more]
        moved = np.clip(busy + np.where(useful, step, (1.0 if number == 0 else SLOWED) * gap), 0.0, 1.0)
        busy, left = moved[more], left[more]
    names = ", ".join(networks[0].stations[k] for k in stations)
    raise MethodRefused(
        f"times that depend on how busy {names} is did not converge (change of {off.max():.2g} after {ITERATIONS} steps)",
        "demands_s", "let them change less steeply with u",
    )  # fmt: skip
