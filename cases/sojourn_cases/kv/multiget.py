"""`kv.multiget`: multi-gets split over the servers or whole: how many times one is the other, in pairs; both sides of the requests.

Repetitions are blocks, and within one both were run near each other: ratios are of pairs (`ratio_of_pairs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.design import TestedEstimate, ratio_of_pairs
from sojourn.report import Block, Cell, Section, Table, Text
from sojourn.runs import RunFolder
from sojourn.study import Analysis
from sojourn.units import USUAL_LEVEL, percent
from sojourn_cases.kv.client_and_middleware import histogram_figures, keys_text, shift_table
from sojourn_cases.kv.measured_figures import key_figures
from sojourn_cases.kv.middleware import frame
from sojourn_cases.kv.server_load import server_figures
from sojourn_cases.kv.table_cells import MS, mean, number, three

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

RATIOS = (("throughput_per_s", "1/s", 1.0), ("p50_s", "p50", MS), ("p99_s", "p99", MS))


def multiget_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Of the runs whose workload has gets of several keys, alone or in a mix with sets; nothing where there is none."""
    blocks = tuple(multiget_blocks([r for r in found.runs if "-" in str(r.manifest["factors"]["workload"])]))
    return Analysis(sections=(Section("Multi-gets", "", blocks),) if blocks else ())


def multiget_blocks(runs: list[RunFolder]) -> Iterator[Block]:
    """Tables and figures, of the valid runs."""
    rows = frame(runs).filter("valid")
    if rows.is_empty():
        return
    if rows["sharded"].n_unique() == 2:
        yield split_table(rows)
    yield from key_figures(rows)
    yield from server_figures(runs)
    folders = {run.path.name: run.path for run in runs}
    if (shifts := shift_table(rows, folders)) is not None:
        yield shifts
        yield startup_text(rows)
        yield from histogram_figures(rows, folders)


def split_table(rows: pl.DataFrame) -> Table:
    """Whole and split beside each other: throughput, median, 99th percentile, and how many times one is the other."""
    cells = []
    for (design, workload), own in sorted(rows.partition_by("design", "workload", as_dict=True).items()):
        whole, split = (own.filter(pl.col("sharded") == value) for value in (False, True))
        if whole.height and split.height:
            cells.append((str(design), keys_text(workload), *_pairs(whole, split)))
    columns = ["design", "keys"]
    for k, (_, label, _) in enumerate(RATIOS):
        columns += [f"{label}, whole", f"{label}, split", "ratio" + " " * k, "low" + " " * k, "high" + " " * k]
    told = f"{percent(USUAL_LEVEL, 0)} intervals over repetitions, in pairs"
    note = f"Multi-gets split over the servers, compared with whole ones, at the same number of clients; {told}. Times in ms."
    if rows["repetition"].n_unique() == 1:
        note += " One repetition: no intervals."
    formats = ["", "", *[".0f"] * 2, *[".3f"] * 3, *[".3f"] * 10]
    return Table("Multi-gets, split or whole", tuple(columns), tuple(cells), note, tuple(formats))


def _pairs(whole: pl.DataFrame, split: pl.DataFrame) -> Iterator[Cell]:
    for column, _, scale in RATIOS:
        ratio = repetition_ratio(split, whole, column)
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
        f"The middleware starts before its "
        f"clients: {number(idle):.2f} s of its log have no request (mean of all runs). A mean over the whole log, including "
        f"these zeros and the warm-up, would be {100 * float(lower.mean() or 0):+.1f} % off; "  # type: ignore[arg-type]
        f"here only periods that lie entirely within the client's window count, and throughput of middleware and client differ by "
        f"{100 * (client or 0.0):+.2f} %."
    )


def repetition_ratio(above: pl.DataFrame, below: pl.DataFrame, column: str) -> TestedEstimate | None:
    """Of above to below over the repetitions that both have; None without any."""
    means = [rows.group_by("repetition").agg(pl.col(column).mean()) for rows in (above, below)]
    both = means[0].join(means[1], on="repetition", suffix="_below")
    both = both.select(pl.col(column, f"{column}_below").cast(pl.Float64))
    both = both.filter(pl.all_horizontal(pl.all() > 0), pl.all_horizontal(pl.all().is_finite()))
    return ratio_of_pairs(both[f"{column}_below"].to_list(), both[column].to_list()) if both.height else None
