"""What was predicted of two guests before they were run on the same core, beside what host and guests then counted.

A prediction has each guest by the host's account (`front`), and the most that the guest itself can see (`front.guest`): its virtual CPUs
run or wait for a core. The host counts both. The guest's own account lies between the two: it sees a wait in the middle of its work, and
takes one that follows a wake-up for idle time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.report import Cell, Table
from sojourn_cases.ntier.guest_account import GUESTS
from sojourn_cases.ntier.guest_views import GuestRun

HOST, COULD_RUN, GUEST = "ran, by the host", "ran or waited, by the host", "busy, by the guest"


@dataclass(frozen=True)
class PredictedVcpuShare:
    """One guest in one run: a share of the time of its virtual CPUs, `low` to `high` at the level of the study. `value`: none of what is
    only said to lie between two accounts."""

    users: int
    guest: str
    what: str
    value: float | None
    low: float
    high: float
    measured: float

    @property
    def inside(self) -> bool:
        return self.low <= self.measured <= self.high


def predicted_shares(
    predicted: Mapping[str, Any] | None, runs: Sequence[GuestRun], section: str
) -> list[PredictedVcpuShare]:
    """Of the runs of a section that was predicted; none where it was not."""
    found: list[PredictedVcpuShare] = []
    for one in (predicted or {}).get("configurations", ()):
        if one["section"] == section:
            rows = {r["station"]: r for r in one["rows"] if r["metric"] == "utilisation" and r["low"] is not None}
            users = int(one["factors"]["users"])
            found += [share for run in runs if run.users == users for share in _shares(run, rows)]
    return found


def _shares(run: GuestRun, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[PredictedVcpuShare]:
    for guest in GUESTS:
        own, host, most = run.of(guest), rows.get(guest), rows.get(f"{guest}.guest")
        if host is None or most is None:
            continue
        high = min(most["high"], 1.0)
        yield PredictedVcpuShare(run.users, guest, HOST, host["value"], host["low"], min(host["high"], 1.0), own.ran)
        yield PredictedVcpuShare(
            run.users, guest, COULD_RUN, most["value"], most["low"], high, min(own.ran + own.waited, 1.0)
        )
        yield PredictedVcpuShare(run.users, guest, GUEST, None, host["low"], high, own.busy)


def prediction_lines(section: str, shares: Sequence[PredictedVcpuShare]) -> Iterator[str]:
    """One line: how many of each account lie in what was said before."""
    if shares:
        each = [(what, [s.inside for s in shares if s.what == what]) for what in (HOST, COULD_RUN, GUEST)]
        counted = "; ".join(f"{what}: {sum(inside)} of {len(inside)}" for what, inside in each)
        yield f"{section}, predicted before it was run: utilisations of the guests inside their intervals: {counted}"


def prediction_table(section: str, shares: Sequence[PredictedVcpuShare]) -> Table:
    """Each share beside what was predicted of it."""
    rows: list[tuple[Cell, ...]] = [
        (str(s.users), s.guest, s.what, s.value, s.low, s.high, s.measured, "yes" if s.inside else "no") for s in shares
    ]
    columns = ("users", "guest", "account", "predicted", "low", "high", "measured", "inside")
    note = (
        "The guest's own account is predicted to lie between what the host gives to it and all that it could run: it does not see a "
        "wait that follows a wake-up."
    )
    formats = ("", "", "", ".1%", ".1%", ".1%", ".1%", "")
    return Table(f"{section}: utilisations, predicted before it was run", columns, tuple(rows), note, formats)
