"""How long the number present was what, in each batch of time, without the path itself: of millions of requests that is gigabytes.

A state is the number present of each kind of stay. The path is gone through in stretches, each with some of the moments at which a number
changes; what is kept of a stretch is a time for each state and batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.query.values import Array, Whole

STRETCH = 1 << 17  # begins, or ends, of one kind of stay that are looked at together
MOST_CODES = 2.0**62
Rows = tuple[Whole, Array, Array]  # keys (K, kinds + 1): a state and a batch; the time in s and the pieces of each


@dataclass(frozen=True)
class TimeInStates:
    """`states` (S, kinds) that were seen, in ascending order; of each state and batch that goes with it the time `length_s`, the index of
    the `state`, the `batch`, and in how many `pieces` the path was there, cut at the edges of batches."""

    states: Array
    length_s: Array
    state: Whole
    batch: Whole
    pieces: Array


def time_in_states(
    stays: Sequence[tuple[Array, Array]], window: tuple[float, float], edges: Array, batch_of: Callable[[Array], Whole]
) -> TimeInStates:
    """Of each kind of stay its begins and ends (NaN: it does not end), s; `edges` of the batches, the window's own among them."""
    begins = [_ascending(begin) for begin, _ in stays]
    every = begins + [_ascending(np.where(np.isnan(end), np.inf, end)) for _, end in stays]
    marks = np.concatenate([window, *(times[STRETCH::STRETCH] for times in every)])
    found, most = [_none(len(stays))], 8 * STRETCH
    for first, last in pairwise(np.unique(marks[(marks >= window[0]) & (marks <= window[1])])):
        found.append(_gathered(_stretch(every, float(first), float(last), edges, batch_of)))
        if sum(len(keys) for keys, *_ in found) > most:
            found = [_joined(found)]
            most = max(most, 2 * len(found[0][0]))  # where hardly a state comes twice, not after each stretch
    keys, length_s, pieces = _joined(found)
    new = np.append(True, (keys[1:, :-1] != keys[:-1, :-1]).any(axis=1))[: len(keys)]
    return TimeInStates(keys[new, :-1].astype(float), length_s, np.cumsum(new) - 1, keys[:, -1], pieces)


def _ascending(times: Array) -> Array:
    return times if (times[1:] >= times[:-1]).all() else np.sort(times)


def _stretch(
    every: Sequence[Array], first: float, last: float, edges: Array, batch_of: Callable[[Array], Whole]
) -> Rows:
    """The pieces between two times."""
    begin, end = ([int(np.searchsorted(times, *at)) for times in every] for at in ((first, "right"), (last, "left")))
    parts = [times[i : max(i, j)] for times, i, j in zip(every, begin, end, strict=True)]
    moments = np.unique(np.concatenate([[first], *parts, edges[(edges > first) & (edges < last)]]))
    counts = [i + np.searchsorted(part, moments, "right") for part, i in zip(parts, begin, strict=True)]
    length_s, kinds = np.diff(moments, append=last), len(every) // 2
    present = [came - left for came, left in zip(counts[:kinds], counts[kinds:], strict=True)]
    keys = np.stack([*present, batch_of(moments + length_s / 2)], axis=1)
    return keys, length_s, np.ones(len(keys))


def _none(kinds: int) -> Rows:
    return np.zeros((0, kinds + 1), np.int64), np.zeros(0), np.zeros(0)


def _joined(found: Sequence[Rows]) -> Rows:
    keys, length_s, pieces = (np.concatenate(column) for column in zip(*found, strict=True))
    return _gathered((keys, length_s, pieces))


def _gathered(rows: Rows) -> Rows:
    """Those of one key together, in ascending order of their keys."""
    keys, *weights = rows
    seen, which = numbered(keys)
    length_s, pieces = (np.bincount(which, x, len(seen)).astype(float) for x in weights)
    return seen, length_s, pieces


def numbered(keys: NDArray[np.integer[Any]]) -> tuple[Whole, Whole]:
    """The rows (S, D) that differ among those of `keys` (K, D), in ascending order, and of each of these the index (K)."""
    if not len(keys):
        return keys.astype(np.int64), np.zeros(0, np.int64)
    low = keys.min(axis=0)
    spans = tuple((keys.max(axis=0).astype(np.int64) - low + 1).tolist())
    if float(np.prod(np.array(spans, float))) > MOST_CODES:
        seen, which = np.unique(keys, axis=0, return_inverse=True)
        return seen, np.ravel(which)
    code = np.ravel_multi_index(tuple((keys - low).T), spans)
    size = math.prod(spans)
    if size > 4 * len(keys):  # too many for a table of all
        codes, which = np.unique(code, return_inverse=True)
    else:
        codes, place = np.flatnonzero(np.bincount(code, minlength=size)), np.zeros(size, np.int64)
        place[codes] = np.arange(len(codes))
        which = place[code]
    return np.stack(np.unravel_index(codes, spans), axis=1) + low, which
