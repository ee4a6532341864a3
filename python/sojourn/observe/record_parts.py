"""Parts of a record between changes of the service: which one a fit takes, and why the others are left out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sojourn.observe.change_points import ChangePoint, change_points
from sojourn.observe.observed_windows import ObservedWindow
from sojourn.units import percent

FEWEST = 10  # windows of a part that is fitted


@dataclass(frozen=True)
class RecordParts:
    """`changes` in order of time; `start`, `end`: windows of the part that is used, the last one that is long enough, or the longest;
    `reasons`: number of a window → why it is not used."""

    changes: Sequence[ChangePoint]
    start: int
    end: int
    reasons: Mapping[int, str]
    notes: Sequence[str]

    @staticmethod
    def of(windows: Sequence[ObservedWindow]) -> RecordParts:
        changes = change_points(windows)
        edges = [0, *(one.window for one in changes), len(windows)]
        parts = list(pairwise(edges))
        long = [part for part in parts if part[1] - part[0] >= FEWEST]
        start, end = long[-1] if long else max(parts, key=lambda part: part[1] - part[0])
        reasons = {i: f"before a change at {moment(windows[start].start_s)}" for i in range(start)}
        reasons |= {i: f"after a change at {moment(windows[end].start_s)}" for i in range(end, len(windows))}
        return RecordParts(changes, start, end, reasons, _notes(changes, start, end, len(windows)))


def _notes(changes: Sequence[ChangePoint], start: int, end: int, count: int) -> list[str]:
    if not changes:
        return []
    said = [told(one) for one in changes]
    if end < count:
        said.append(
            f"only {count - end} windows since the last change: the {end - start} before it are used, and a fit of them is stale"
        )
    else:
        said.append(
            f"only the {end - start} windows since the last change are used; the {start} before it are left out"
        )
    return said


def told(one: ChangePoint) -> str:
    """A change in words."""
    whose = f"requests of {one.cls}" if one.cls else "requests"
    does = "more" if one.ratio > 1 else "less"
    by = percent(abs(one.ratio - 1), 0)
    return f"{whose} take {by} {does} of {one.resource} from {moment(one.at_s)} on ({one.sure:.0f} standard errors): a deployment?"


def moment(at_s: float) -> str:
    """Of a Unix time, UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(at_s))
