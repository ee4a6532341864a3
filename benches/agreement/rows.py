"""A table of `Metrics` as a mapping, and how far two of them are apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import sojourn as sj


class Key(NamedTuple):
    station: str
    cls: str
    metric: str
    q: float | None = None
    n: int | None = None

    def __str__(self) -> str:
        more = "" if self.q is None else f" q={self.q:g}"
        more += "" if self.n is None else f" n={self.n}"
        return f"{self.metric}[{self.station or 'system'}/{self.cls or 'all'}]{more}"


class Row(NamedTuple):
    value: float | None
    status: str
    low: float | None
    high: float | None


Rows = Mapping[Key, Row]
SHARES = ("loss_probability", "waiting_probability", "queue_length_probability", "utilisation")
WITHIN = {"waiting_time": "response_time", "waiting_time_quantile": "response_time_quantile"}
FLOOR = 1e-13  # of what a sum of terms of this size keeps


class LargestDifference(NamedTuple):
    """The pair that is farthest apart, relative to what was allowed."""

    key: Key
    ours: float
    theirs: float
    difference: float
    allowed: float


def rows(table: sj.Metrics) -> Rows:
    names = ("station", "class", "metric", "q", "n")
    told = table.frame.to_dicts()
    return {Key(*(r[x] for x in names)): Row(r["value"], r["status"], r["low"], r["high"]) for r in told}


def pairs(ours: Rows, theirs: Rows, allowed: Callable[[Key], float]) -> Iterator[LargestDifference]:
    """All numbers that both tell, with their relative difference beyond the floor of rounding."""
    for key, mine in ours.items():
        other = theirs.get(key)
        if other is None or mine.value is None or other.value is None:
            continue
        size = max(abs(mine.value), abs(other.value))
        beyond = max(abs(mine.value - other.value) - floor(key, ours), 0.0)
        yield LargestDifference(key, mine.value, other.value, beyond / size if beyond else 0.0, allowed(key))


def floor(key: Key, table: Rows) -> float:
    """Below which a number is rounding: of a share 1e-13; of a wait, where it is response less service, 1e-11 of the
    response; of a variance 1e-12 of the square of the mean, because both are sums of squares."""
    if key.metric in SHARES:
        return FLOOR
    if key.metric in WITHIN:
        whole = table.get(key._replace(metric=WITHIN[key.metric]))
        return 100 * FLOOR * (whole.value or 0.0) if whole else 0.0
    if key.metric.endswith("_variance"):
        name = key.metric.removesuffix("_variance")
        mean = table.get(key._replace(metric=WITHIN.get(name, name)))
        return 10 * FLOOR * (mean.value or 0.0) ** 2 if mean else 0.0
    return 0.0


def worst(found: Iterator[LargestDifference]) -> LargestDifference | None:
    return max(found, key=lambda a: a.difference / a.allowed, default=None)


def missing(ours: Rows, theirs: Rows) -> list[str]:
    """Numbers that one has and of which the other says that they do not exist; not those that a closed form has for who
    would come where nobody does, and a chain, which counts who comes, has not."""
    told = []
    for key, mine in ours.items():
        other = theirs.get(key)
        idle = other is not None and "idle" in (mine.status, other.status)
        if other is not None and not idle and (mine.value is None) != (other.value is None):
            told.append(f"{key}: {_said(mine)}, against {_said(other)}")
    return told


def _said(row: Row) -> str:
    return row.status if row.value is None else f"{row.value:.9g}"


def number(table: Rows, metric: str, station: str = "", cls: str = "", **more: Any) -> float | None:
    row = table.get(Key(station, cls, metric, **more))
    return None if row is None else row.value
