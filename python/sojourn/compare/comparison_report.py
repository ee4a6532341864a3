"""A comparison as a document, for a comment on a pull request, and as cases for a test reporter."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.compare.comparison import BETTER, CANNOT_TELL, EQUIVALENT, WORSE, Comparison, MetricComparison
from sojourn.report import Document, Figure, JunitCase, Section, Series, Table
from sojourn.report.junit import Outcome
from sojourn.report.markup import unmarked
from sojourn.units import percent

OUTCOMES: dict[str, Outcome] = {WORSE: "missed", CANNOT_TELL: "unknown", BETTER: "met", EQUIVALENT: "met"}


def comparison_document(found: Comparison) -> Document:
    """The verdict, the metrics as a table, and what else there is to know."""
    first, *rest = map(unmarked, found.lines())
    rows = tuple(one.cells for one in found.metrics)
    known = [one for one in found.metrics if one.low is not None and one.high is not None]
    drawn = (_changes(found, known),) if known else ()
    table = Table("", ("metric", *found.names, f"{found.names[1]} against {found.names[0]}", "verdict"), rows)
    return Document(
        title=f"{found.names[1]} against {found.names[0]}", subtitle="", verdict=[first, *rest],
        status="ok" if OUTCOMES[found.verdict] == "met" else "warn",
        sections=(Section("Metrics", "", (*drawn, table)),),
    )  # fmt: skip


def _changes(found: Comparison, known: Sequence[MetricComparison]) -> Figure:
    """The change of each metric with its interval, between the margins within which it does not matter."""
    places = list(range(1, len(known) + 1))
    change, low, high = (
        [100 * v for v in ends]
        for ends in zip(*((one.change, one.low or 0.0, one.high or 0.0) for one in known), strict=True)
    )
    ends = [0.5, len(known) + 0.5]
    margins = [
        Series(f"margin {percent(m, sign=True)}", ends, [100 * m] * 2, style="dashed", group="margin")
        for m in (found.equivalence_margin, -found.equivalence_margin)
    ]
    return Figure(
        "changes", f"Change from {found.names[0]} to {found.names[1]}", "metric", "change (%)",
        (Series("change", places, change, low, high, style="points"), Series("no change", ends, [0.0, 0.0]), *margins),
        "Bars are intervals. A change between the margins does not matter.", x_names=tuple(one.metric for one in known),
    )  # fmt: skip


def junit_cases(found: Comparison) -> list[JunitCase]:
    """A case for each metric that the verdict is about: it is not worse by more than the margin."""
    return [
        JunitCase(
            f"{one.metric} of {found.names[1]} not worse than of {found.names[0]}, margin {percent(found.equivalence_margin, 0)}",
            OUTCOMES[one.verdict],
            str(found),
        )
        for one in found.judged
    ]
