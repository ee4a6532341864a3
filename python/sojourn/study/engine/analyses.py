"""What only some studies show: functions that a study file names in `[[analysis]]`, each with its lines and sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sojourn.errors import SojournError
from sojourn.report import Section
from sojourn.study.engine.named_objects import named

if TYPE_CHECKING:
    from sojourn.study.engine.checked_study import CheckedStudy
    from sojourn.study.engine.study_findings import StudyFindings

ANALYSES: dict[str, str] = {
    "factorial": "sojourn.study.engine.factorial_effects:factorial_analysis",
    "io_waits": "sojourn.study.engine.io_waits:io_waits",
    "limit": "sojourn.study.engine.sweep_limit:limit_analysis",
    "kv.laws": "sojourn.study.kv.laws:laws_analysis",
    "kv.limits": "sojourn.study.kv.limits:limits_analysis",
    "kv.measured": "sojourn.study.kv.measured_maxima:measured_analysis",
    "kv.models": "sojourn.study.kv.model_errors:models_analysis",
    "kv.multiget": "sojourn.study.kv.multiget:multiget_analysis",
    "messages.service": "sojourn.study.messages.analyses:service",
    "messages.laws": "sojourn.study.messages.analyses:checked_laws",
    "messages.limits": "sojourn.study.messages.analyses:limits",
    "messages.times": "sojourn.study.messages.analyses:times",
    "oscillation": "sojourn.study.engine.oscillating_runs:oscillation_analysis",
    "paired": "sojourn.study.engine.paired_runs:paired_analysis",
    "ntier.demands": "sojourn.study.ntier.demands:demands_analysis",
    "ntier.maxima": "sojourn.study.ntier.maxima:maxima_analysis",
    "published": "sojourn.study.engine.published_tables:published_analysis",
    "storage": "sojourn.study.storage.analysis:storage_analysis",
    "two-class": "sojourn.study.web.analysis:two_class",
    "two-class.truth": "sojourn.study.web.interval_coverage:against_truth",
}
TABLE_INDENT = "    "  # of lines of the verdict that are a table, which the report shows as one


@dataclass(frozen=True)
class RecoveredParameter:
    """A fitted parameter whose true value is known."""

    configuration: str
    name: str
    truth: float
    value: float
    low: float
    high: float

    @property
    def covered(self) -> bool:
        return self.low <= self.truth <= self.high


@dataclass(frozen=True)
class Analysis:
    """`lines` of the verdict, and sections of the report; `headline`: the answer, where this analysis has it; `warn`: something
    there is not as it should be; `details`: what the command line prints below the verdict; `parameters`: those whose true
    values are known."""

    lines: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    warn: bool = False
    headline: str = ""
    details: tuple[str, ...] = ()
    parameters: tuple[RecoveredParameter, ...] = ()


Function: TypeAlias = Callable[["StudyFindings", "CheckedStudy", Mapping[str, Any]], Analysis]


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


def function(name: str, folder: Path, where: str = "") -> Function:
    """The function behind a name; files are relative to `folder`; `where`: file and line that name it.

    Raises:
        StudyError: there is none.
    """
    found: Function = named(name, ANALYSES, folder, "analysis.name", where)
    return found
