"""A comparison as a document, for a comment on a pull request, and as cases for a test reporter."""

from __future__ import annotations

from sojourn.compare.comparison import BETTER, CANNOT_TELL, EQUIVALENT, WORSE, Comparison
from sojourn.report import Document, JunitCase, Section, Table
from sojourn.report.junit import Outcome
from sojourn.units import percent

OUTCOMES: dict[str, Outcome] = {WORSE: "missed", CANNOT_TELL: "unknown", BETTER: "met", EQUIVALENT: "met"}


def comparison_document(found: Comparison) -> Document:
    """The verdict, the metrics as a table, and what else there is to know."""
    first, *rest = (line.replace("*", "∗").replace("`", "'") for line in found.lines())  # no markup in what was printed
    rows = tuple(one.cells for one in found.metrics)
    table = Table("", ("metric", *found.names, f"{found.names[1]} against {found.names[0]}", "verdict"), rows)
    return Document(
        title=f"{found.names[1]} against {found.names[0]}", subtitle="", verdict=[first, *rest],
        status="ok" if OUTCOMES[found.verdict] == "met" else "warn",
        sections=(Section("Metrics", "", (table,)),),
    )  # fmt: skip


def junit_cases(found: Comparison) -> list[JunitCase]:
    """A case for each metric that the verdict is about: it is not worse by more than the margin."""
    return [
        JunitCase(
            f"{one.metric} of {found.names[1]} not worse than of {found.names[0]}, margin {percent(found.margin, 0)}",
            OUTCOMES[one.verdict],
            str(found),
        )
        for one in found.judged
    ]
