"""`published`: printed tables read against the laws that they must obey. Options: `tables` (a folder, relative to the study
file or PACKAGE:FOLDER) and `pattern`. Needs no run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sojourn.cases import path_of
from sojourn.errors import StudyError
from sojourn.findings import findings, findings_section, read_tables
from sojourn.study.analysis import Analysis

if TYPE_CHECKING:
    from sojourn.study.checked_study import CheckedStudy
    from sojourn.study.study_findings import StudyFindings


def published_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """A line with the count, each broken law in `details`.

    Raises:
        StudyError: an option that is missing or unknown.
    """
    if set(options) - {"tables", "pattern"} or not isinstance(options.get("tables"), str):
        raise StudyError(
            f"options {dict(options)}", "[[analysis]] published", "give tables = FOLDER, and optionally pattern"
        )
    tables = read_tables(path_of(options["tables"], plan.folder), str(options.get("pattern", "*.csv")))
    broken = findings(tables)
    line = f"{len(broken)} statements in {len(tables)} published tables violate a law"
    return Analysis((line,), (findings_section(broken, len(tables)),), details=tuple(map(str, broken)))
