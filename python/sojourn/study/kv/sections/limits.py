"""The report's section Limits: what limited each point, with the evidence, and what this place cannot show."""

from __future__ import annotations

from typing import Any

import polars as pl

from sojourn.report import Section, Table, Text
from sojourn.report.document import Block, Cell
from sojourn.study.kv.analysis import marked, uses
from sojourn.study.kv.seen import configurations, name_of

LEAD = (
    "What limited each point, found from its data. A client, a server, a net thread that works 90 % of the time (a server: "
    "of its share of the cores), a network that sends at 90 % of its rate, or a core that several of them were put on, the "
    "most used of them; else all cores together; else workers that are all held; else the round trip. Where the client or "
    "cores limit, this machine is too small to say something of the middleware alone."
)


# what others took is no property of this machine
TOO_SMALL = pl.col("too_small") & ~pl.col("disturbed")


def limits_section(seen: pl.DataFrame, cores: int, lab: dict[str, Any]) -> Section:
    """From the rows of all runs and the description of the place where they ran (`Place.describe`)."""
    return Section("Limits", LEAD, (*_place(lab), _limits(marked(seen, cores)), _uses(seen, cores)))


def _place(lab: dict[str, Any]) -> list[Block]:
    if not lab:
        return []
    if lab["not shown"]:
        return [Text("Not shown: " + "; ".join(lab["not shown"]) + ".")]
    said = [
        f"Hosts are network namespaces of their own, packets have at most {lab['mtu_bytes']} bytes",
        _rate("server", lab["server_rate_bit_per_s"]),
        _rate("middleware", lab["proxy_rate_bit_per_s"]),
        f"each server has {lab['server_cores']:g} of a core" if lab["server_cores"] else "",
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
        small, others = (_clients(own.filter(what)) for what in (TOO_SMALL, pl.col("disturbed")))
        text = "; ".join(f"{what} at {clients}" for what, clients in by.items())
        cells.append((name_of(configuration), text, small, others))
    columns = ("configuration", "limited by, at clients", "machine too small, at clients", "disturbed, at clients")
    note = (
        "Too small: the client or cores limit, undisturbed. Disturbed: other processes used more than 5 % of the cores."
    )
    return Table("Limits", columns, tuple(cells), note)


def _clients(rows: pl.DataFrame) -> str:
    return ", ".join(map(str, rows["clients"].unique().sort().to_list())) or "no"


def _uses(seen: pl.DataFrame, cores: int) -> Table:
    """The evidence at the most clients of each configuration, means over repetitions."""
    names: list[str] = []
    cells: list[tuple[Cell, ...]] = []
    for configuration, own in configurations(seen):
        most = own.filter(pl.col("clients") == own["clients"].max())
        found = pl.DataFrame([uses(row, cores) for row in most.to_dicts()])
        names = found.columns
        cells.append((name_of(configuration), most["clients"][0], *(found[name].mean() for name in names)))  # type: ignore[arg-type]
    note = "Of one core, of a server's share, of a rate, of all cores, of all workers."
    columns = ("configuration", "clients", *names)
    return Table(
        "How much was used, at the most clients", columns, tuple(cells), note, ("", ".0f", *[".0%"] * len(names))
    )
