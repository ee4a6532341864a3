"""Laws of millions of times: those of each batch in ascending order, and nothing else of them, 8 bytes a time.

How many lie at or below t is found by bisection in each batch. So is the k-th smallest of all batches together, by bisection of the 64 bits
of a number: in IEEE 754 the bits of numbers of one sign, read as whole numbers, have their order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sojourn.query.sources.batch_means_law import BATCHES, BatchMeansLaw
from sojourn.query.values import Array, Flags, Span, Whole

MAGNITUDE = np.int64(0x7FFF_FFFF_FFFF_FFFF)  # all bits but the sign


@dataclass(frozen=True)
class RankedTimes(BatchMeansLaw):
    """`parts`: the times of each batch in ascending order; infinite ones never happened. `failures`: how many of each batch failed,
    which is never, too."""

    parts: tuple[Array, ...]
    spent_s: float
    name: str
    of_finite: bool = True
    dropped: float = 0.0
    failures: tuple[int, ...] = ()

    @staticmethod
    def of(pieces: Iterable[tuple[Whole, Array]], spent_s: float, name: str, batches: int = BATCHES) -> RankedTimes:
        """From (batch, time) of some observations after the others, in any order."""
        kept: list[list[Array]] = [[] for _ in range(batches)]
        for batch, times in pieces:
            if not ascending(batch):
                times = times[np.argsort(batch, kind="stable")]
            ends = np.cumsum(np.bincount(batch, minlength=batches))[:-1]
            for own, part in zip(kept, np.split(times, ends), strict=True):
                if len(part):
                    own.append(part)
        return RankedTimes(tuple(_joined(own) for own in kept), spent_s, name)

    @staticmethod
    def between(
        parts: Iterable[tuple[Array, Array, Flags]], batch_of: Callable[[Array], Whole], spent_s: float, name: str
    ) -> RankedTimes:
        """Of some requests after the others: from when each began to when it ended (NaN: it did not), and whether it failed, which is later
        than all. In the batch in which it began."""
        failures = np.zeros(BATCHES, np.int64)

        def pieces() -> Iterator[tuple[Whole, Array]]:
            for begun, ended, failed in parts:
                batch = batch_of(begun)
                # to the nanosecond: differences of large numbers, equal by the record, differ by rounding, and not at random
                times = np.round(ended - begun, 9)
                times[failed | np.isnan(ended)] = math.inf
                failures[:] += np.bincount(batch[failed], minlength=BATCHES)
                yield batch, times

        found = RankedTimes.of(pieces(), spent_s, name)
        return replace(found, failures=tuple(failures.tolist()))

    def without_failures(self) -> RankedTimes:
        """Of those that did not fail: what failed is last in its batch."""
        ends = (len(part) - failed for part, failed in zip(self.parts, self.failures, strict=True))
        kept = tuple(part[:end] for part, end in zip(self.parts, ends, strict=True))
        return replace(self, parts=kept, failures=())

    def count(self) -> int:
        return sum(map(len, self.parts))

    def totals(self) -> Array:
        return np.array([len(part) for part in self.parts], np.float64)

    def within(self, span: Span) -> Array:
        return self._below(span.high.value, span.closed[1]) - self._below(span.low.value, not span.closed[0])

    def _below(self, x: float, closed: bool) -> Array:
        """How many of each batch are at or below x (below it, where not `closed`); at infinity, those that happened."""
        if x == -math.inf:
            return np.zeros(len(self.parts))
        side: Literal["left", "right"] = "right" if closed and math.isfinite(x) else "left"
        return np.array([np.searchsorted(part, x, side) for part in self.parts], np.float64)

    def at_most(self, times: Array) -> Array:
        return np.array([np.searchsorted(part, times, "right") for part in self.parts], np.float64)

    def powers(self, order: int) -> tuple[Array, Array]:
        ends = self._below(math.inf, True)
        finite = (part[: int(end)] for part, end in zip(self.parts, ends, strict=True))
        return np.array([(own**order).sum() for own in finite], np.float64), ends

    def always(self) -> bool:
        return bool(self._below(math.inf, True).sum() == self.count())

    def largest(self) -> float:
        ends = self._below(math.inf, True)
        return max((float(part[int(end) - 1]) for part, end in zip(self.parts, ends, strict=True) if end), default=0.0)

    def observations(self) -> tuple[Array, Array, Whole]:
        times = np.concatenate(self.parts)
        return times, np.ones(len(times)), np.repeat(np.arange(len(self.parts)), [len(part) for part in self.parts])

    def inverses(self, levels: Array) -> Array:
        """Linear between neighbours (Hyndman and Fan's 7th)."""
        at = np.clip(levels, 0.0, 1.0) * (self.count() - 1)
        low, high = (self._smallest(edge(at).astype(np.int64)) for edge in (np.floor, np.ceil))
        with np.errstate(invalid="ignore"):  # infinity less infinity
            return np.where(np.isfinite(high), low + (high - low) * (at - np.floor(at)), math.inf)

    def _smallest(self, ranks: Whole) -> Array:
        """The time of each rank, from 0, among those of all batches."""
        some = [part for part in self.parts if len(part)]
        first, last = min(part[0] for part in some), max(part[-1] for part in some)
        low, high = (np.repeat(_bits(np.array([x])), len(ranks)) for x in (first, last))
        while (low < high).any():
            middle = (low & high) + ((low ^ high) >> 1)  # their mean, rounded down, without an overflow
            times = _number(middle)
            enough = sum(np.searchsorted(part, times, "right") for part in some) > ranks
            low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        return _number(low)


def ascending(numbers: Array | Whole) -> bool:
    """Whether none is below the one before it."""
    return bool((numbers[1:] >= numbers[:-1]).all())


def _joined(pieces: list[Array]) -> Array:
    found = np.concatenate(pieces) if pieces else np.zeros(0)
    pieces.clear()  # before the next batch is joined
    found.sort()
    return found


def _bits(numbers: Array) -> Whole:
    """Whole numbers in the order of these; none is NaN."""
    bits = numbers.astype(np.float64).view(np.int64)
    return np.where(bits < 0, bits ^ MAGNITUDE, bits)


def _number(bits: Whole) -> Array:
    """What `_bits` gave."""
    return np.where(bits < 0, bits ^ MAGNITUDE, bits).view(np.float64)
