"""`kv.limits`: what limited each point, with the evidence, and what this place cannot show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sojourn.report import Block, Cell, Section, Table, Text
from sojourn.study import Analysis
from sojourn_cases.kv.middleware import configurations, frame, name_of
from sojourn_cases.kv.middleware.affinity import assigned

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

CORES, ONE_CORE = "the machine's cores", "a core that servers and middlewares share"
TOO_SMALL = ("client", CORES, ONE_CORE)
BUSY = 0.9
LEAD = (
    "What limited each point, found from its data. A client, a server, a net thread that works 90 % of the time (a server and a "
    "client host: of their share of the cores), a network that sends at 90 % of its rate, or a core that several of them were put on, "
    "the most used of them; else all cores together; otherwise workers, if all of them are in use; else the round trip. Where the "
    "client or the cores limit a point, this machine is too small to judge the middleware."
)

# what others took is no property of this machine
OWN_FAULT = pl.col("too_small") & ~pl.col("disturbed")


def limits_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """From the rows of all runs and the description of the place where they ran."""
    rows = frame(found.runs)
    if rows.is_empty():
        return Analysis()
    cores = max(len(run.manifest["kv"].get("cores", ())) for run in found.runs) or 1
    small = int(marked(rows, cores)["too_small"].sum())
    line = f"{small} of them are limited by this machine ({cores} cores): see Limits"
    return Analysis((line,), (limits_section(rows, cores, found.runs[0].manifest.get("lab", {})),))


def limits_section(rows: pl.DataFrame, cores: int, lab: dict[str, Any]) -> Section:
    """From the rows of all runs (`system.kv.frame`) and the description of the place where they ran (`Hosts.describe`)."""
    return Section("Limits", LEAD, (*_place(lab), _limits(marked(rows, cores)), _uses(rows, cores)))


def _place(lab: dict[str, Any]) -> list[Block]:
    if not lab:
        return []
    if lab["not shown"]:
        return [Text("Not shown: " + "; ".join(lab["not shown"]) + ".")]
    said = [
        f"Hosts are network namespaces of their own, packets have at most {lab['mtu_bytes']} bytes",
        _rate("server", lab["server_rate_bit_per_s"]),
        _rate("middleware", lab["proxy_rate_bit_per_s"]),
        _rate("client host", lab.get("client_rate_bit_per_s")),
        f"each server has {lab['server_cores']:g} of a core" if lab["server_cores"] else "",
        f"each client host has {lab['client_cores']:g} of a core" if lab.get("client_cores") else "",
        *lab["refused"],
    ]
    return [Text("; ".join(filter(None, said)) + ".")]


def _rate(kind: str, rate_bit_per_s: float | None) -> str:
    return f"a {kind} sends at most {rate_bit_per_s / 1e6:g} Mbit/s" if rate_bit_per_s else ""


def _limits(rows: pl.DataFrame) -> Table:
    cells: list[tuple[Cell, ...]] = []
    for configuration, own in configurations(rows):
        by = {
            str(what): _clients(group)
            for (what,), group in own.partition_by("limited_by", as_dict=True, maintain_order=True).items()
        }
        small, others = (_clients(own.filter(what)) for what in (OWN_FAULT, pl.col("disturbed")))
        text = "; ".join(f"{what} at {clients}" for what, clients in by.items())
        cells.append((name_of(configuration), text, small, others))
    columns = (
        "configuration",
        "limited by, at clients",
        "machine too small, at so many clients",
        "disturbed, at clients",
    )
    note = "Too small: not disturbed, but limited by the client or the cores. Disturbed: by other processes or the hypervisor."
    return Table("Limits", columns, tuple(cells), note)


def _clients(rows: pl.DataFrame) -> str:
    return ", ".join(map(str, rows["clients"].unique().sort().to_list())) or "no"


def _uses(rows: pl.DataFrame, cores: int) -> Table:
    """The evidence at the most clients of each configuration, means over repetitions."""
    names: list[str] = []
    cells: list[tuple[Cell, ...]] = []
    for configuration, own in configurations(rows):
        most = own.filter(pl.col("clients") == own["clients"].max())
        found = pl.DataFrame([uses(row, cores) for row in most.to_dicts()])
        names = found.columns
        cells.append((name_of(configuration), most["clients"][0], *(found[name].mean() for name in names)))  # type: ignore[arg-type]
    note = "Each value is a share of one core, of a server's part of a core, of a network's rate, of all cores, or of all workers."
    columns = ("configuration", "clients", *names)
    return Table(
        "Utilisation with the largest number of clients",
        columns,
        tuple(cells),
        note,
        ("", ".0f", *[".0%"] * len(names)),
    )


def uses(row: dict[str, Any], cores: int) -> dict[str, float]:
    """How much of each part of the system a run used, 0 to 1 (more by errors of measurement): the client's busiest
    thread, a server's CPU of its share (a core where it has none), a net thread; the network of a client, of a server and of a
    middleware where it has a rate; a core that several processes of the system were put on; all cores together (by other
    processes too); workers that are held. A share that is used up in most of its periods is as much used as that: what
    a server does not get, it cannot be seen to use."""
    x = row["throughput_per_s"]

    def known(name: str, otherwise: float = 0.0) -> float:
        value = row.get(name)
        return float(value) if value is not None and np.isfinite(value) else otherwise

    of_server = x * known("server_cpu_s") / row["servers"] / known("server_cores", 1.0)
    per_operation = sum(known(name) for name in ("client_cpu_s", "server_cpu_s", "net_cpu_s", "worker_cpu_s"))
    pool = row["workers"] * row["proxies"]
    work = {name: known(f"{name}_cpu_s") for name in ("server", "net", "worker")}
    return {
        "client": max(known("client_share"), known("client_throttled")),
        "server CPU": max(of_server, known("server_throttled")),
        "net thread": x * known("net_cpu_s") / max(row["proxies"], 1),
        "network of a client": known("client_sent_bit_per_s") / known("client_rate_bit_per_s", np.inf),
        "network of a server": known("server_sent_bit_per_s") / known("server_rate_bit_per_s", np.inf),
        "network of a middleware": known("proxy_sent_bit_per_s") / known("proxy_rate_bit_per_s", np.inf),
        ONE_CORE: x * _shared_s(row, cores, work["server"], work["net"] + work["worker"]),
        CORES: (x * per_operation + known("other_processes_cores")) / cores,
        "workers": x * known("service_s") / pool if pool else 0.0,
    }


def _shared_s(row: dict[str, Any], cores: int, servers_s: float, proxies_s: float) -> float:
    """CPU time of an operation on the core that has most of it, of those with two processes of the system or more."""
    if not row.get("pinned"):
        return 0.0
    who = assigned(range(cores), row["servers"], row["proxies"])
    each = [(own, servers_s / row["servers"]) for own in who.servers]
    each += [(own, proxies_s / row["proxies"]) for own in who.proxies]
    places = [own for own, _ in each]
    found = {own: sum(s for other, s in each if other == own) / len(own) for own in places if places.count(own) > 1}
    return max(found.values(), default=0.0)


def limited_by(row: dict[str, Any], cores: int) -> str:
    """What limits a run: the most used of client, server CPU, net thread, networks and a shared core where that is 90 %; else the
    machine where all cores are in use; else workers where they are all held; else the round trip."""
    used = uses(row, cores)
    machine, workers = used.pop(CORES), used.pop("workers")
    busiest = max(used, key=lambda name: used[name])
    if used[busiest] >= BUSY:
        return busiest
    if machine >= BUSY:
        return CORES
    return "workers" if workers >= BUSY else "round trip"


def too_small(row: dict[str, Any], cores: int) -> bool:
    """The rule: the client's thread, a core that several must share, or all cores together are what limits, so the point
    says nothing of the middleware alone."""
    return limited_by(row, cores) in TOO_SMALL


def marked(rows: pl.DataFrame, cores: int) -> pl.DataFrame:
    """The rows with what limited each (`limited_by`) and whether the machine was too small for it (`too_small`)."""
    limits = [limited_by(row, cores) for row in rows.to_dicts()]
    return rows.with_columns(
        limited_by=pl.Series(limits, dtype=pl.String),
        too_small=pl.Series([x in TOO_SMALL for x in limits], dtype=pl.Boolean),
    )
