"""Whether the laws hold in each configuration."""

from __future__ import annotations

import polars as pl

from sojourn.report import Section, Table
from sojourn.report.document import Cell
from sojourn.study.kv.analysis import laws
from sojourn.study.kv.sections.words import number
from sojourn.study.kv.seen import configurations, name_of

LEAD = (
    "Interactive law: throughput × response time should be the clients, who do not think. Little's law on the "
    "middleware's queue: throughput × time in it should be its mean length, judged where that is 1 at least, within "
    "5 % and two standard errors of the length."
)
COLUMNS = ("configuration", "interactive law holds", "worst", "Little's law holds", "worst ")


def laws_section(seen: pl.DataFrame) -> Section:
    """How many runs hold, and the largest error."""
    cells = tuple(_row(name_of(configuration), own) for configuration, own in configurations(laws(seen)))
    table = Table("Laws, within 5 %", COLUMNS, cells, formats=("", "", ".1%", "", ".1%"))
    return Section("Laws", LEAD, (table,))


def _row(name: str, own: pl.DataFrame) -> tuple[Cell, ...]:
    judged = own.filter(pl.col("little").is_not_null())
    little = f"{(judged['little'] == 'holds').sum()} of {judged.height}" if judged.height else None
    interactive = f"{(own['interactive'] == 'holds').sum()} of {own.height}"
    worst, worst_little = own["interactive_error"].abs().max(), judged["little_error"].abs().max()
    return name, interactive, number(worst), little, number(worst_little)
