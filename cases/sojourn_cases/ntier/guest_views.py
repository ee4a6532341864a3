"""How busy guests say they are, and what the host says of their virtual CPUs' threads, by users, for each configuration.

What the two accounts say of a request's service demand and so of the greatest throughput (asymptotic bound: Lazowska et al., Quantitative
System Performance (1984), chapter 5) stands beside what was completed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import polars as pl

from sojourn.report import Cell, Figure, Section, Series, Table
from sojourn.runs import RunFolder
from sojourn.study import Analysis
from sojourn.units import percent, quantity
from sojourn_cases.ntier.guest_account import GUESTS, GuestAccount, accounts_of

POINTS = 100  # percentage points
Configuration = tuple[int, str]  # virtual CPUs of each guest, placement


@dataclass(frozen=True)
class GuestRun:
    """A run with both accounts of each guest. `per_s`: its throughput; `host_cores`: of all virtual CPUs."""

    users: int
    per_s: float
    response_s: float
    host_cores: int
    accounts: tuple[GuestAccount, ...]

    def of(self, guest: str) -> GuestAccount:
        return next(one for one in self.accounts if one.guest == guest)

    def demand_s(self, guest: str, by_host: bool) -> float:
        """CPU time a request by one of the two accounts."""
        one = self.of(guest)
        return (one.ran if by_host else one.busy) * one.cpus / self.per_s

    def most_per_s(self, by_host: bool, shared: bool) -> float:
        """The bound of the throughput: by a guest's account its busiest guest is full; by the host's its busiest cores are, which both
        guests have where they are `shared`, with all that QEMU does."""
        if not by_host:
            return min(one.cpus / self.demand_s(one.guest, False) for one in self.accounts)
        needs = {one.guest: (one.ran * one.cpus + one.others_cores) / self.per_s for one in self.accounts}
        if shared:
            return self.host_cores / sum(needs.values())
        return min(one.cpus / needs[one.guest] for one in self.accounts)


def configurations(runs: Sequence[RunFolder]) -> dict[Configuration, list[GuestRun]]:
    """The valid runs by configuration, by users."""
    by: dict[Configuration, list[GuestRun]] = {}
    for run in runs:
        one = guest_run(run) if run.manifest["valid"] else None
        if one:
            factors = run.manifest["factors"]
            by.setdefault((int(factors["cpus"]), str(factors["placement"])), []).append(one)
    return {key: sorted(by[key], key=lambda one: one.users) for key in sorted(by)}


def guest_run(run: RunFolder) -> GuestRun | None:
    """Nothing of a run without both accounts."""
    accounts, frame = accounts_of(run), run.frame("metrics")
    if len(accounts) < len(GUESTS) or frame is None:
        return None
    rows = frame.filter(pl.col("station") == "", pl.col("class") == "", pl.col("q").is_null())
    told = dict(rows.select("metric", "value").iter_rows())
    cores = {core for own in run.manifest["lab"]["host_cores"].values() for core in own}
    return GuestRun(
        int(run.manifest["factors"]["users"]), told["throughput"], told["response_time"], len(cores), tuple(accounts)
    )


def of_configurations(by: Mapping[Configuration, Sequence[GuestRun]]) -> Analysis:
    """What is shown of these runs."""
    if not by:
        return Analysis(("no valid run has both accounts of its guests",))
    lines = [line for key, runs in by.items() for line in _lines(key, runs)]
    figures = [figure for key, runs in by.items() for figure in _figures(key, runs)]
    lead = (
        "A guest counts its virtual CPU as busy whenever it does not idle. The host counts how long the thread of the virtual CPU ran, and "
        "how long it waited for a core."
    )
    blocks: tuple[Figure | Table, ...] = (*figures, _throughput(by), _table(by), _bounds(by))
    return Analysis(tuple(lines), (Section("Guests by their own account and by the host's", lead, blocks),))


def _named(key: Configuration) -> str:
    cpus, placement = key
    return f"{cpus} virtual CPU{'s' * (cpus > 1)} each, {placement}"


def _lines(key: Configuration, runs: Sequence[GuestRun]) -> Iterator[str]:
    run = runs[-1]
    worst = max(run.accounts, key=lambda one: one.difference)
    yield (
        f"{_named(key)}, {run.users} users: the {worst.guest} guest says {percent(worst.busy, 0)} busy, the host gave it "
        f"{percent(worst.ran, 0)}: {worst.difference * POINTS:.0f} points apart; "
        f"it waited for a core {percent(worst.waited, 0)} of the time, and was told of {percent(worst.told_steal, 0)}"
    )
    below, most = _below_most(runs), max(one.per_s for one in runs)
    own, host = (quantity(below.most_per_s(by_host, key[1] == "shared"), "1/s") for by_host in (False, True))
    yield (
        f"{_named(key)}: from {below.users} users, the guests' accounts bound the throughput by {own}, the host's by {host}; "
        f"completed were at most {quantity(most, '1/s')}"
    )


def _below_most(runs: Sequence[GuestRun]) -> GuestRun:
    """One with the second most users: demands fall with the load, so that few users say little of the greatest throughput."""
    users = sorted({one.users for one in runs})
    return next(one for one in runs if one.users == users[-2:][0])


def _by_users(runs: Sequence[GuestRun]) -> dict[int, list[GuestRun]]:
    by: dict[int, list[GuestRun]] = {}
    for one in runs:
        by.setdefault(one.users, []).append(one)
    return by


def _series(name: str, runs: Sequence[GuestRun], value: Any, style: Any = "line", group: str = "") -> Series:
    """Means of the repetitions, with the smallest and the largest where there are several."""
    by = _by_users(runs)
    each = [[value(one) for one in own] for own in by.values()]
    several = any(len(own) > 1 for own in each)
    low, high = ([pick(own) for own in each] if several else None for pick in (min, max))
    return Series(name, list(by), [fmean(own) for own in each], low, high, style, group)


def _of_guests(runs: Sequence[GuestRun], *lines: tuple[str, str, str]) -> list[Series]:
    """A line a guest for each of `lines`: its name, which attribute of the account it is, its style."""
    return [
        _series(f"{guest}: {name}", runs, lambda one, g=guest, w=what: POINTS * getattr(one.of(g), w), style, guest)
        for guest in GUESTS
        for name, what, style in lines
    ]


def _figures(key: Configuration, runs: Sequence[GuestRun]) -> Iterator[Figure]:
    series = _of_guests(runs, ("by the guest", "busy", "line"), ("by the host", "ran", "dashed"))
    title = f"Utilisation of virtual CPUs: {_named(key)}"
    note = "Lines: ticks of the guest's own kernel. Dashed: run time of the virtual CPUs' threads on the host."
    where = f"guests-{key[0]}-{key[1]}"
    yield Figure(where, title, "users", "% of the virtual CPUs", tuple(series), note, y_limits=(0.0, None))
    series = _of_guests(runs, ("difference", "difference", "line"), ("waited", "waited", "dashed"))
    title = f"By how much guest and host disagree: {_named(key)}"
    note = "Lines: busy by the guest less what its threads ran. Dashed: how long these waited for a core, by the host's scheduler."
    yield Figure(f"{where}-difference", title, "users", "points of utilisation", tuple(series), note)


def _throughput(by: Mapping[Configuration, Sequence[GuestRun]]) -> Figure:
    series = tuple(_series(_named(key), runs, lambda one: one.per_s) for key, runs in by.items())
    title = "Throughput against users, by where the virtual CPUs run"
    return Figure("guests-throughput", title, "users", "1/s", series, y_limits=(0.0, None))


def _table(by: Mapping[Configuration, Sequence[GuestRun]]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            _named(key), str(run.users), run.per_s, run.response_s, one.guest, one.busy, one.ran, one.difference, one.waited,
            one.told_steal, one.others_cores, run.demand_s(one.guest, False) * 1e3, run.demand_s(one.guest, True) * 1e3,
        )
        for key, runs in by.items() for run in runs for one in run.accounts
    ]  # fmt: skip
    columns = (
        "virtual CPUs", "users", "1/s", "response, s", "guest", "busy by the guest", "ran by the host", "difference", "waited",
        "told", "QEMU's others, cores", "demand by the guest, ms", "demand by the host, ms",
    )  # fmt: skip
    formats = ("", "", ".1f", ".3f", "", ".1%", ".1%", ".1%", ".1%", ".1%", ".2f", ".2f", ".2f")
    note = "Waited: the host's scheduler had no core for the thread. Told: what the guest's kernel counts as steal."
    return Table("Each guest in each run", columns, tuple(rows), note, formats)


def _bounds(by: Mapping[Configuration, Sequence[GuestRun]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for key, runs in by.items():
        shared, most = key[1] == "shared", max(one.per_s for one in runs)
        for run in runs:
            own, host = run.most_per_s(False, shared), run.most_per_s(True, shared)
            rows.append((_named(key), str(run.users), own, host, most, own / most - 1, host / most - 1))
    columns = (
        "virtual CPUs", "users", "bound by the guests, 1/s", "bound by the host, 1/s", "most completed, 1/s", "guests off", "host off",
    )  # fmt: skip
    note = (
        "A bound is at least what is completed, where demands stay as they are. They are of the run with these users."
    )
    return Table(
        "What each account says of the greatest throughput",
        columns,
        tuple(rows),
        note,
        ("", "", ".0f", ".0f", ".0f", "+.0%", "+.0%"),
    )
