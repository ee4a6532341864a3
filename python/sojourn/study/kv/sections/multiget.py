"""Multi-gets: split over the servers or whole, and the client's response times beside the middleware's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from sojourn.report import Table, Text
from sojourn.report.document import Block, Cell
from sojourn.study.kv.ratio import paired_ratio
from sojourn.study.kv.sections.sides import histogram_figures, shift_table
from sojourn.study.kv.sections.words import MS, mean, number, three

RATIOS = (("throughput_per_s", "1/s", 1.0), ("p50_s", "p50", MS), ("p99_s", "p99", MS))


def multiget_blocks(section: str, rows: pl.DataFrame, folder: Path) -> Iterator[Block]:
    """Nothing where the section has no multi-gets."""
    rows = rows.filter(pl.col("workload").str.starts_with("multi-"))
    if rows.is_empty():
        return
    if rows["sharded"].n_unique() == 2:
        yield split_table(rows)
    if (shifts := shift_table(rows, folder)) is not None:
        yield shifts
        yield startup_text(rows)
        yield from histogram_figures(section, rows, folder)


def split_table(rows: pl.DataFrame) -> Table:
    """Whole and split beside each other: throughput, median, 99th percentile, and how many times one is the other."""
    cells = []
    for (design, workload), own in sorted(rows.partition_by("design", "workload", as_dict=True).items()):
        whole, split = (own.filter(pl.col("sharded") == value) for value in (False, True))
        if whole.height and split.height:
            cells.append((str(design), str(workload).removeprefix("multi-"), *_pairs(whole, split)))
    columns = ["design", "keys"]
    for k, (_, label, _) in enumerate(RATIOS):
        columns += [f"{label}, whole", f"{label}, split", "ratio" + " " * k, "low" + " " * k, "high" + " " * k]
    note = "Split over the servers against whole, at equal clients; 95 % intervals over repetitions, in pairs. Times in ms."
    if rows["repetition"].n_unique() == 1:
        note += " One repetition: no intervals."
    formats = ["", "", *[".0f"] * 2, *[".3f"] * 3, *[".3f"] * 10]
    return Table("Multi-gets, split or whole", tuple(columns), tuple(cells), note, tuple(formats))


def _pairs(whole: pl.DataFrame, split: pl.DataFrame) -> Iterator[Cell]:
    for column, _, scale in RATIOS:
        ratio = paired_ratio(split, whole, column)
        yield from (mean(whole, column, scale), mean(split, column, scale))
        yield from three(ratio) if ratio else (None, None, None)


def startup_text(rows: pl.DataFrame) -> Text:
    """What of the middleware's log was left out, and what it would have done to its throughput."""
    idle, whole, inside = (mean(rows, c) for c in ("startup_s", "mw_whole_per_s", "mw_throughput_per_s"))
    if idle is None or not whole or not inside:
        return Text("The middleware's log was not read.")
    lower = rows["mw_whole_per_s"] / rows["mw_throughput_per_s"] - 1
    client = mean(rows.select(error=pl.col("mw_throughput_per_s") / pl.col("throughput_per_s") - 1), "error")
    return Text(
        f"The middleware is up before its clients: {number(idle):.2f} s of its log have no request (mean of all runs). A mean "
        f"over the whole log, those zeros and the warm-up in it, would be {100 * float(lower.mean() or 0):+.1f} % off; "  # type: ignore[arg-type]
        f"here only periods that lie whole in the client's window count, and throughput of middleware and client differ by "
        f"{100 * (client or 0.0):+.2f} %."
    )
