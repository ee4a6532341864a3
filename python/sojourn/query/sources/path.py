"""Requests with their times as a source: response times, and the number present as a path in time, which is exact.

A state is the number present of each class. Passages, probabilities at a time and shares of time are read off this path, in
batches of time; a start whose end lies after the record counts nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.errors import SourceRefused
from sojourn.file_errors import meant
from sojourn.query.nodes import StateFunction
from sojourn.query.sources.batch_means_law import BATCHES, LEAST
from sojourn.query.sources.batched import BatchedLaw
from sojourn.query.sources.counted import counted, entries, happened, kept, stays
from sojourn.query.sources.ranked_times import RankedTimes, ascending
from sojourn.query.sources.share_interval import LEVEL, Wider, each_of, share_of
from sojourn.query.sources.source import Source
from sojourn.query.sources.station import Station, begins
from sojourn.query.sources.time_in_states import TimeInStates, numbered, time_in_states
from sojourn.query.values import Array, Estimate, Events, Flags, Law, Whole
from sojourn.runs.request_times import in_window
from sojourn.stats.batch_means import IntervalEstimate, ratio

MOST_NAMED = 12


class PathSource(Source):
    """From a frame with begin_s, end_s, class (number), failed (bool), in order of begin; `window` in s; names of classes; and
    the station, where there is only one."""

    def __init__(
        self, name: str, kind: str, requests: pl.DataFrame, window: tuple[float, float], classes: Sequence[str],
        station: Station | None = None,
    ) -> None:  # fmt: skip
        self.name, self.kind, self.window, self.classes, self.station = name, kind, window, list(classes), station
        self.requests = requests

    @cached_property
    def inside(self) -> pl.DataFrame:
        """The requests that came in the window."""
        return in_window(self.requests, self.window, "begin_s")

    @property
    def stations(self) -> list[str]:
        """Those whose states are seen."""
        return [self.station.name] if self.station else []

    @property
    def spent_s(self) -> float:
        """Length of the window."""
        return self.window[1] - self.window[0]

    @cached_property
    def edges(self) -> Array:
        """Of the batches."""
        return np.linspace(*self.window, BATCHES + 1)

    def batch_of(self, times: Array) -> Whole:
        """The number of the batch of each time."""
        if ascending(times):
            starts = np.searchsorted(times, self.edges[1:-1])
            return np.repeat(np.arange(BATCHES), np.diff(starts, prepend=0, append=len(times)))
        return np.clip(np.searchsorted(self.edges, times, side="right") - 1, 0, BATCHES - 1)

    def own(self, frame: pl.DataFrame, cls: str) -> pl.DataFrame:
        """The requests of a class ("": all)."""
        if not cls:
            return frame
        if cls not in self.classes:
            raise SourceRefused(f"no class {cls!r}", self.name, meant(cls, self.classes))
        return frame.filter(pl.col("class") == self.classes.index(cls))

    def time(self, time: str, station: str, cls: str) -> Law:
        if station and not (self.station and station == self.station.name):
            return super().time(time, station, cls)
        if time == "response_time":
            return self.law_of([stays(self.own(self.inside, cls))], time) if cls else self.responses_law
        if self.station is None:
            return super().time(time, station, cls)
        own = self.own(self.served, cls).filter(pl.col("begin_s").is_between(*self.window))
        begin, served, end = (own[name].to_numpy() for name in ("begin_s", "served_s", "end_s"))
        none = np.zeros(len(begin), bool)
        return self.law_of([(begin, served, none) if time == "waiting_time" else (served, end, none)], time)

    @cached_property
    def served(self) -> pl.DataFrame:
        """The requests that were answered, with when their service began."""
        if self.station is None or not self.station.fcfs:
            self.refuse(
                "waiting and service time", "only where customers are served in order of arrival: ask for response_time"
            )
        good = self.requests.filter(~pl.col("failed"))
        came, left = good["begin_s"].to_numpy(), good["end_s"].fill_nan(math.inf).to_numpy()
        return good.with_columns(served_s=pl.Series(begins(came, left, self.station.servers)))

    def utilisation(self) -> Estimate:
        """Of the only station: its busy servers over time, by all it has."""
        assert self.station is not None, "used on a source with one station"
        busy = self.states(StateFunction("busy", self.station.name)) / self.station.servers
        return self.distribution(busy, None).moment(1)

    @cached_property
    def responses_law(self) -> RankedTimes:
        """Of the response times of all requests that came in the window."""
        return self.law_of([stays(self.inside)], "response_time")

    def law_of(self, parts: Iterable[tuple[Array, Array, Flags]], name: str) -> RankedTimes:
        """Of the times between two, of some requests after the others; those that failed are later than all."""
        return RankedTimes.between(parts, self.batch_of, self.spent_s, name)

    def convolution(self, a: Law, b: Law) -> Law:
        from sojourn.query.sources.convolved import convolved

        return convolved(a, b)

    def frames(self, ends: bool = True) -> Iterable[pl.DataFrame]:
        """`requests` in one part or more; without their ends where nobody asks."""
        return [self.requests]

    def rate(self, events: Events) -> Estimate:
        times = (happened(self.own(part, events.cls), events) for part in self.frames())
        counts = sum(np.histogram(part, self.edges)[0] for part in times)
        found = ratio(np.asarray(counts, float)[None, :, None], np.diff(self.edges)[None, :, None], LEVEL)
        return Estimate.known(float(found.value[0]), float(found.low[0]), float(found.high[0]), self.spent_s)

    def share(self, part: Events, whole: Events) -> Estimate:
        """Of the requests that came in the window."""
        counts = np.zeros((2, BATCHES))
        for frame in self.frames(ends=False):
            inside = in_window(frame, self.window, "begin_s")
            for kind, events in enumerate((part, whole)):
                begun = kept(self.own(inside, events.cls), events)["begin_s"].to_numpy()
                counts[kind] += np.bincount(self.batch_of(begun), minlength=BATCHES)
        seen = int(counts[1].sum())
        if not seen:
            raise SourceRefused(f"no {whole} in the window", self.name, "run longer")
        of, all_ = counts[:, None, :, None]
        with np.errstate(invalid="ignore"):
            return share_of(ratio(of, all_, LEVEL), seen, self.spent_s, further=self._slow_cluster)

    def _slow_cluster(self) -> float:
        return self.responses_law.without_failures().slow_cluster()

    @cached_property
    def path(self) -> tuple[Array, NDArray[np.int32]]:
        """(times (E + 1) at which a state changes or the window ends, numbers present (E, C) between them)."""
        return counted(self._stays(), self.window)

    def _stays(self) -> list[tuple[Array, Array]]:
        """Begins and ends of the requests of each class."""
        each = [self.requests.filter(pl.col("class") == k) for k in range(len(self.classes))]
        parts = each if len(each) > 1 else [self.requests]
        return [(own["begin_s"].to_numpy(), own["end_s"].to_numpy()) for own in parts]

    def present_in(self, states: Array) -> Array:
        """The number present in each state."""
        found: Array = states.sum(axis=1)
        return found

    @cached_property
    def table(self) -> tuple[Array, Whole]:
        """(states (S, C) that were seen, the state (E) of each piece of the path)."""
        states, index = numbered(self.path[1])
        return states.astype(float), index

    def states(self, function: StateFunction) -> Array:
        if function.station and function.station not in (known := self.stations):
            told = (
                meant(function.station, known) if known else "for n(app) record the service's own times (app.parquet)"
            )
            what = f"{function.function}({function.station}): not seen"
            raise SourceRefused(what, f"{self.kind} source {self.name}", f"ask for n() of the whole system; or {told}")
        states = self.pieces.states
        if function.cls and function.cls not in self.classes:
            raise SourceRefused(f"no class {function.cls!r}", self.name, meant(function.cls, self.classes))
        present = states[:, self.classes.index(function.cls)] if function.cls else self.present_in(states)
        if function.function == "busy":
            assert self.station is not None
            return np.minimum(present, self.station.servers)
        return present

    def named(self, flags: Flags) -> str:
        chosen = self.pieces.states[flags]
        told = [
            f"{row[0]:g}" if len(row) == 1 else "(" + ", ".join(f"{x:g}" for x in row) + ")"
            for row in chosen[:MOST_NAMED]
        ]
        return "{" + ", ".join(told) + (f", … {len(chosen)} in all" if len(chosen) > MOST_NAMED else "") + "}"

    @cached_property
    def pieces(self) -> TimeInStates:
        """The pieces of the path, cut at the edges of batches, those of one state and batch together."""
        return time_in_states(self._stays(), self.window, self.edges, self.batch_of)

    def occupancy(self, observed: Flags) -> Estimate:
        number = int(self.pieces.pieces.sum())
        return share_of(self._time_in(observed), number, self.spent_s, self._more_extreme(observed))

    def _time_in(self, observed: Flags) -> IntervalEstimate:
        seen = self.pieces
        lengths = (seen.length_s * observed[seen.state], seen.length_s)
        above, below = (np.bincount(seen.batch, x, BATCHES).astype(float) for x in lengths)
        return ratio(above[None, :, None], below[None, :, None], LEVEL)

    def _more_extreme(self, observed: Flags) -> Wider | None:
        """Of a set that is all with more (fewer) present than some number, above (below) the median: of wider ones. Of states that
        were never seen it is not known on which side they lie."""
        present = self.present_in(self.pieces.states)
        order = np.argsort(present, kind="stable")
        times_s = np.bincount(self.pieces.state, self.pieces.length_s, len(present))
        reached = np.cumsum(times_s[order]) / times_s.sum()

        def bound(upper: bool, share: float) -> float:
            at = np.searchsorted(reached, 1 - share if upper else share)
            return float(present[order][min(int(at), len(present) - 1)])

        def beyond(upper: bool, number: float) -> Flags:
            return present >= number if upper else present <= number

        def tail(upper: bool) -> bool:
            end = float(inside.min() if upper else inside.max())
            return middle not in inside and np.array_equal(beyond(upper, end), observed)

        inside, middle = present[observed], bound(True, 0.5)
        sides = [upper for upper in (True, False) if not len(inside) or tail(upper)]
        if not sides:
            return None
        return lambda share: max(each_of(self._time_in(beyond(upper, bound(upper, share)))) for upper in sides)

    def distribution(self, values: Array, over: Flags | None) -> Law:
        seen = self.pieces
        keep = np.ones(len(seen.state), bool) if over is None else over[seen.state]
        x, weight, batch = values[seen.state][keep], seen.length_s[keep], seen.batch[keep]
        number = int(seen.pieces[keep].sum())
        return BatchedLaw(x, x, weight, batch, self.spent_s, "a function of the state", discrete=True, seen=number)

    def state_probabilities(self, time_s: float | None, start: Flags | None) -> tuple[Array, Array, Array]:
        seen = self.pieces
        count, length, state, batch = len(seen.states), seen.length_s, seen.state, seen.batch
        number = int(seen.pieces.sum())
        if time_s is not None and start is not None:
            state, batch = self._later(time_s, start)
            length, number = np.ones(len(state)), len(state)
        above = np.bincount(batch * count + state, length, BATCHES * count).reshape(BATCHES, count).astype(float)
        below = above.sum(axis=1, keepdims=True)
        each = [ratio(above[None, :, k : k + 1], below[None], LEVEL) for k in range(count)]
        found = [share_of(x, number, self.spent_s) for x in each]
        value, low, high = np.array([(x.value, x.low, x.high) for x in found]).reshape(-1, 3).T
        return value, low, high

    def at_time(self, observed: Flags, time_s: float, start: Flags) -> Estimate:
        state, batch = self._later(time_s, start)
        sums = [np.bincount(batch, x, BATCHES).astype(float) for x in (observed[state] * 1.0, np.ones(len(state)))]
        return share_of(ratio(sums[0][None, :, None], sums[1][None, :, None], LEVEL), len(state), self.spent_s)

    def _later(self, time_s: float, start: Flags) -> tuple[Whole, Whole]:
        """State and batch of each entry into `start`, `time_s` after it."""
        times, index = self.path[0], self.table[1]
        began = times[:-1][entries(start[index])]
        began = began[began + time_s < self.window[1]]
        if len(began) < LEAST:
            told = f"the start set was entered {len(began)} times"
            raise SourceRefused(told, self.name, f"{LEAST} are needed: run longer")
        at = np.searchsorted(times, began + time_s, "right") - 1
        return index[np.minimum(at, len(index) - 1)], self.batch_of(began)

    def passage(self, start: Flags, target: Flags, excluded: Flags | None, mode: str) -> Law:
        times, index = self.path[0], self.table[1]
        begin, end = times[:-1], times[1:]
        hits = begin[entries(target[index])]
        chosen = entries(start[index]) if mode == "entering" else start[index]
        first, last = begin[chosen], (begin if mode == "entering" else end)[chosen]
        at = np.searchsorted(hits, first, "right")
        seen = at < len(hits)
        first, last, hit = first[seen], last[seen], hits[at[seen]]
        low, high = hit - last, hit - first
        if excluded is not None:
            bad = begin[excluded[index]]
            next_bad = np.append(bad, math.inf)[np.searchsorted(bad, first, "left")]
            lost = (next_bad <= hit) | excluded[index][chosen][seen]
            low, high = (np.where(lost, math.inf, x) for x in (low, high))
        weight = np.ones(len(first)) if mode == "entering" else last - first
        dropped = 1 - float(seen.mean()) if len(seen) else 0.0
        return BatchedLaw(low, high, weight, self.batch_of(first), self.spent_s, "the passage", dropped=dropped)

    def windows(self, length_s: float) -> Iterator[Source]:
        count = int(self.spent_s / length_s + 1e-9)
        if count < 2:
            raise SourceRefused(f"{count} windows of {length_s:g} s", self.name, f"run longer than {2 * length_s:g} s")
        for k in range(count):
            window = (self.window[0] + k * length_s, self.window[0] + (k + 1) * length_s)
            yield PathSource(self.name, self.kind, self.requests, window, self.classes, self.station)
