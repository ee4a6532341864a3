"""One TOML file → runs → fit → prediction → check → report.

Map: `plan` the file, checked · `runner` single runs, resumed where a study was interrupted · `phases` what is done
in which order · `verdict` the ten lines · `document` the report.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from sojourn.lab.environment import environment
from sojourn.lab.process import Event
from sojourn.lab.registry import only_one
from sojourn.lab.topology import cores
from sojourn.report import write_html
from sojourn.study.document import study_document
from sojourn.study.phases import Findings, run_phases
from sojourn.study.plan import Plan, read_plan
from sojourn.study.runner import Runner, open_study, save_state
from sojourn.study.verdict import verdict_lines
from sojourn.testbed import TESTBEDS
from sojourn.testbed.web import choose_demand

__all__ = ["TESTBEDS", "StudyResult", "read_plan", "run_study"]


@dataclass(frozen=True)
class StudyResult:
    """Where the study is, its verdict line by line, its report, and all that was found."""

    folder: Path
    verdict: list[str]
    report: Path
    findings: Findings


def run_study(
    path: Path,
    *,
    out: Path | None = None,
    quick: bool = False,
    seed: int | None = None,
    say: Callable[[str], None] = print,
    progress: Callable[[Event], None] | None = None,
) -> StudyResult:
    """Runs the study in `path` (a file, or a folder with study.toml) into `out`; goes on where one was interrupted.

    Raises:
        StudyError, LabError, ServiceError: with the value, the place and the remedy.
    """
    plan = read_plan(path, quick=quick, seed=seed)
    # a virtual host disturbs nobody and nobody disturbs it
    alone = nullcontext() if plan.study.testbed == "virtual" else only_one(f"study {plan.study.name}")
    with alone:
        folder = open_study(out, plan, say)
        lab = plan.study.lab
        with environment(lab.kind, mtu_bytes=lab.mtu_bytes, spinners=lab.spinners) as place:
            demand = plan.demand if place.simulated else choose_demand(plan.demand, len(cores()))
            if not place.interrupts:
                demand = demand.model_copy(update={"interrupt_s": 0.0})
            plan = Plan(plan.study, plan.options, demand, plan.fingerprint)
            runner = Runner(plan, place, folder, say, progress)
            findings = run_phases(runner)
    verdict = verdict_lines(findings, plan)
    (folder / "verdict.txt").write_text("\n".join(verdict) + "\n")
    report = folder / "report.html"
    write_html(study_document(findings, plan, verdict), report)
    save_state(folder, plan, finished=True, verdict=verdict)
    return StudyResult(folder, verdict, report, findings)
