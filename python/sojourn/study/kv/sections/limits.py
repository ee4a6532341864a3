"""What limited each point."""

from __future__ import annotations

import polars as pl

from sojourn.report import Section, Table
from sojourn.report.document import Cell
from sojourn.study.kv.analysis import limited_by
from sojourn.study.kv.seen import configurations, name_of

LEAD = (
    "What limited each point, from CPU times per operation: client, a server, or a net thread that works 90 % of the "
    "time; else all cores together; else workers that are all held; else the round trip. Where the client or the "
    "cores limit, this machine is too small to say something of the middleware alone."
)
TOO_SMALL = {"client", "the machine's cores"}


def limits_section(seen: pl.DataFrame, cores: int) -> Section:
    """A row a configuration."""
    cells: list[tuple[Cell, ...]] = []
    for configuration, own in configurations(seen):
        by: dict[str, list[int]] = {}
        for row in own.to_dicts():
            by.setdefault(limited_by(row, cores), []).append(row["clients"])
        text = "; ".join(f"{what} at {', '.join(map(str, sorted(set(n))))}" for what, n in by.items())
        cells.append((name_of(configuration), text, "yes" if TOO_SMALL & set(by) else "no"))
    columns = ("configuration", "limited by, at clients", "machine too small")
    return Section("Limits", LEAD, (Table("Limits", columns, tuple(cells)),))
