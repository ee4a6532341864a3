"""The objectives that runs were judged by, as lines in figures of response times."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.errors import QueryError
from sojourn.query.objectives import Objective, read_objectives
from sojourn.report import Series
from sojourn.runs.run_folder import RunFolder

MOST, FAR = (
    4,
    3.0,
)  # lines in a figure; a limit over the largest value that is drawn, from where on it would flatten the figure


def time_limits(runs: Sequence[RunFolder]) -> list[Objective]:
    """Upper limits of the mean or of a quantile of the response time, each once."""
    texts = dict.fromkeys(
        str(one["objective"])
        for run in runs
        for one in run.manifest.get("objectives") or ()
        if isinstance(one, dict) and one.get("objective")
    )
    found: list[Objective] = []
    for text in texts:
        try:
            found += read_objectives([text])
        except QueryError:  # written by hand or by a later version: a report without the line is still one
            continue
    return [one for one in found if one.figure not in ("errors", "rate") and one.relation in ("<", "<=")][:MOST]


def limit_lines(limits: Sequence[Objective], drawn: Sequence[Series]) -> list[Series]:
    """A line in ms for each limit, as wide as what is `drawn`; without those far above it."""
    xs = [x for one in drawn for x in one.x if x is not None]
    highest = max((y for one in drawn for y in one.y if y is not None), default=0.0)
    near = [one for one in limits if 1e3 * one.limit <= FAR * highest]
    return [Series(f"objective {one.text}", [min(xs), max(xs)], [1e3 * one.limit] * 2, style="dashed") for one in near]
