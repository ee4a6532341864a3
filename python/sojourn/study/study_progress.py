"""How far a study is: which run of how many, what differs in it, and about how long the rest takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sojourn.study.study_points import SHARE, saturating
from sojourn.study.system import Point, System
from sojourn.study.verdict import factors_text


@dataclass
class StudyProgress:
    """`runs`: how many are planned, at least; `varied`: factors that differ between them; `now_s`: a clock that never steps back."""

    runs: int = 0
    varied: tuple[str, ...] = ()
    repeated: bool = False
    now_s: Callable[[], float] = time.monotonic
    _done: int = 0
    _times_s: list[float] = field(default_factory=list)

    def there(self, count: int) -> None:
        """So many runs are there from before."""
        self._done += count

    @contextmanager
    def run(self, point: Point) -> Iterator[str]:
        """Around one run: what to print before it. The time left is that of the mean run so far; before a first run none is known."""
        left = max(self.runs - self._done, 1)
        start_s = self.now_s()
        yield f"run {self._done + 1} of {max(self.runs, self._done + 1)}: {self._named(point)}{self._left(left)}"
        self._times_s.append(self.now_s() - start_s)
        self._done += 1

    def _named(self, point: Point) -> str:
        here = tuple(name for name in self.varied if name in point.factors)
        named = f"{point.section}, {factors_text(point.factors, here)}" if here else point.section
        return f"{named}, {point.repetition}" if self.repeated else named

    def _left(self, runs: int) -> str:
        if not self._times_s:
            return ""
        left_s = runs * sum(self._times_s) / len(self._times_s)
        return f"; about {left_s / 60:.0f} min left" if left_s >= 90 else f"; about {left_s:.0f} s left"


def progress_of(points: Iterable[Point], system: System, users: int) -> StudyProgress:
    """Of all planned points: those that ask for a share of the saturation rate have it measured first, a run for each configuration."""
    planned = list(points)
    full = {saturating(point, system, users).name for point in planned if SHARE in point.factors}
    names = dict.fromkeys(name for point in planned for name in point.factors if name != SHARE)
    differ = [name for name in names if len({repr(point.factors.get(name)) for point in planned}) > 1]
    rate = ("rate_per_s",) if full and "rate_per_s" not in differ else ()
    return StudyProgress(len(planned) + len(full), (*differ, *rate), any(point.repetition > 1 for point in planned))
