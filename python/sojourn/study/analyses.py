"""Runs the analyses that a study file names in `[[analysis]]`, each with its lines and sections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn.errors import SojournError
from sojourn.study.analysis import Analysis, function
from sojourn.study.checked_study import CheckedStudy
from sojourn.study.study_findings import StudyFindings


def analysed(found: StudyFindings, plan: CheckedStudy) -> list[Analysis]:
    """Each analysis that is wanted, in the order of the file."""
    wanted = [part for part in plan.study.analysis if part.name in plan.parts]
    return [_one(part.name, found, plan, part.options) for part in wanted]


def _one(name: str, found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """A function that fails costs its own lines, and not the study."""
    try:
        told = function(name, plan.folder)(found, plan, options)
        if isinstance(told, Analysis):
            return told
        failed = f"it returned {type(told).__name__}; return an Analysis"
    except SojournError:
        raise
    except Exception as error:
        failed = f"{type(error).__name__}: {error}"
    return Analysis((f"the analysis {name} failed: {failed}",), warn=True)
