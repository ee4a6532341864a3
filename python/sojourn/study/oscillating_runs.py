"""`oscillation`: in which configurations of a section the bottleneck oscillates between two resources, run by run.

Options: `section`; `factor`, whose values are told apart, or a list of several; `between`: the two resources, as `sojourn
oscillation` has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.diagnosis.oscillation import Oscillation, oscillation
from sojourn.diagnosis.oscillation_figures import figures
from sojourn.errors import StudyError
from sojourn.file_errors import meant
from sojourn.report import Section, Table
from sojourn.runs.busy_series import busy_series
from sojourn.runs.run_folder import RunFolder
from sojourn.study.analysis import Analysis, RecoveredParameter
from sojourn.study.known_values import against_truth
from sojourn.study.mean_of_runs import mean_with_interval

if TYPE_CHECKING:
    from sojourn.study.checked_study import CheckedStudy
    from sojourn.study.study_findings import StudyFindings


PLACE = "[[analysis]] oscillation"


def oscillation_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """For each value of the factor, or combination of values, the verdicts, and how busy the second resource was.

    Raises:
        StudyError: an option that is missing, unknown, or names what is not there. InputError: no such resource in a run.
    """
    if set(options) != {"section", "factor", "between"} or len(options["between"]) != 2:
        raise StudyError(f"options {dict(options)}", PLACE, 'give section, factor, and between = ["cpu", "disk:NAME"]')
    for name in _names(options):
        if name not in plan.system.factors:
            raise StudyError(f"factor {name!r}", PLACE, meant(name, plan.system.factors))
    between, seen = options["between"], judged(found, options)
    rows, lines, known = [], [], []
    for value, runs in seen.items():
        own = [one for _, one in runs]
        count, verdicts = sum(one.oscillating for one in own), ", ".join(sorted({one.verdict for one in own}))
        lines.append(f"{value}: the bottleneck oscillates in {count} of {len(own)} runs ({verdicts})")
        busy, r = (
            mean_with_interval(np.array(v))
            for v in ([one.mean_busy_share[1] for one in own], [one.correlation for one in own])
        )
        rows.append((value, f"{count} of {len(own)}", verdicts, *r, *busy))
        truth = plan.system.known(runs[0][0].manifest["factors"])
        if (name := f"{between[1]} busy") in truth:
            known.append(RecoveredParameter(value, name, truth[name], *busy))
    columns = ("", "oscillates", "verdicts", "r", "low", "high", f"{between[1]} busy", "low ", "high ")
    table = Table("", columns, tuple(rows), formats=("", "", "", *[".2f"] * 3, *[".1%"] * 3))
    clearest = min((one for runs in seen.values() for _, one in runs), key=lambda one: one.correlation, default=None)
    drawn = figures(clearest) if clearest and clearest.oscillating else ()
    section = Section("Oscillating bottleneck", "", (table, *against_truth(known), *drawn))
    return Analysis(tuple(lines), (section,), parameters=tuple(known))


def judged(found: StudyFindings, options: Mapping[str, Any]) -> dict[str, list[tuple[RunFolder, Oscillation]]]:
    """Each valid run of the section with its verdict, by the values of the factors."""
    between, seen = tuple(options["between"]), dict[str, list[tuple[RunFolder, Oscillation]]]()
    for run in found.of(options["section"]):
        if run.manifest["valid"]:
            shares, interval_s = busy_series(run, between)
            one = oscillation(shares[0], shares[1], interval_s, between)
            seen.setdefault(_configuration(run, _names(options)), []).append((run, one))
    return seen


def _names(options: Mapping[str, Any]) -> list[str]:
    given = options["factor"]
    return [given] if isinstance(given, str) else list(given)


def _configuration(run: RunFolder, names: Sequence[str]) -> str:
    """The value of the factor, or of several with their names."""
    values = {name: str(run.manifest["factors"][name]) for name in names}
    return ", ".join(values.values() if len(names) == 1 else (f"{name} = {value}" for name, value in values.items()))
