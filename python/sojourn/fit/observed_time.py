"""When windows of a service were observed, and whether it changed after what a fit has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import gmtime, strftime
from typing import Any


@dataclass(frozen=True)
class ObservedTime:
    """Of a window that was observed, Unix times: when it ends, and when the service last changed in its record, or 0.
    `length_s`: of the window."""

    until_s: float
    changed_s: float = 0.0
    length_s: float = 0.0

    @staticmethod
    def of(manifest: Mapping[str, Any]) -> ObservedTime | None:
        """None of a run that somebody made."""
        seen = manifest.get("observed")
        if not seen:
            return None
        length_s = float(seen["length_s"])
        return ObservedTime(float(seen["start_unix_s"]) + length_s, float(seen.get("changed_unix_s", 0.0)), length_s)


def until_s(windows: Sequence[ObservedTime | None]) -> float:
    """Unix time at which the last one ends; 0 of load tests."""
    return max((one.until_s for one in windows if one), default=0.0)


def notes(windows: Sequence[ObservedTime | None]) -> list[str]:
    """What a fit of them says of its hours."""
    end_s, changed_s = until_s(windows), last_change_s(windows)
    found = [f"fitted to {len(windows)} windows, the last until {moment(end_s)}"] if end_s else []
    if changed_s and changed_s >= end_s:
        found.append(
            f"the service changed at {moment(changed_s)}, after these windows, so that the fit is stale: observe again when there are "
            "more windows since then"
        )
    return found


def last_change_s(windows: Sequence[ObservedTime | None]) -> float:
    """Unix time; 0 where no change was seen."""
    return max((one.changed_s for one in windows if one), default=0.0)


def stale(windows: Sequence[ObservedTime | None], fitted_until_s: float) -> list[str]:
    """A line where the service changed after what a fit has seen, which ended at `fitted_until_s`; none for a fit of load tests (0)."""
    changed_s = last_change_s(windows)
    if not fitted_until_s or changed_s < fitted_until_s:
        return []
    return [
        f"the fit is stale: it has seen the service until {moment(fitted_until_s)}, which changed at {moment(changed_s)}: fit again"
    ]


def moment(at_s: float) -> str:
    """Of a Unix time, UTC."""
    return strftime("%Y-%m-%d %H:%M:%SZ", gmtime(at_s))
