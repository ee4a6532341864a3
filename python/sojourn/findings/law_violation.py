"""What a check says: which law, where, what is printed there, and what the law asks for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LawViolation:
    """One broken law.

    `table`, `row`, `column`: where. `found`, `expected`: as text, in the table's own unit. `by`: relative difference
    (found - expected)/expected, None where the law is no equation. `why`: one sentence.
    """

    law: str
    table: str
    row: str
    column: str
    found: str
    expected: str
    by: float | None
    why: str

    def __str__(self) -> str:
        size = "" if self.by is None else f" ({100 * self.by:+.3g} %)"
        place = ", ".join(part for part in (self.table, self.row, self.column) if part)
        return f"{place}: {self.found}, expected {self.expected}{size}. {self.law}: {self.why}"


def relative(found: float, expected: float) -> float | None:
    """(found - expected)/expected; None for an expectation of nought."""
    return (found - expected) / expected if expected else None


def text(value: float) -> str:
    """A recomputed number: five significant digits."""
    return f"{value:.5g}"
