"""`kv.laws`: whether runs obey the interactive law and Little's law, and what they say without a model: misses, errors, knees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sojourn.report import Cell, Section, Table
from sojourn.study import Analysis
from sojourn_cases.kv.middleware import configurations, frame, name_of
from sojourn_cases.kv.table_cells import number

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

TOLERANCE = 0.05
FLAT = 0.05  # throughput within 5 % of the maximum is saturated; 5 % below it again, over-saturated
LEAD = (
    "Interactive law: throughput × (response time + the client's own reading time) should equal the number of clients, "
    "which do not think. "
    "Little's law on the middleware's queue: throughput × time in the queue should equal the mean queue length. It is "
    "checked where the length is at least 1; it holds if the difference is within 5 % and two standard errors of the length."
)
COLUMNS = ("configuration", "interactive law holds", "worst", "Little's law holds", "worst ")


def laws_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """How many runs hold in each configuration, and the largest error; misses and errors of all."""
    rows = laws(frame(found.runs))
    if rows.is_empty():
        return Analysis()
    misses, errors = (int(rows[name].sum()) for name in ("misses", "errors"))
    held = float((rows["interactive"] == "holds").mean() or 0.0)  # type: ignore[arg-type]
    line = f"{rows.height} runs: {misses} misses, {errors} errors; the interactive law holds within 5 % in {100 * held:.0f} % of them"
    cells = tuple(_row(name_of(configuration), own) for configuration, own in configurations(rows))
    table = Table("Laws, within 5 %", COLUMNS, cells, formats=("", "", ".1%", "", ".1%"))
    return Analysis((line,), (Section("Laws", LEAD, (table,)),), warn=bool(misses or errors))


def _row(name: str, own: pl.DataFrame) -> tuple[Cell, ...]:
    judged = own.filter(pl.col("little").is_not_null())
    little = f"{(judged['little'] == 'holds').sum()} of {judged.height}" if judged.height else None
    interactive = f"{(own['interactive'] == 'holds').sum()} of {own.height}"
    worst, worst_little = own["interactive_error"].abs().max(), judged["little_error"].abs().max()
    return name, interactive, number(worst), little, number(worst_little)


def laws(rows: pl.DataFrame) -> pl.DataFrame:
    """A row a run (columns of `system.kv.frame`): X (R + own) against N, and X W against the mean length of the middleware's queue.

    The queue is that of requests waiting (`staged`: W is queue_s) or under way (`direct`: mw_response_s), of one middleware.
    `interactive_error` and `little_error` are relative; verdicts `holds` within 5 % (Little: and two standard errors of the
    length, which is a mean of samples), else `broken`. Little is judged only where the length is 1 at least.
    """
    wait = pl.when(pl.col("design") == "direct").then(pl.col("mw_response_s")).otherwise(pl.col("queue_s"))
    length = pl.col("mw_throughput_per_s") * wait / pl.col("proxies")
    allowed = TOLERANCE + 2 * pl.col("queue_length_error").fill_null(0.0) / pl.col("queue_length")
    cycle = pl.col("response_s") + pl.col("own_s").fill_null(0.0)
    return rows.with_columns(
        interactive_error=pl.col("throughput_per_s") * cycle / pl.col("clients") - 1,
        little_error=pl.when(pl.col("queue_length") >= 1).then(length / pl.col("queue_length") - 1),
    ).with_columns(
        interactive=_verdict("interactive_error", pl.lit(TOLERANCE)), little=_verdict("little_error", allowed),
    )  # fmt: skip


def _verdict(column: str, allowed: pl.Expr) -> pl.Expr:
    holds = pl.when(pl.col(column).abs() <= allowed).then(pl.lit("holds")).otherwise(pl.lit("broken"))
    return pl.when(pl.col(column).is_finite()).then(holds)


@dataclass(frozen=True)
class ThroughputKnee:
    """Where throughput stops growing. `clients` and the interval between neighbouring counts that hold it; `state` by
    clients: under-saturated, saturated, over-saturated."""

    configuration: str
    clients: float
    low: int
    high: int
    maximum_per_s: float
    at: int
    response_s: float
    states: dict[int, str]


def knee(name: str, rows: pl.DataFrame) -> ThroughputKnee:
    """The knee is where the asymptotes N/R(fewest) and the maximum cross (Lazowska et al. 1984, section 5.2); its interval
    is that of the client counts between which throughput comes within 5 % of the maximum."""
    means = rows.group_by("clients").agg(pl.col("throughput_per_s", "response_s").mean()).sort("clients")
    n, x, r = (means[c].to_numpy() for c in ("clients", "throughput_per_s", "response_s"))
    best = int(np.argmax(x))
    near = x >= (1 - FLAT) * x[best]
    first = int(np.argmax(near))
    states = {
        int(c): "over-saturated" if k > best and not near[k] else "saturated" if k >= first else "under-saturated"
        for k, c in enumerate(n)
    }
    crossing = float(x[best] * n[0] / x[0])
    return ThroughputKnee(
        name, crossing, int(n[max(first - 1, 0)]), int(n[first]), float(x[best]), int(n[best]), float(r[best]), states
    )


def knees(seen: pl.DataFrame) -> list[ThroughputKnee]:
    """One a configuration with three client counts at least."""
    found = []
    for configuration, rows in configurations(seen):
        if rows["clients"].n_unique() >= 3:
            found.append(knee(name_of(configuration), rows))
    return found
