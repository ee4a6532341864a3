"""The factorial experiment of a section: effects, variation, residuals, and whether another scale is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from sojourn.design import additivity, factorial_effects
from sojourn.design.analyse.blocks import residual_figures, variation_figure
from sojourn.design.analyse.residuals import of_effects
from sojourn.errors import DesignError
from sojourn.report import Table, Text
from sojourn.report.document import Block
from sojourn.study.kv.plan import Section as Planned
from sojourn.study.kv.sections.words import MS

RESPONSES = (("throughput_per_s", "throughput, 1/s", 1.0), ("response_s", "response time, ms", MS))
SHOWN = ("effect", "estimate", "low", "high", "share_of_total", "share_of_explained")
COLUMNS = ("effect", "estimate", "low", "high", "share of SST", "share of SST - SSE")


def effects_blocks(planned: Planned, rows: pl.DataFrame) -> Iterator[Block]:
    """Effects of the section's factors on throughput and response time, for each workload."""
    for workload in dict.fromkeys(rows["workload"].sort()):
        for column, label, scale in RESPONSES:
            own = rows.filter(pl.col("workload") == workload).with_columns((pl.col(column) * scale).alias("y"))
            runs = own.select(*planned.factors, "repetition", "y")
            try:
                yield from _blocks(f"{planned.name}, {workload}", label, runs, planned.factors)
            except DesignError as error:
                yield Text(f"{workload}, {label}: no effects ({error.value}).")


def _blocks(where: str, label: str, runs: pl.DataFrame, factors: list[str]) -> Iterator[Block]:
    title = f"{where}: {label}"
    effects = factorial_effects(runs, "y", factors)
    error = effects.sse / effects.sst if effects.sst > 0 else 0.0
    rest = (("error", None, None, None, error, None),)
    cells = tuple(effects.table.select(SHOWN).iter_rows())
    note = f"{effects.level:.0%} intervals, {effects.degrees} degrees of freedom; shares in both conventions."
    yield Table(title, COLUMNS, (*cells, *rest), note, ("", ".4g", ".4g", ".4g", ".1%", ".1%"))
    yield variation_figure(effects, title)
    if not effects.degrees:
        yield Text("One run of each combination: no errors to look at.")
        return
    check = of_effects(effects)
    yield from residual_figures(check, title, label)
    yield Text(
        f"Normal quantiles: correlation {check.straightness:.3f} (1 for normal errors). Size of the errors against the "
        f"predicted value: rank correlation {check.growth:.2f}; transformation: {check.suggestion}. Do effects add or "
        f"multiply: {additivity(runs, 'y', factors).suggestion}."
    )
