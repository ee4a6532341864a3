"""`ntier.guests`: guests by their own account and by the host's, and what was predicted of both before.

Option: `sections`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sojourn.errors import StudyError
from sojourn.study import Analysis
from sojourn_cases.ntier.guest_predictions import predicted_shares, prediction_lines, prediction_table
from sojourn_cases.ntier.guest_views import configurations, guest_run, of_configurations

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

PLACE = "[[analysis]] ntier.guests"


def guests_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Two lines and two figures for each configuration, what they have in common, and a table for each section that was predicted.

    Raises:
        StudyError: an option that is missing or unknown.
    """
    if set(options) != {"sections"}:
        raise StudyError(f"options {dict(options)}", PLACE, "give sections")
    seen = of_configurations(configurations(found.of(*options["sections"])))
    lines, tables = list(seen.lines), []
    for section in options["sections"]:
        runs = [one for run in found.of(section) if run.manifest["valid"] and (one := guest_run(run))]
        shares = predicted_shares(found.predicted, runs, section)
        lines += prediction_lines(section, shares)
        tables += [prediction_table(section, shares)] if shares else []
    if not tables:
        return seen
    first, *rest = seen.sections
    return Analysis(tuple(lines), (replace(first, blocks=(*tables, *first.blocks)), *rest))
