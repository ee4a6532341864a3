"""What is done in which order: measure, fit, predict and write it down, run what was predicted, compare, analyse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from sojourn.errors import ServiceError
from sojourn.files.writing import write_whole
from sojourn.fit.measured_saturation import same_but_load
from sojourn.lab.machine_lock import only_one
from sojourn.report import write_html
from sojourn.runs.run_folder import RunFolder
from sojourn.study import best_configuration, predictions
from sojourn.study.analyses import analysed
from sojourn.study.checked_study import CheckedStudy, read_plan
from sojourn.study.drawn_systems import study_draws
from sojourn.study.evaluation import evaluated, evaluated_again, evaluated_at_rate, evaluated_at_speed
from sojourn.study.fit_templates import RivalModels
from sojourn.study.probed_runs import ProbedSession, mark_moved
from sojourn.study.run_order import spread
from sojourn.study.run_points import run_points
from sojourn.study.study_findings import StudyFindings
from sojourn.study.study_folder import Say, open_study, save_state
from sojourn.study.study_points import SATURATION, SHARE, at_rate, saturating
from sojourn.study.study_progress import progress_of
from sojourn.study.study_report import study_document
from sojourn.study.study_result import StudyResult
from sojourn.study.system import Point
from sojourn.study.verdict import verdict_lines
from sojourn.study.wanted_parts import CHOOSE, FIT

Run: TypeAlias = Callable[[list[Point]], list[RunFolder]]


def run_system_study(
    path: Path, *, out: Path | None = None, quick: bool = False, seed: int | None = None, only: tuple[str, ...] = (),
    draw: int | None = None, paths: Sequence[str] = (), repetitions: int | None = None, stack: str | None = None,
    say: Say = print,
) -> StudyResult:  # fmt: skip
    """Runs the study in `path` into `out`, going on where one was interrupted: findings, verdict, report.

    Raises:
        StudyError, InputError: the file, or what was found in `out`. FitError: the runs do not determine the model. ServiceError,
        LabError: a run.
    """
    read = partial(read_plan, path, quick=quick, only=only, paths=paths, repetitions=repetitions, stack=stack)
    plan = read(seed=seed, draw=draw)
    if draw is None or plan.study.draw is None or not plan.study.draw.system:
        return _studied(plan, out, say)

    def study_of(options: Mapping[str, Any], own_seed: int, folder: Path) -> StudyFindings:
        return _studied(read(seed=own_seed, system_options=options), folder, say).findings

    return study_draws(plan, draw, study_of, out, say)


def _studied(plan: CheckedStudy, out: Path | None, say: Say) -> StudyResult:
    with ExitStack() as whole:  # of the folder, which is ours until the report is written
        with ExitStack() as stack:
            if plan.system.alone and _has_runs(plan):
                stack.enter_context(only_one(f"study {plan.study.name}"))
            folder = whole.enter_context(open_study(out, plan, say))
            found = _phases(plan, _runner(plan, stack, folder, say), folder, say)
        return _told(plan, folder, found)


def _told(plan: CheckedStudy, folder: Path, found: StudyFindings) -> StudyResult:
    """What was found, analysed and written down."""
    mark_moved(found.runs)
    found = replace(found, not_shown=plan.not_shown)
    found = replace(found, analyses=tuple(analysed(found, plan)))
    verdict = verdict_lines(found)
    write_whole(folder / "verdict.txt", "\n".join(verdict) + "\n")
    write_whole(folder / "validation.csv", found.evaluation.write_csv())
    document = study_document(found, plan, verdict)
    report = write_html(document, folder / "report.html")
    save_state(folder, plan, finished=True, verdict=verdict)
    return StudyResult(found.folder, verdict, report, found, document)


def _runner(plan: CheckedStudy, stack: ExitStack, folder: Path, say: Say) -> Run:
    """Runs points on the system, which is opened only where there are any."""
    if not _has_runs(plan):
        return lambda _: []
    place = stack.enter_context(plan.system.place())
    session = stack.enter_context(plan.system.open(place))
    session = ProbedSession(session) if plan.study.topology_probe else session
    progress = progress_of([*plan.measured, *plan.predicted], plan.system, plan.study.saturation.users)
    save_state(folder, plan, finished=False, planned=progress.runs)  # for whoever looks how far it is
    return partial(run_points, session, out=folder, seed=plan.seed, say=say, progress=progress)


def _has_runs(plan: CheckedStudy) -> bool:
    return bool(plan.measured or plan.predicted)


def _phases(plan: CheckedStudy, run: Run, folder: Path, say: Say) -> StudyFindings:
    full, points = _at_rates(plan, run)
    early, choices = _chosen(plan, run, points, folder, say)
    here = [point for point in points if point not in early]
    here += best_configuration.chosen_points(choices, plan.times)
    runs = full + run([point for point in points if point in early]) + run(spread(here, plan.seed) if choices else here)
    found = StudyFindings(folder, runs, _varied(runs, plan), choices=tuple(choices))
    if plan.study.fit is None or plan.template is None or FIT not in plan.parts:
        return found
    predicted = predictions.written(folder)
    if predicted is None:
        predicted = predictions.write(folder, _rivals(plan, _for_fit(plan, runs)), plan)
        say(f"predictions are written to {folder / predictions.FILE}")
    rivals = predictions.read_rivals(folder, predicted, plan.template)
    tried = evaluated_again(rivals, runs, predicted["level"], plan.is_fitted)
    if plan.study.choose is not None:
        choices = best_configuration.with_regret(choices, plan.study.choose, runs)
    anyway = plan.template.used_anyway(_for_fit(plan, runs))
    found = replace(found, rivals=rivals, evaluation=tried, choices=tuple(choices), used_anyway=anyway)
    if not plan.predicted:
        return found
    asked = predictions.predicted_points(predicted, plan)
    blind = run(asked) + run(_full_of(asked, plan))
    at_speed = evaluated_at_speed(rivals, blind, predicted["level"], plan.template.conditions)
    at_rate_that_came = evaluated_at_rate(rivals, blind, predicted["level"])
    table = pl.concat([tried, evaluated(predicted, blind), at_speed, at_rate_that_came])
    return replace(found, runs=runs + blind, varied=_varied(runs + blind, plan), predicted=predicted, evaluation=table)


def _rivals(plan: CheckedStudy, used: list[RunFolder]) -> RivalModels:
    assert plan.template is not None and plan.study.fit is not None
    return plan.template.fit(used, plan.study.fit.seed, plan.study.fit.options)


def _for_fit(plan: CheckedStudy, runs: Iterable[RunFolder]) -> list[RunFolder]:
    assert plan.template is not None and plan.study.fit is not None
    every = list(runs)
    found = [run for run in every if plan.is_fitted(run.manifest["section"], run.manifest["factors"])]
    if not plan.template.takes_saturation(plan.study.fit.options):
        return found
    fitted = [run.manifest["factors"] for run in found]
    closed = [run for run in every if run.manifest["section"] == SATURATION]
    return found + [run for run in closed if any(same_but_load(run.manifest["factors"], one) for one in fitted)]


def _at_rates(plan: CheckedStudy, run: Run) -> tuple[list[RunFolder], list[Point]]:
    """All points with rates: those that asked for a share of the saturation rate have it measured first."""
    shares = [point for point in plan.measured if SHARE in point.factors]
    if not shares:
        return [], plan.measured
    of = {point.name: saturating(point, plan.system, plan.study.saturation.users) for point in shares}
    full = run(list(dict.fromkeys(of.values())))
    rates = {folder.path.name: _most(folder) for folder in full}
    found = []
    for point in plan.measured:
        rate = rates[of[point.name].name] if point.name in of else None
        found.append(point if rate is None else at_rate(point, rate))
    return full, list(dict.fromkeys(found))


def _most(folder: RunFolder) -> float:
    """The throughput of a closed loop, 1/s."""
    frame = folder.frame("metrics")
    rate = None if frame is None else folder.metrics().value("throughput")
    if rate is None or not rate > 0:
        why = "; ".join(folder.manifest["reasons"]) or "nothing was answered"
        raise ServiceError(f"no saturation rate: {why}", str(folder.path), "see this run")
    return rate


def _full_of(points: list[Point], plan: CheckedStudy) -> list[Point]:
    """Closed loops that tell the saturation rates of what was predicted for shares of it."""
    sections = {p.section for p in plan.predicted if SHARE in p.factors}
    found = [saturating(p, plan.system, plan.study.saturation.users) for p in points if p.section in sections]
    return list(dict.fromkeys(found))


def _chosen(
    plan: CheckedStudy, run: Run, points: list[Point], folder: Path, say: Say
) -> tuple[list[Point], list[best_configuration.BestConfiguration]]:
    """The runs that the choice is made by (the first repetition of what is fitted), and what is chosen."""
    part = plan.study.choose
    if part is None or CHOOSE not in plan.parts or plan.study.fit is None:
        return [], []
    early = [p for p in points if p.repetition == 1 and plan.is_fitted(p.section, p.factors)]
    first = run(early)
    choices = best_configuration.choose(folder, part, _rivals(plan, first), plan.system, plan.study.fit.level)
    for one in choices:
        say(f"best by {one.model}: {', '.join(f'{name} {one.factors[name]}' for name in part.vary)}")
    return early, choices


def _varied(runs: list[RunFolder], plan: CheckedStudy) -> tuple[str, ...]:
    """Factors that differ between runs, in the order of the system."""
    factors = [run.manifest["factors"] for run in runs]
    names = dict.fromkeys([*plan.system.factors, *sorted(name for one in factors for name in one)])
    return tuple(name for name in names if len({repr(one.get(name)) for one in factors}) > 1)
