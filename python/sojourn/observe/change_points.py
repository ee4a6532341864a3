"""When a service became another: a deployment, or a change of what a request needs, seen in how busy resources were.

Of n windows, one after another, with classes c that came at rates X_c:

    busy = b + sum of D_c X_c + q X² + e       X: of all classes; q: a time that grows or falls with the load
    from window k on:   busy (1 + d), or a class alone   D_c (1 + d)

For each k, d is the least-squares estimate beside all other unknowns, so that a load that moved at the same time is not taken for a
change (the generalised likelihood ratio of one change: M. Basseville, I. V. Nikiforov, Detection of Abrupt Changes (1993), 2.4; one more
column of a regression: R. Frisch, F. V. Waugh, Econometrica 1 (1933), pp. 387-401). It is a change where d is at least `LEAST`, and `SURE`
standard errors from 0. The record is cut there, and each part looked through again (J. Bai, Estimating multiple breaks one at a time,
Econometric Theory 13 (1997), pp. 315-352).

Errors e are as those of counts (variance of busy ~ busy²/requests, and a floor). Their size is taken from what neighbours differ by, which
no change alters much; the variance is (1 + r)/(1 - r) times as large where neighbours are correlated by r. Windows count with at most
`CLIP` of it, so that one strange window is no change.

Limits: two windows of a part at least. A slow drift is seen as steps. What only makes requests wait (a slower database) is not in how busy
a resource is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from sojourn.observe.observed_windows import ObservedWindow
from sojourn.stats.normal_law import MEDIAN_DEVIATION

Array = NDArray[np.float64]
SURE = 5.5  # standard errors: of all places of a day of minutes, looked through each minute, chance does it once in some thousand days
LEAST = 0.05  # of a demand: less moves no answer much
CLIP = 5.0  # standard deviations: two windows of so much are a change (5 · sqrt 2), one is none
SHORTEST = 2  # windows of a part
FLOOR = 0.01  # of busy: what counts do not explain
FEWEST = 20  # windows to look for a change in
MOST_CORRELATED = 0.9
KNOWN = 1 / 3
CHANCE = 4.0  # over the root of the windows: a correlation of neighbours that chance may show
ROUNDS = 4
CLEARLY = 12.0  # of squares of standard errors, twice a logarithm of likelihoods: by which one class explains more than all together


@dataclass(frozen=True)
class ChangePoint:
    """From the window that begins at `at_s` (Unix time) on, `resource` is busy `ratio` times as long for the requests of `cls` ("": of
    all); `sure`: standard errors from no change. `window`: its number."""

    window: int
    at_s: float
    resource: str
    cls: str
    ratio: float
    sure: float


def change_points(windows: Sequence[ObservedWindow]) -> list[ChangePoint]:
    """In order of time; of changes of several resources at one window the surest."""
    found: dict[int, ChangePoint] = {}
    for name in sorted({name for one in windows for name in one.busy}):
        own = [i for i, one in enumerate(windows) if name in one.busy and one.rate_per_s > 0]
        for change in _within(windows, name, np.array(own, np.intp)):
            near = [k for k in found if abs(k - change.window) < SHORTEST]
            if not near or change.sure > max(found[k].sure for k in near):
                for k in near:
                    del found[k]
                found[change.window] = change
    return [found[k] for k in sorted(found)]


def _within(windows: Sequence[ObservedWindow], resource: str, own: NDArray[np.intp]) -> list[ChangePoint]:
    """Of one resource, in the windows `own`: cut at the surest, and again; then each once more between its neighbours, since the first cuts
    were made across changes that were not known yet."""

    def surest(start: int, end: int) -> ChangePoint | None:
        found = _Record.of([windows[i] for i in own[start:end]], resource).surest() if end - start >= FEWEST else None
        if found is None:
            return None
        at = int(own[start + found[0]])
        return ChangePoint(at, windows[at].start_s, resource, *found[1:])

    def cut(start: int, end: int) -> list[ChangePoint]:
        one = surest(start, end)
        if one is None:
            return []
        at = int(np.searchsorted(own, one.window))
        return [*cut(start, at), one, *cut(at, end)]

    changes = cut(0, len(own))
    for _ in range(ROUNDS if len(changes) > 1 else 0):
        edges = [0, *(int(np.searchsorted(own, one.window)) for one in changes), len(own)]
        again = [surest(start, end) for start, end in zip(edges, edges[2:], strict=False)]
        kept = {one.window: one for one in again if one is not None}
        made = [kept[k] for k in sorted(kept)]
        if [one.window for one in made] == [one.window for one in changes]:
            return made
        changes = made
    return changes


@dataclass(frozen=True)
class _Record:
    """`busy` n; `design` n x p, columns by what makes it busy; `classes`: names of columns 1 … C. All divided by the errors of counts."""

    busy: Array
    design: Array
    classes: tuple[str, ...]

    @staticmethod
    def of(windows: Sequence[ObservedWindow], resource: str) -> _Record:
        names = tuple(windows[0].classes)
        rates = np.array([[one.classes[name].rate_per_s for name in names] for one in windows])
        whole = rates.sum(axis=1)
        design = np.column_stack([np.ones(len(windows)), rates, whole**2])
        busy = np.array([one.busy[resource] for one in windows])
        counts = np.maximum(whole * np.array([one.length_s for one in windows]), 1.0)
        usual = np.maximum(_fitted(design, busy), 0.1 * np.median(busy) + 1e-9)
        error = usual * np.sqrt(1 / counts + FLOOR**2)
        return _Record(busy / error, design / error[:, None], names)

    def surest(self) -> tuple[int, str, float, float] | None:
        """Where the surest change is: number of its first window, class, ratio, standard errors."""
        at_most = _fitted(self.design, self.busy)
        left = self.busy - at_most
        size, longer = _size(left)
        if size <= 0:
            return None
        clipped = at_most + np.clip(left, -CLIP * size, CLIP * size)
        best = self._best(clipped, size)
        if best is None:
            return None
        k, cls, found = best
        sure, ratio = found / longer, self._ratio(k, cls)
        enough = sure >= _needed(len(left), self.design.shape[1] + 1) and abs(ratio - 1) >= LEAST
        return (k, cls, ratio, sure) if enough else None

    def _ratio(self, k: int, cls: str) -> float:
        """By which a class, or all, are busy from k on: what multiplies is what the fit beside the change says, not one across it."""
        ratio, column = 1.0, self._column(cls)
        for _ in range(ROUNDS):
            column[:k] = 0
            *slopes, change = np.linalg.lstsq(np.column_stack([self.design, column]), self.busy, rcond=None)[0]
            if cls:
                own = slopes[1 + self.classes.index(cls)]
                return 1 + float(change / own) if own > 0 else np.inf
            ratio, column = 1 + float(change), np.array(self.design @ slopes)
        return ratio

    def _column(self, cls: str) -> Array:
        """What a change multiplies: busy of all, or the rate of one class."""
        return np.array(self.design[:, 1 + self.classes.index(cls)] if cls else _fitted(self.design, self.busy))

    def _best(self, busy: Array, size: float) -> tuple[int, str, float] | None:
        """The place, the class and how sure; a class alone where that is clearly better."""
        found = None
        for cls in ("", *(self.classes if len(self.classes) > 1 else ())):
            column = self._column(cls)
            if not column.any():
                continue
            k, sure = _scanned(self.design, busy, column, size)
            if found is None or sure**2 > found[2] ** 2 + (0.0 if found[1] else CLEARLY):
                found = k, cls, sure
        return found


def _scanned(design: Array, busy: Array, column: Array, size: float) -> tuple[int, float]:
    """The k at which `column` from k on, beside `design`, is furthest from 0, and standard errors."""
    basis = _basis(design)
    left = busy - basis @ (basis.T @ busy)
    from_on = slice(None, None, -1)
    along = np.cumsum((column * left)[from_on])[from_on]
    square = np.cumsum((column**2)[from_on])[from_on]
    shared = np.cumsum((basis * column[:, None])[from_on], axis=0)[from_on]
    own = square - (shared**2).sum(axis=1)
    places = np.arange(len(busy))
    may = (places >= SHORTEST) & (places <= len(busy) - SHORTEST) & (own > 1e-6 * square[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        sure = np.where(may, np.abs(along) / np.sqrt(own) / size, 0.0)
    k = int(np.argmax(sure))
    return k, float(sure[k])


def _basis(design: Array) -> Array:
    """Orthonormal columns of the same span; a rate that never moved is none of its own."""
    left, sizes, _ = np.linalg.svd(design / np.linalg.norm(design, axis=0), full_matrices=False)
    return np.asarray(left[:, sizes > 1e-9 * sizes[0]])


def _fitted(design: Array, busy: Array) -> Array:
    basis = _basis(design)
    return np.asarray(basis @ (basis.T @ busy))


def _needed(windows: int, unknowns: int) -> float:
    """As rare as `SURE` where the size of errors is known from few windows only (Student's t). Of a median of differences between
    neighbours as much is known as of a third of the windows."""
    return float(stdtrit(max(windows * KNOWN - unknowns, 1.0), 1 - ndtr(-SURE)))


def _size(left: Array) -> tuple[float, float]:
    """Standard deviation, and by what the error of a mean of neighbours is larger than if they were independent.

    From what windows differ by from the next, and from the one after it, half of them by less than 0.674 standard deviations: a change, or
    a strange window, is in few of these. Errors that go on as r, r², … have variances of 2 s² (1 - r) and 2 s² (1 - r²)."""
    next_one, after = (float(np.median(np.abs(left[lag:] - left[:-lag]))) / MEDIAN_DEVIATION for lag in (1, 2))
    if next_one <= 0:
        return 0.0, 1.0
    r = min(max((after / next_one) ** 2 - 1, 0.0), MOST_CORRELATED)
    r = r if r > CHANCE / len(left) ** 0.5 else 0.0
    return next_one / (2 * (1 - r)) ** 0.5, ((1 + r) / (1 - r)) ** 0.5
