"""What is done in which order: measure, fit, predict and write it down, run what was predicted, compare."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from sojourn.fit.model import FittedModel
from sojourn.lab.environment import environment
from sojourn.lab.registry import only_one
from sojourn.measure.folder import RunFolder
from sojourn.report import write_html
from sojourn.study.engine import models, predictions
from sojourn.study.engine.document import study_document
from sojourn.study.engine.judge import SCHEMA, judged
from sojourn.study.engine.plan import Plan, read_plan
from sojourn.study.engine.predictions import FITTED, Predicted
from sojourn.study.engine.run import run_points
from sojourn.study.engine.verdict import verdict_lines
from sojourn.study.folder import Say, open_study, save_state
from sojourn.system import Session


@dataclass(frozen=True)
class Findings:
    """All that a study found. `judged`: see judge.SCHEMA; `varied`: factors that differ between its runs."""

    folder: Path
    runs: list[RunFolder]
    varied: tuple[str, ...] = ()
    fitted: FittedModel | None = None
    why: str = ""
    predicted: Predicted | None = None
    judged: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SCHEMA))


def run_system_study(
    path: Path, *, out: Path | None = None, quick: bool = False, seed: int | None = None, say: Say = print
) -> tuple[Findings, list[str], Path]:
    """Runs the study in `path` into `out`, going on where one was interrupted: findings, verdict, report.

    Raises:
        StudyError, InputError: the file, or what was found in `out`. FitError: the runs do not carry the fit. ServiceError,
        LabError: a run.
    """
    plan = read_plan(path, quick=quick, seed=seed)
    with ExitStack() as stack:
        if plan.system.alone:
            stack.enter_context(only_one(f"study {plan.study.name}"))
        folder = open_study(out, plan, say)
        place = stack.enter_context(environment("loopback" if plan.system.alone else "virtual"))
        session = stack.enter_context(plan.system.open(place))
        found = _phases(plan, session, folder, say)
    verdict = verdict_lines(found)
    (folder / "verdict.txt").write_text("\n".join(verdict) + "\n")
    found.judged.write_csv(folder / "validation.csv")
    report = write_html(study_document(found, plan, verdict), folder / "report.html")
    save_state(folder, plan, finished=True, verdict=verdict)
    return found, verdict, report


def _phases(plan: Plan, session: Session, folder: Path, say: Say) -> Findings:
    runs = run_points(session, plan.measured, folder, plan.seed, say)
    varied = _varied(plan)
    if plan.study.fit is None:
        return Findings(folder, runs, varied)
    used = [run for run in runs if run.manifest["section"] in plan.fitted_sections]
    predicted = predictions.written(folder)
    if predicted is None:
        fitted, why = models.fitted_to(used, plan)
        predicted = predictions.write(folder, fitted, why, plan)
        say(f"predictions are written to {folder / predictions.FILE}")
    fitted = models.read_fitted(folder / FITTED)
    if not plan.predicted:
        return Findings(folder, runs, varied, fitted, predicted["why"])
    blind = run_points(session, plan.predicted, folder, plan.seed, say)
    return Findings(folder, runs + blind, varied, fitted, predicted["why"], predicted, judged(predicted, blind))


def _varied(plan: Plan) -> tuple[str, ...]:
    points = [point.factors for point in (*plan.measured, *plan.predicted)]
    names = dict.fromkeys(name for factors in points for name in factors)
    return tuple(name for name in names if len({repr(factors.get(name)) for factors in points}) > 1)
