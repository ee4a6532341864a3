"""What is true of a simulated system, where it says so, beside what a study found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.report import Table
from sojourn.study.analysis import RecoveredParameter
from sojourn.study.system import System

MOST = "most"  # throughput that nothing can exceed, 1/s, which saturation may miss by a little
THROUGHPUT = "throughput"  # at the users of that point, 1/s


def known_values(system: System, factors: Mapping[str, Any]) -> Mapping[str, float]:
    """By name (see above; `NAME busy` of a resource), of a system that has a method `known(factors)`; of others nothing."""
    found: Mapping[str, float] = getattr(system, "known", lambda _: {})(factors)
    return found


def against_truth(known: Sequence[RecoveredParameter]) -> tuple[Table, ...]:
    """Estimates beside the values that were put in; nothing where none is known."""
    rows = tuple(
        (p.configuration, p.name, p.truth, p.value, p.low, p.high, "yes" if p.covered else "no") for p in known
    )
    columns = ("", "effect", "put in", "found", "low", "high", "interval covers it")
    return (Table("What was put in", columns, rows),) if known else ()
