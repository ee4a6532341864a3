"""`ntier.hosts`: how even the load on the web and application servers is, and what more of them complete.

Options: none. Of each configuration the runs with the most users count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sojourn.errors import StudyError
from sojourn.report import Cell, Figure, Section, Series, Table
from sojourn.runs import MeasuredResource, RunFolder, busy_per_s
from sojourn.study import Analysis
from sojourn.units import percent, quantity
from sojourn_cases.ntier.default_stack import NGINX
from sojourn_cases.ntier.site_hosts import APPLICATION

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

WEB, REPLICAS = "web_servers", "replicas"
TIERS = (NGINX, APPLICATION)


@dataclass(frozen=True)
class ServerLoad:
    """A server of a run: requests per second of the whole run, its share of those of its tier times their number (1 where all have as
    many), and the cores that it kept busy (None where its control group was not counted)."""

    name: str
    per_s: float
    balance: float
    busy_cores: float | None


def host_loads(run: RunFolder) -> list[ServerLoad]:
    """Of the web and application servers of a run, front first."""
    manifest: Mapping[str, Any] = run.manifest
    load, service = manifest["load"], manifest["service"]
    groups, busy = manifest["tiers"].get("groups") or {}, busy_per_s(run)
    found = []
    for tier in TIERS:
        said = service[tier] if isinstance(service[tier], list) else [service[tier]]
        counts = [one.get("requests") if tier == NGINX else one.get("completions") for one in said]
        if any(count is None for count in counts) or not sum(counts):
            continue
        names = [tier] if tier == NGINX and len(said) == 1 else [f"{tier}{k}" for k in range(1, len(said) + 1)]
        for name, count in zip(names, counts, strict=True):
            group = MeasuredResource(1.0, cgroups=(groups[name],)).counters() if name in groups else ()
            cores = sum(busy[key] for key in group if key in busy) if any(key in busy for key in group) else None
            found.append(ServerLoad(name, count / load["duration_s"], count * len(counts) / sum(counts), cores))
    return found


def servers_of(run: RunFolder) -> tuple[int, int]:
    """How many web and application servers it had."""
    factors = run.manifest["factors"]
    return int(factors.get(WEB, 1)), int(factors[REPLICAS])


def hosts_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """What each number of servers completes at most, beside the fewest; the load of each host.

    Raises:
        StudyError: an option.
    """
    if options:
        raise StudyError(f"option {next(iter(options))!r}", "[[analysis]] ntier.hosts", "leave it out: it has none")
    groups: dict[tuple[int, int], list[RunFolder]] = {}
    for run in sorted((one for one in found.runs if one.manifest["valid"]), key=servers_of):
        groups.setdefault(servers_of(run), []).append(run)
    if not groups:
        return Analysis()
    highest = {servers: _highest(runs) for servers, runs in groups.items()}
    first = next(iter(highest))
    lines = [f"{_named(servers)}: at most {quantity(x, '1/s')}{_times(x / highest[first], servers, first)}"
             for servers, x in highest.items()]  # fmt: skip
    busiest = {servers: _busiest(runs) for servers, runs in groups.items()}
    worst = max((one.balance for runs in busiest.values() for run in runs for one in host_loads(run)), default=1.0)
    lines.append(f"the busiest server of a tier has at most {percent(worst - 1, 1)} more requests than the mean")
    first_run: Mapping[str, Any] = found.runs[0].manifest
    share = first_run["tiers"].get("host_cores")
    return Analysis(tuple(lines), (Section("Load of each host", "", (*_figures(busiest), _table(busiest, share))),))


def _named(servers: tuple[int, int]) -> str:
    return f"{servers[0]} web and {servers[1]} application server{'s' if servers[1] > 1 else ''}"


def _times(ratio: float, servers: tuple[int, int], first: tuple[int, int]) -> str:
    return "" if servers == first else f", {ratio:.2f} times what {_named(first)} complete"


def _by_users(runs: Sequence[RunFolder]) -> dict[int, list[RunFolder]]:
    found: dict[int, list[RunFolder]] = {}
    for run in runs:
        found.setdefault(int(run.manifest["factors"]["users"]), []).append(run)
    return found


def _highest(runs: Sequence[RunFolder]) -> float:
    return max(
        fmean(run.metrics().value("throughput", station="", cls="") for run in own) for own in _by_users(runs).values()
    )


def _busiest(runs: Sequence[RunFolder]) -> list[RunFolder]:
    by = _by_users(runs)
    return by[max(by)]


def _figures(busiest: Mapping[tuple[int, int], Sequence[RunFolder]]) -> Iterator[Figure]:
    """Requests of each server, where there are the most of them."""
    servers = max(busiest)
    means = _means(busiest[servers])
    if len(means) > len(TIERS):
        bars = Series("requests", range(1, len(means) + 1), [one.per_s for one in means], style="bars")
        yield Figure("host-requests", f"{_named(servers)}: requests of each", "server", "1/s", (bars,),
                     "Means of the valid runs with the most users.", x_names=tuple(one.name for one in means))  # fmt: skip


def _means(runs: Sequence[RunFolder]) -> list[ServerLoad]:
    """Of the servers, over repetitions."""
    each = [host_loads(run) for run in runs]
    rows = []
    for same in zip(*each, strict=False):
        busy = [one.busy_cores for one in same if one.busy_cores is not None]
        rows.append(ServerLoad(
            same[0].name, fmean(one.per_s for one in same), fmean(one.balance for one in same), fmean(busy) if busy else None,
        ))  # fmt: skip
    return rows


def _table(busiest: Mapping[tuple[int, int], Sequence[RunFolder]], share: float | None) -> Table:
    cells: list[tuple[Cell, ...]] = []
    for servers, runs in busiest.items():
        users = str(runs[0].manifest["factors"]["users"])
        cells += [
            (f"web {servers[0]}, application {servers[1]}", users, one.name, one.per_s, one.balance, one.busy_cores,
             None if one.busy_cores is None or not share else one.busy_cores / share)
            for one in _means(runs)
        ]  # fmt: skip
    note = "Requests: of the whole run with its ramps, those under way at its end among them. "
    note += "Balance: requests of the server over the mean of its tier. "
    note += f"Share: of the {share:g} of a core that each host has." if share else ""
    columns = ("servers", "users", "server", "requests, 1/s", "balance", "busy cores", "of its share")
    return Table("Servers with the most users", columns, tuple(cells), note, ("", "", "", ".1f", ".3f", ".3f", ".0%"))
