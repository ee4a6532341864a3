"""What a guest's virtual CPUs did in a run, by its own kernel and by the host.

The guest's kernel counts ticks: a virtual CPU is busy whenever it does not idle. The host's scheduler counts how long the thread of a
virtual CPU ran, and how long it could have run and had no core: that time is stolen from the guest. A guest that is not told of it takes
it for its own where it comes in the middle of work, and for idle time where it comes after a wake-up. So by its own account it is busier
than by the host's, by at most what was stolen, as far as ticks see it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sojourn.runs import MeasuredResource, RunFolder, counter_changes, metrics_row

FRONT, DATABASE = "front", "database"
GUESTS = (FRONT, DATABASE)
THREADS = "guest_threads"  # in host.parquet: of each guest "CPU K" and "others", `run_s` and `wait_s`
OTHERS = "others"
HYPERVISOR = "hypervisor share"
TOLD = "told_steal"
IDLE = ("idle", "iowait")


def cores_of(guest: str, cpus: int) -> tuple[int, ...]:
    """The numbers that a guest's virtual CPUs have in a run: those of the first guest, then those of the second."""
    first = GUESTS.index(guest) * cpus
    return tuple(range(first, first + cpus))


@dataclass(frozen=True)
class GuestAccount:
    """Of one guest in a run's window, as shares of the time of its `cpus` virtual CPUs. By its own kernel: `busy`, `io_wait`, and
    `told_steal`, what it was told that it was not given. By the host: `ran`, its virtual CPUs' threads, and `waited`, these without a
    core. `others_cores`: what all other threads of its QEMU ran, in cores."""

    guest: str
    cpus: int
    busy: float
    io_wait: float
    told_steal: float
    ran: float
    waited: float
    others_cores: float

    @property
    def difference(self) -> float:
        """By how much the guest is busier by its own account than by the host's."""
        return self.busy - self.ran


def guest_accounts(host: pl.DataFrame, window_s: Sequence[float], cpus: int) -> list[GuestAccount]:
    """Of host samples as `CountedGuests` writes them; without what was not recorded."""
    grown = counter_changes(host.filter(pl.col("source").is_in(["cpu", THREADS, TOLD])), window_s[0], window_s[1])
    by: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    for source, key, item, change, over_s in grown.select("source", "key", "item", "change", "over_s").iter_rows():
        by.setdefault((source, key), {})[item] = (change, over_s)
    return [one for name in GUESTS if (one := _account(by, name, cpus))]


def _account(by: dict[tuple[str, str], dict[str, tuple[float, float]]], guest: str, cpus: int) -> GuestAccount | None:
    cores = [str(core) for core in cores_of(guest, cpus)]
    states = [by[("cpu", core)] for core in cores if ("cpu", core) in by]
    threads = [by[(THREADS, f"{guest} CPU {k}")] for k in range(cpus) if (THREADS, f"{guest} CPU {k}") in by]
    if len(states) < cpus or len(threads) < cpus:
        return None
    ticks = [{state: change for state, (change, _) in one.items()} for one in states]
    told = [by.get((TOLD, core), {}).get("", (0.0, 1.0))[0] for core in cores]
    totals = [sum(own.values()) + more for own, more in zip(ticks, told, strict=True)]
    idle = [sum(own.get(state, 0.0) for state in IDLE) for own in ticks]

    def mean(values: list[float]) -> float:
        return sum(value / total for value, total in zip(values, totals, strict=True) if total > 0) / cpus

    def per_s(item: str) -> float:
        return sum(change / over_s for change, over_s in (one[item] for one in threads)) / cpus

    change, over_s = by.get((THREADS, f"{guest} {OTHERS}"), {}).get("run_s", (0.0, 1.0))
    io_wait, not_given = mean([own.get("iowait", 0.0) for own in ticks]), mean(told)
    return GuestAccount(
        guest, cpus, 1.0 - mean(idle) - not_given, io_wait, not_given, per_s("run_s"), per_s("wait_s"), change / over_s
    )


def accounts_of(folder: RunFolder) -> list[GuestAccount]:
    """Of a run of two guests; nothing where it has no such record."""
    host, window_s = folder.frame("host"), folder.manifest.get("window_s")
    if host is None or window_s is None:
        return []
    return guest_accounts(host, window_s, int(folder.manifest["factors"]["cpus"]))


def by_host(cpus: int) -> dict[str, MeasuredResource]:
    """What the host counts of each guest, as resources; their rows are those of `account_rows`."""
    ran = {f"{guest} on the host": MeasuredResource(float(cpus)) for guest in GUESTS}
    return ran | {f"{guest} hypervisor": MeasuredResource(1.0) for guest in GUESTS}


def account_rows(folder: RunFolder, cpus: int, at_rest: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """Rows of a run's Metrics beside those of its resources: of each guest what its virtual CPUs had of the host (`GUEST on the host`),
    waited for (`GUEST stolen`), and what a request takes of the host; and its QEMU's other threads, in cores (`GUEST hypervisor`). Of both
    guests together what these threads ran for each second of the virtual CPUs (`hypervisor share`); and `at_rest` (`GUEST at rest`)."""
    host, frame, window_s = folder.frame("host"), folder.frame("metrics"), folder.manifest.get("window_s")
    if host is None or frame is None or window_s is None:
        return
    rows = frame.filter(pl.col("metric") == "throughput", pl.col("station") == "", pl.col("class") == "")
    rate = rows["value"][0] if rows.height else None
    for guest, share in at_rest.items():
        yield metrics_row("utilisation", share, station=f"{guest} at rest", unit="1")
    accounts = guest_accounts(host, window_s, cpus)
    if ran := sum(one.ran * one.cpus for one in accounts):
        yield metrics_row("utilisation", sum(one.others_cores for one in accounts) / ran, station=HYPERVISOR, unit="1")
    for one in accounts:
        yield metrics_row("utilisation", one.ran, station=f"{one.guest} on the host", unit="1")
        yield metrics_row("utilisation", one.waited, station=f"{one.guest} stolen", unit="1")
        yield metrics_row("utilisation", one.others_cores, station=f"{one.guest} hypervisor", unit="1")
        if rate:
            yield metrics_row("service_demand", one.ran * cpus / rate, station=f"{one.guest} on the host")
            yield metrics_row("service_demand", one.others_cores / rate, station=f"{one.guest} hypervisor")
