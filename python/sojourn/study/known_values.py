"""What is true of a simulated system, where it says so, beside what a study found."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.report import Table
from sojourn.study.analysis import RecoveredParameter

MOST = "most"  # throughput that nothing can exceed, 1/s, which saturation may miss by a little
THROUGHPUT = "throughput"  # at the users of that point, 1/s


def against_truth(known: Sequence[RecoveredParameter]) -> tuple[Table, ...]:
    """Estimates beside the values that were put in; nothing where none is known."""
    rows = tuple(
        (p.configuration, p.name, p.truth, p.value, p.low, p.high, "yes" if p.covered else "no") for p in known
    )
    columns = ("", "effect", "put in", "found", "low", "high", "interval covers it")
    return (Table("What was put in", columns, rows),) if known else ()
