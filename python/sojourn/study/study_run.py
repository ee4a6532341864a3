"""A study from its file to its report, and those that its table `studies` names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sojourn.former_keyword import former_keyword
from sojourn.lab.worker_process import Event
from sojourn.measure.execute_run import listening
from sojourn.study.checked_study import read_plan
from sojourn.study.study_result import StudyResult
from sojourn.study.study_steps import run_system_study


@former_keyword(draw="random_configurations", paths="storage_paths", only="only_parts")
def run_study(
    path: Path,
    *,
    out: Path | None = None,
    quick: bool = False,
    seed: int | None = None,
    only_parts: tuple[str, ...] = (),
    random_configurations: int | None = None,
    storage_paths: Sequence[str] = (),
    repetitions: int | None = None,
    stack: str | None = None,
    say: Callable[[str], None] = print,
    progress: Callable[[Event], None] | None = None,
) -> StudyResult:
    """Runs the study in `path` (a file, or a folder with study.toml) into `out`; goes on where one was interrupted.

    `only_parts`: some of it: sections, fit, predict, analyses, and names of other studies in its table `studies`, which have a folder of
    their own: in `out` by that name, or `out` where nothing else is asked for. `random_configurations`: so many configurations of `[draw]`
    at random, too. `storage_paths`: of those that the study names. `repetitions`: instead of the study's. `stack`: the software of the
    system, instead of that in `[system] stack`.

    Raises:
        StudyError, LabError, ServiceError: with the value, the place and the remedy.
    """
    further = other_files(path, quick, seed, only_parts, random_configurations, stack) if only_parts else {}
    own = tuple(name for name in only_parts if name not in further)
    results = []
    with listening(progress):
        if own or not further:
            results.append(
                run_system_study(
                    path,
                    out=out,
                    quick=quick,
                    seed=seed,
                    only=own,
                    draw=random_configurations,
                    paths=storage_paths,
                    repetitions=repetitions,
                    stack=stack,
                    say=say,
                )
            )
        for name, file in further.items():
            folder = out / name if out and (own or len(further) > 1) else out
            results.append(run_system_study(file, out=folder, quick=quick, seed=seed, stack=stack, say=say))
    return replace(results[0], others=tuple(results[1:]))


def other_files(
    path: Path, quick: bool, seed: int | None, only: tuple[str, ...], draw: int | None, stack: str | None = None
) -> dict[str, Path]:
    """The other study files that `only` names, each checked before anything runs."""
    plan = read_plan(path, quick=quick, seed=seed, only=only, draw=draw, stack=stack)
    files = {name: plan.folder / plan.study.studies[name] for name in only if name in plan.study.studies}
    for file in files.values():
        read_plan(file, quick=quick, seed=seed, stack=stack)
    return files
