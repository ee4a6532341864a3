"""Findings as a section of a report."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.findings.law_violation import LawViolation
from sojourn.report import Section, Table, Text


def findings_section(
    found: Sequence[LawViolation], tables: int, title: str = "Laws that the published tables violate"
) -> Section:
    """One table, a row a finding; `tables` is how many were read."""
    lead = (
        f"{tables} tables were checked against the laws that they must obey, without knowledge of where they are wrong; "
        f"{len(found)} of their statements violate one."
    )
    if not found:
        return Section(title, lead, (Text("Nothing was found."),))
    rows = tuple(
        (f.law, ", ".join(p for p in (f.table, f.row) if p), f.column, f.found, f.expected, f.by, f.why) for f in found
    )
    columns = ("law", "where", "column", "found", "expected", "by", "why")
    return Section(title, lead, (Table("Findings", columns, rows, formats=("", "", "", "", "", "+.1%", "")),))
