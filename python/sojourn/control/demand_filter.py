"""Service demands of several classes and stations from windows of a running service: an extended Kalman filter.

What a window shows (utilisations, mean response times, throughputs) is compared with what the model's solver says at the demands known so
far. After T. Zheng, C. M. Woodside, M. Litoiu, Performance model estimation and tracking using optimal filters, IEEE Trans. Software Eng.
34(3), 2008, pp. 391-406; changes are noticed by CUSUM (as in estimation.py) on the innovations.

    x, P          logarithms of the demands, so that these stay positive; their covariance
    z, R          logarithms of what the window shows; their covariance, from the windows' own batches
    h, H          the solver, in logarithms; its derivatives, by central differences
    S             H P H' + R
    Q             drift of x from window to window

The step is iterated (Gauss-Newton on the same prior), since response times bend where little is known; P by Joseph's form, which stays
symmetric and positive. Innovations are whitened, S = L L', e = L^-1 (z - h). The CUSUM needs e to be standard normal, so it sums what
is left after two corrections: R is estimated, so e has Student's t at first; and the filter learns any constant offset of e
that demands cannot explain (as by D. M. Hawkins, Self-starting CUSUM charts for location and scale,
The Statistician 36(4), 1987, pp. 299-315): batches with few
requests, whose response times are short, count as much as those with many, and the logarithm of what scatters is low on average.

Limits: what the solver does not give at some demands (a
saturated station has no response time) is left out of that window; correlated batches make R too small, so take windows that
are long against the longest busy period.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import ndtri, stdtr

from sojourn.control.estimation import FRESH, LIMIT, MOST_SPREAD, STALE, UNTOLD
from sojourn.control.load_trace import Array
from sojourn.errors import InputError
from sojourn.table import Metrics
from sojourn.units import USUAL_LEVEL

WIDE = 2.0  # prior standard deviation of a logarithm where nothing is known: a factor of seven
MEMORY = 30  # windows
TURNS, STEP = 8, 1e-4
LEAST_SHARE = 1e-300  # of Student's t beyond an innovation: 37 standard deviations
SHIFT_WINDOWS = 16  # said already that innovations have mean 0: it is known to 0.25, half the slack
LEAST_ERROR = 1e-3  # relative, of what a window shows: batches of a full server do not differ
Flags = NDArray[np.bool_]
Solver = Callable[[Array], Array]  # demands (s) → what a window would show, NaN where there is no such value


@dataclass(frozen=True)
class WindowMeasurement:
    """What a window shows, NaN where it does not, and its `covariance`; both in the order of the solver's values. `degrees` of freedom:
    what the covariance was estimated from; infinite where it is known."""

    values: Array
    covariance: Array
    degrees: float = math.inf

    @staticmethod
    def of_batches(batches: Array) -> WindowMeasurement:
        """From `batches` (batches, values) of a window: their mean, and the covariance of that. InputError: fewer than two."""
        given = np.asarray(batches, float)
        if given.ndim != 2 or len(given) < 2:
            raise InputError(given.shape, "batches", "give two or more rows, with one column per value")
        mean = given.mean(axis=0)
        return WindowMeasurement(
            mean, np.atleast_2d(np.cov(given, rowvar=False)) / len(given) + np.diag((LEAST_ERROR * mean) ** 2),
            len(given) - 1.0,
        )  # fmt: skip


@dataclass(frozen=True)
class DemandFilter:
    """`log_demands` with `covariance`; `above`, `below`: sums of the CUSUM of each value; `windows` since the start or the last alarm;
    `alarms`: how many there were; `noise`: relative covariance of what a window shows, the mean over those `seen`, with
    `degrees` of freedom; `shift`, `shifted`: mean of the innovations of each value, over how many."""

    log_demands: Array
    covariance: Array
    above: Array
    below: Array
    windows: int = 0
    alarms: int = 0
    noise: Array | None = None
    seen: int = 0
    degrees: float = 0.0
    shift: Array | None = None
    shifted: Array | None = None

    @staticmethod
    def start(demands_s: Sequence[float], values: int, spread: float = 0.1) -> DemandFilter:
        """From a fit: its demands (s, > 0), known to the relative standard error `spread`; 2 for not at all. `values`: that a window
        shows. InputError."""
        found = np.asarray(demands_s, float)
        if found.ndim != 1 or not len(found) or not np.all(np.isfinite(found) & (found > 0)):
            raise InputError(found.tolist(), "demands_s", "give finite demands > 0 in s")
        return DemandFilter(np.log(found), np.eye(len(found)) * spread**2, np.zeros(values), np.zeros(values))

    @property
    def demands_s(self) -> Array:
        """The median of what is known."""
        found: Array = np.exp(self.log_demands)
        return found

    @property
    def error(self) -> Array:
        """Standard error of each demand, relative."""
        found: Array = np.sqrt(np.diag(self.covariance))
        return found

    def metrics(self, where: Sequence[tuple[str, str]], level: float = USUAL_LEVEL) -> Metrics:
        """A row `service_demand` for each demand, of the station and class in `where`, with interval and status (`ok` for fresh)."""
        status = "ok" if self.status() == FRESH else self.status()
        ends = np.exp(self.log_demands + np.outer([0, -1, 1], float(ndtri((1 + level) / 2)) * self.error))
        rows = [
            {"station": station, "class": cls, "metric": "service_demand", "value": value, "low": low, "high": high, "level": level,
             "source": "measured", "status": status}
            for (station, cls), value, low, high in zip(where, *ends.tolist(), strict=True)
        ]  # fmt: skip
        return Metrics.of(rows, "extended Kalman filter")

    def status(self, young: int = 5) -> str:
        """`stale` for `young` windows after an alarm; `not identifiable` where a demand is known worse than to 5 %."""
        if self.alarms and self.windows < young:
            return STALE
        return FRESH if np.all(self.error <= MOST_SPREAD) else UNTOLD


def filtered(
    now: DemandFilter, solver: Solver, seen: WindowMeasurement, *, drift: float = 0.005, slack: float = 0.5, limit: float = LIMIT,
) -> DemandFilter:  # fmt: skip
    """The estimate after one more window. `drift`: standard deviation of a logarithm from window to window; `slack`, `limit`: of the CUSUM
    of one value, in standard deviations. A window that shows nothing the solver gives changes nothing."""
    prior, says = now.covariance + np.eye(len(now.log_demands)) * drift**2, _in_logs(solver)
    with np.errstate(invalid="ignore", divide="ignore"):
        shown = np.log(seen.values)
    told = says(now.log_demands)
    keep = np.isfinite(shown) & np.isfinite(told)
    if not keep.any():
        return now
    noise, count = _averaged(now, seen, keep), now.seen + 1
    slope = _derivatives(says, now.log_demands)[keep]
    lower = np.linalg.cholesky(slope @ prior @ slope.T + noise[np.ix_(keep, keep)])
    normal = np.zeros(len(keep))
    degrees = now.degrees + (seen.degrees if now.seen < MEMORY else 0.0)
    normal[keep] = _scored(solve_triangular(lower, shown[keep] - told[keep], lower=True), degrees)
    shift, shifted = (np.zeros(len(keep)) if known is None else known for known in (now.shift, now.shifted))
    weight = SHIFT_WINDOWS + shifted
    usual = np.where(keep, normal - shift, 0.0)
    normal = usual / np.sqrt(1 + 1 / weight)
    above, below = np.maximum(0, now.above + normal - slack), np.maximum(0, now.below - normal - slack)
    most = limit + float(np.log(len(keep)))  # windows to a false alarm grow as its exponential; so many sums run
    if now.windows and max(above.max(), below.max()) > most:
        noise, start = (
            _averaged(replace(now, noise=None), seen, keep),
            DemandFilter.start(now.demands_s.tolist(), len(keep), WIDE),
        )
        found, covariance = _step(start.log_demands, start.covariance, says, shown, noise)
        return DemandFilter(found, covariance, start.above, start.below, 1, now.alarms + 1, noise, 1, seen.degrees)
    found, covariance = _step(now.log_demands, prior, says, shown, noise)
    return DemandFilter(
        found, covariance, above, below, now.windows + 1, now.alarms, noise, count, degrees, shift + usual / (weight + 1), shifted + keep,
    )  # fmt: skip


def _scored(innovations: Array, degrees: float) -> Array:
    """Of Student's t with what is left of `degrees`, as standard normal ones."""
    share = stdtr(max(degrees - len(innovations) + 1, 1.0), -np.abs(innovations))
    found: Array = -np.sign(innovations) * ndtri(np.maximum(share, LEAST_SHARE))
    return found


def _in_logs(solver: Solver) -> Solver:
    """Logarithms of what is shown, of the logarithms of the demands."""

    def says(x: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            found: Array = np.log(solver(np.exp(x)))
        return found

    return says


def _averaged(now: DemandFilter, seen: WindowMeasurement, keep: Flags) -> Array:
    """The relative covariance, the mean over the windows so far, at most MEMORY. That of one window is known poorly, and small where its
    response times are by chance small: weighed by it, these would count for more."""
    scale = np.where(keep, seen.values, 1.0)
    own = np.where(np.outer(keep, keep), seen.covariance, 0.0) / np.outer(scale, scale)
    if now.noise is None:
        return own
    return now.noise + (own - now.noise) / min(now.seen + 1, MEMORY)


def _step(x: Array, prior: Array, says: Solver, shown: Array, noise: Array) -> tuple[Array, Array]:
    """The iterated update: each turn linear about the last, from the same prior, and no further than what is missed grows less."""
    at, keep = x, np.isfinite(shown) & np.isfinite(says(x))
    own = noise[np.ix_(keep, keep)]

    def missed(y: Array) -> float:
        error = (shown - says(y))[keep]
        cost = (y - x) @ np.linalg.solve(prior, y - x) + error @ np.linalg.solve(own, error)
        return float(cost) if np.isfinite(cost) else np.inf

    for _ in range(TURNS):
        slope = _derivatives(says, at)[keep]
        gain = np.linalg.solve(slope @ prior @ slope.T + own, slope @ prior).T
        move = x + gain @ ((shown - says(at))[keep] - slope @ (x - at)) - at
        while np.abs(move).max() > STEP and missed(at + move) > missed(at):
            move = move / 2
        if np.abs(move).max() <= STEP:
            break
        at = at + move
    left = np.eye(len(x)) - gain @ slope
    covariance = left @ prior @ left.T + gain @ own @ gain.T
    return at, (covariance + covariance.T) / 2


def _derivatives(says: Solver, at: Array) -> Array:
    """(values, demands); 0 where a side has no value."""
    columns = [(says(at + step) - says(at - step)) / (2 * STEP) for step in np.eye(len(at)) * STEP]
    return np.nan_to_num(np.stack(columns, axis=1), nan=0.0, posinf=0.0, neginf=0.0)
