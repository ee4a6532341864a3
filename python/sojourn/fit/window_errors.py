"""Errors of windows of one service that nobody loaded: how much more they differ than each says of itself, and for how long.

A window states the error of its mean by what was in it: of batches in it, or of counts alone (counters). What goes on for longer than a
window (a cache, another mix, a queue that lasts) is not in that, so that windows differ by more, and neighbours alike. Both are told by
what windows differ by from the model: as many as there are, each is a repetition of the others beside it.

    f    sqrt(sum of z²/(n - p)), 1 or more      z     what n numbers of one kind are off by, over their stated errors
    r    correlation of z of neighbours          p     unknowns, shared out among the kinds
    errors of windows k apart have the correlation r^k

f: P. McCullagh, J. A. Nelder, Generalized Linear Models (1989), 4.5. Errors that go on as an autoregression of order 1: G. E. P. Box,
G. M. Jenkins, Time Series Analysis (1976), 3.2.3. A strange window counts with at most `CLIP` standard errors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.observed_time import ObservedTime
from sojourn.stats.normal_law import MEDIAN_DEVIATION
from sojourn.units import percent

Array = NDArray[np.float64]
Key = tuple[str, str, str]  # station, class, metric
CLIP = 4.0  # standard errors, of what most windows differ by
LEAST_WINDOWS = 10
MOST = 0.9  # of a correlation
CHANCE = 2.0  # over the root of the pairs: a correlation that chance shows once in forty
LEAST_BLOCKS = 8
MUCH = 1.5  # times what windows state, from which on it is said
TIME, MEANS = "response_time", ("response_time", "throughput")


def excesses(off: Array, keys: Sequence[Key], unknowns: int) -> Array:
    """n, f of the kind of each: class and metric; 1 of what is no mean over requests. `off`: z."""
    kinds = [key[1:] if key[2] in MEANS else None for key in keys]
    found, told = np.ones(len(off)), [kind for kind in dict.fromkeys(kinds) if kind]
    for kind in told:
        own = np.array([one == kind for one in kinds])
        found[own] = _excess(off[own], unknowns / len(told))
    return found


def _excess(off: Array, unknowns: float) -> float:
    if len(off) < LEAST_WINDOWS:
        return 1.0
    usual = max(float(np.median(np.abs(off))) / MEDIAN_DEVIATION, 1.0)
    kept = np.clip(off, -CLIP * usual, CLIP * usual)
    return max(float(np.sqrt((kept**2).sum() / max(len(off) - unknowns, 1.0))), 1.0)


def by_class(errors: Array, keys: Sequence[Key]) -> dict[str, float]:
    """The median error of the response times of each class, where there are several; as `of_class` names them."""
    names = dict.fromkeys(key[1] for key in keys if key[1] and key[2] == TIME)
    return {of_class(TIME, name): float(np.median(errors[[key[1:] == (name, TIME) for key in keys]])) for name in names}


def of_class(metric: str, cls: str) -> str:
    """The name of the noise of a class, beside that of all."""
    return f"{metric} of {cls}"


def notes(stated: Array, found: Array, r: float) -> list[str]:
    """What the reader has to know of the errors of response times, relative: as windows state them, and as they were `found`."""
    usual, more = (float(np.median(one)) for one in (stated, found))
    said = []
    if 0 < usual * MUCH < more:
        said.append(
            f"windows are {percent(more)} from the model, and by what was in each {percent(usual)}: "
            "the service varies for longer than a window, or the model does not fit"
        )
    return said + (
        [f"errors of neighbouring windows are correlated ({r:.2f}): these windows count as fewer"] if r else []
    )


def apart(windows: Sequence[ObservedTime | None]) -> Array | None:
    """runs x runs, how many windows two are apart; None where not all of them were observed, or too few."""
    seen = [one for one in windows if one is not None]
    if len(seen) < max(len(windows), LEAST_WINDOWS):
        return None
    length_s = max(float(np.median([one.length_s for one in seen])), 1e-9)
    at = np.array([one.until_s for one in seen]) / length_s
    return np.asarray(np.abs(at[:, None] - at[None]))


def correlation(off: Array, keys: Sequence[Key], run: NDArray[np.intp], far: Array) -> float:
    """r, of n numbers of windows: `off` z, `run` its window, `far` how far windows are apart; 0 where chance would show as much."""
    pairs, squares, seen = 0.0, 0.0, 0
    for kind in dict.fromkeys(keys):
        own = np.array([one == kind for one in keys])
        z = np.clip(off[own] - np.median(off[own]), -CLIP, CLIP)
        first, second = np.nonzero(np.triu(np.abs(far[np.ix_(run[own], run[own])] - 1.0) < 0.5))
        pairs += float(z[first] @ z[second])
        squares += float((z[first] ** 2).sum() + (z[second] ** 2).sum()) / 2
        seen += len(first)
    r = pairs / squares if squares > 0 else 0.0
    return min(r, MOST) if seen and r > CHANCE / seen**0.5 else 0.0


def blocks(far: Array, r: float, unknowns: int) -> NDArray[np.intp]:
    """The block of each window, from 0 on, in order of time: as long as what goes on, (1 + r)/(1 - r) windows, but twice as many blocks
    as unknowns, and eight."""
    windows = len(far)
    count = min(max(int(windows * (1 - r) / (1 + r)), 2 * unknowns, LEAST_BLOCKS), windows)
    rank = np.argsort(np.argsort(far[int(np.argmax(far[0]))], kind="stable"))  # from one end on
    return np.asarray(rank * count // windows, np.intp)
