"""The analysis `ntier.oscillation`: in which configurations the bottleneck oscillates between the CPU and the disk, run by run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.measure.busy_series import busy_series
from sojourn.measure.oscillation import Oscillation, oscillation
from sojourn.report import Section, Table
from sojourn.study.engine.analyses import Analysis, RecoveredParameter
from sojourn.study.mean_of_runs import estimate
from sojourn.study.ntier.scaling_effects import against_truth
from sojourn.system.bulletin_board_simulated import SimulatedBulletin

if TYPE_CHECKING:
    from sojourn.study.engine.checked_study import CheckedStudy
    from sojourn.study.engine.study_findings import StudyFindings


def oscillating(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """For each value of the option `factor` in the option `section`: verdicts on the two resources of the option `between`, and how busy
    the second was."""
    between, seen = options["between"], judged(found, options)
    rows, lines, known = [], [], []
    for value, own in seen.items():
        count, verdicts = sum(one.oscillating for one in own), ", ".join(sorted({one.verdict for one in own}))
        lines.append(f"{value}: the bottleneck oscillates in {count} of {len(own)} runs ({verdicts})")
        disk, r = (estimate(np.array(v)) for v in ([one.mean[1] for one in own], [one.correlation for one in own]))
        rows.append(
            (value, f"{count} of {len(own)}", verdicts, r.value, r.low, r.high, disk.value, disk.low, disk.high)
        )
        if isinstance(plan.system, SimulatedBulletin) and value == "batch":
            truth = plan.system.options.checkpoint_share
            known.append(RecoveredParameter(value, f"{between[1]} busy", truth, disk.value, disk.low, disk.high))
    columns = ("", "oscillates", "verdicts", "r", "low", "high", f"{between[1]} busy", "low ", "high ")
    table = Table("", columns, tuple(rows), formats=("", "", "", *[".2f"] * 3, *[".1%"] * 3))
    clearest = min((one for own in seen.values() for one in own), key=lambda one: one.correlation, default=None)
    figures = clearest.figures if clearest and clearest.oscillating else ()
    section = Section("Oscillating bottleneck", "", (table, *against_truth(known), *figures))
    return Analysis(tuple(lines), (section,), parameters=tuple(known))


def judged(found: StudyFindings, options: Mapping[str, Any]) -> dict[str, list[Oscillation]]:
    """Each valid run's verdict, by the value of that factor."""
    between, seen = tuple(options["between"]), dict[str, list[Oscillation]]()
    for run in found.of(options["section"]):
        if run.manifest["valid"]:
            shares, interval_s = busy_series(run, between)
            one = oscillation(shares[0], shares[1], interval_s, between)
            seen.setdefault(str(run.manifest["factors"][options["factor"]]), []).append(one)
    return seen
