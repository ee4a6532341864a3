"""What an analysis of a study returns, and which there are beside those of cases: functions that a study file names in `[[analysis]]`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.cases import known
from sojourn.report import Section
from sojourn.study.named_objects import named

ANALYSES: dict[str, str] = {
    "factorial": "sojourn.study.factorial_effects:factorial_analysis",
    "limit": "sojourn.study.sweep_limit:limit_analysis",
    "oscillation": "sojourn.study.oscillating_runs:oscillation_analysis",
    "paired": "sojourn.study.paired_runs:paired_analysis",
    "published": "sojourn.study.published_tables:published_analysis",
}
# what checks the options of one before the first run
OPTION_CHECKS = {"factorial": "sojourn.study.factorial_effects:check_options"}
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


def function(name: str, folder: Path, where: str = "") -> Callable[..., Analysis]:
    """The function behind a name; files are relative to `folder`; `where`: file and line that name it.

    Raises:
        StudyError: there is none.
    """
    found: Callable[..., Analysis] = named(name, known("analysis_functions", ANALYSES), folder, "analysis.name", where)
    return found


def check_options(name: str, folder: Path, options: Mapping[str, Any], factors: Collection[str]) -> None:
    """Raises StudyError for options of an analysis that are wrong whatever its runs will say; `factors`: of the system."""
    if name in OPTION_CHECKS:
        named(name, OPTION_CHECKS, folder, "analysis.name")(options, factors)
