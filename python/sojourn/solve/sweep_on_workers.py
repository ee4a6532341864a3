"""A sweep on workers: points in blocks of fixed size, made and solved there; the table is made here, of their arrays.

One method answers all blocks, chosen as in one process: from the first, the middle and the last point, refused by whatever point
it does not apply to. What a block answers does not depend on other blocks, nor on who solves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from sojourn.errors import MethodRefused, SolverError
from sojourn.model import Network
from sojourn.parallel import Workers, blocks, run_pieces
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.metric_rows import metrics
from sojourn.solve.point_arrays import PointArrays, StretchArrays
from sojourn.solve.registry import named, refusal
from sojourn.solve.solution import PartialSolution, Solution
from sojourn.solve.solve import apart, automatically, complete, run, settled
from sojourn.solve.sweep_points import representatives
from sojourn.table import Metrics

BLOCK = 250
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?")  # and no digits of a name
ARRAYS = (
    "throughput", "queue_length", "utilisation", "residence_s", "waiting_s", "blocked_s", "visit_rate", "lost_per_s", "loss",
    "outside",
)  # fmt: skip


class SweepPoints(Protocol):
    """Networks of one shape that are made when they are asked for, and what varies from one to the next. Travels once."""

    def __len__(self) -> int: ...
    def networks(self, points: range) -> Sequence[Network]: ...
    def columns(self, points: range) -> dict[str, list[Any]]: ...


@dataclass(frozen=True)
class SweepOfBlocks:
    """What all blocks share."""

    points: SweepPoints
    wanted: RequestedOutputs
    budget_s: float


@dataclass
class SweepBlockAnswer:
    """Of one block."""

    solution: Solution
    points: StretchArrays


@dataclass(frozen=True)
class SweepBlock:
    """Points for a method; `auto`: whether it was chosen, so that it may be refused by a point."""

    method: str
    auto: bool
    points: range


def solved_block(sweep: SweepOfBlocks, block: SweepBlock) -> SweepBlockAnswer | MethodRefused | SolverError | None:
    """In a worker. An error is an answer: `auto` then takes another method."""
    networks = settled(sweep.points.networks(block.points), sweep.budget_s)
    asked = representatives(networks)
    try:
        chosen = named(block.method, [] if block.auto else asked)
        if block.auto and any(refusal(chosen, n) for n in asked):
            return None
        wanted = replace(sweep.wanted, budget_s=sweep.budget_s) if block.auto else sweep.wanted
        solution = run(chosen, networks, wanted)
        complete(networks, solution, "auto" if block.auto else block.method, sweep.wanted, sweep.budget_s)
    except (MethodRefused, SolverError) as error:
        return error
    return SweepBlockAnswer(solution, StretchArrays.of(networks))


def block_apart(sweep: SweepOfBlocks, points: range) -> Metrics:
    """In a worker: each point by its own method."""
    found = apart(sweep.points.networks(points), sweep.wanted, sweep.budget_s, sweep.points.columns(points))
    _ = found.frame
    return found


class _SomeNetworks(Sequence[Network]):
    """The networks of a stretch of points, of which only those that are asked for are made."""

    def __init__(self, points: SweepPoints, within: range) -> None:
        self.points, self.within = points, within

    def __len__(self) -> int:
        return len(self.within)

    def __getitem__(self, at: Any) -> Any:
        some = self.within[at]
        made = settled(self.points.networks(some if isinstance(some, range) else range(some, some + 1)))
        return made if isinstance(some, range) else made[0]


@dataclass
class _Swept:
    """All blocks of one method."""

    blocks: list[SweepBlockAnswer]
    message: str

    @property
    def status(self) -> list[str]:
        every = [block.solution.status or ["ok"] * len(block.solution.throughput) for block in self.blocks]
        return [name for one in every for name in one] if any(block.solution.status for block in self.blocks) else []


class SweepOnWorkers:
    """Points, sent once; `answer` is what `solve.answer` would say of a stretch of them."""

    def __init__(self, sweep: SweepOfBlocks, workers: Workers) -> None:
        self.sweep, self.workers = sweep, workers
        self.handle = workers.send(sweep)
        self.within, self.blocks = range(0), [range(0)]

    def answer(self, method: str, within: range | None = None) -> Metrics:
        """Of all points, or of those `within`."""
        self.within = range(len(self.sweep.points)) if within is None else within
        self.blocks = [self.within[block.start : block.stop] for block in blocks(len(self.within), BLOCK)]
        found: tuple[_Swept, str] | None
        if method == "auto":
            networks = _SomeNetworks(self.sweep.points, self.within)
            found = automatically(networks, self.sweep.budget_s, self._chosen)
        else:
            chosen = named(method, [])
            swept = self._attempt(chosen, False)
            found = None if swept is None else (swept, chosen.name)
        return self._apart() if found is None else self._metrics(*found)

    def close(self) -> None:
        self.workers.drop(self.handle)

    def _chosen(self, method: Method) -> _Swept | None:
        return self._attempt(method, True)

    def _attempt(self, method: Method, auto: bool) -> _Swept | None:
        pieces = [SweepBlock(method.name, auto, points) for points in self.blocks]
        found = run_pieces(self.workers, solved_block, self.handle, pieces)
        for one in found:
            if isinstance(one, MethodRefused | SolverError):
                raise one
        if any(one is None for one in found):
            return None
        return _Swept(found, told_once(line for one in found for line in one.solution.message.splitlines()))

    def _apart(self) -> Metrics:
        return Metrics.concat(run_pieces(self.workers, block_apart, self.handle, self.blocks))

    def _metrics(self, swept: _Swept, method: str) -> Metrics:
        solution = joined([block.solution for block in swept.blocks])
        solution.status, solution.message = swept.status, swept.message
        first = self.sweep.points.networks(self.within[:1])[0]
        points = PointArrays.joined(first, [block.points for block in swept.blocks])
        return metrics(points, solution, method, self.sweep.points.columns(self.within))


def told_once(lines: Iterable[str]) -> str:
    """Lines that differ by more than their numbers, in the order in which they came; of numbers that differ, the least … the greatest."""
    kinds: dict[str, list[list[str]]] = {}
    for line in lines:
        kinds.setdefault(NUMBER.sub("{}", line.replace("{", "{{").replace("}", "}}")), []).append(NUMBER.findall(line))
    return "\n".join(kind.format(*map(_span, zip(*numbers, strict=True))) for kind, numbers in kinds.items())


def _span(numbers: Iterable[str]) -> str:
    known = sorted(dict.fromkeys(numbers), key=float)
    return known[0] if len(known) == 1 else f"{known[0]} … {known[-1]}"


def joined(parts: Sequence[Solution]) -> Solution:
    """The solutions of stretches of points as one; what only some of them know is NaN in the others."""
    counts = [len(part.throughput) for part in parts]
    firsts = np.cumsum([0, *counts[:-1]]).tolist()
    whole: dict[str, Any] = {"lost_late": any(part.lost_late for part in parts)}
    for name in ARRAYS:
        whole[name] = _filled([getattr(part, name) for part in parts], counts)
    for name in ("low", "high"):
        known = dict.fromkeys(key for part in parts for key in getattr(part, name))
        whole[name] = {key: _filled([getattr(part, name).get(key) for part in parts], counts) for key in known}
    whole["more"] = [
        {**row, "point": row["point"] + at} for part, at in zip(parts, firsts, strict=True) for row in part.more
    ]
    whole["parts"] = [
        PartialSolution([point + at for point in own.points], own.networks, own.solution)
        for part, at in zip(parts, firsts, strict=True) for own in part.parts
    ]  # fmt: skip
    return Solution(**whole)


def _filled(arrays: Sequence[Any], counts: Sequence[int]) -> Any:
    known = next((array for array in arrays if array is not None), None)
    if known is None:
        return None
    none = [np.full((count, *known.shape[1:]), np.nan) for count in counts]
    return np.concatenate([gap if array is None else array for array, gap in zip(arrays, none, strict=True)])
