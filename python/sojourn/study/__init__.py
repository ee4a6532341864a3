"""One TOML file → runs → fit → prediction → check → report.

Map: `file` a study file, read and checked · `folder` where it ends up, found again after an interruption · `plan`
what the file says · `runner` single runs · `phases` what is done in which order · `verdict` the ten lines ·
`document` the report. For every kind: `points` an order at random · `counters` CPU time while something runs ·
`simulated` a system in simulated time · `estimate`, `judged`, `recovery` intervals, errors where nothing was fitted, known
times found again. Studies of any system (a user's own service) are in `engine`, of a memcached middleware in `kv`; models and
analyses of a message service are in `messages`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import StudyError
from sojourn.lab.environment import environment
from sojourn.lab.process import Event
from sojourn.lab.registry import only_one
from sojourn.lab.topology import cores
from sojourn.report import Document, write_html
from sojourn.study.document import study_document
from sojourn.study.file import has_system, testbed_of
from sojourn.study.folder import open_study, save_state
from sojourn.study.phases import run_phases
from sojourn.study.plan import Plan, read_plan
from sojourn.study.runner import Runner
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
    findings: Any  # Findings; KvFindings of such a study


def run_study(
    path: Path,
    *,
    out: Path | None = None,
    quick: bool = False,
    seed: int | None = None,
    only: tuple[str, ...] = (),
    draw: int | None = None,
    say: Callable[[str], None] = print,
    progress: Callable[[Event], None] | None = None,
) -> StudyResult:
    """Runs the study in `path` (a file, or a folder with study.toml) into `out`; goes on where one was interrupted.

    `only`: parts of it: sections, fit, predict, analyses. `draw`: so many configurations of `[draw]` at random, too.

    Raises:
        StudyError, LabError, ServiceError: with the value, the place and the remedy.
    """
    if (testbed := testbed_of(path)) in IN_PARTS:
        return _run_in_parts(IN_PARTS[testbed], path, out, quick, seed, only, say)
    if has_system(path):
        from sojourn.study.engine import run_system_study

        found, lines, page = run_system_study(path, out=out, quick=quick, seed=seed, only=only, draw=draw, say=say)
        return StudyResult(found.folder, lines, page, found)
    if only:
        raise StudyError(", ".join(only), "--only", "leave it out: this study is one whole")
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


Kind = tuple[Callable[..., tuple[Any, Any]], Callable[..., list[str]], Callable[..., Document]]


def _kv() -> Kind:
    from sojourn.study.kv import document, run

    return run.run_kv, document.verdict_lines, document.kv_document


IN_PARTS: dict[str, Callable[[], Kind]] = {"kv": _kv}


def _run_in_parts(
    kind: Callable[[], Kind], path: Path, out: Path | None, quick: bool, seed: int | None, only: tuple[str, ...],
    say: Callable[[str], None],
) -> StudyResult:  # fmt: skip
    run, verdict_of, document_of = kind()
    plan, found = run(path, out=out, quick=quick, only=only, seed=seed, say=say)
    verdict = verdict_of(found)
    (found.folder / "verdict.txt").write_text("\n".join(verdict) + "\n")
    report = write_html(document_of(found, plan, verdict), found.folder / "report.html")
    save_state(found.folder, plan, finished=True)
    return StudyResult(found.folder, verdict, report, found)
