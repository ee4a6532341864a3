"""`sojourn study FOLDER`: all of the loop, from one TOML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.cli.live_view import live
from sojourn.cli.load_run import end
from sojourn.cli.machine_option import Wait, patient
from sojourn.file_kind import STUDY, expect
from sojourn.terminal import SafeConsole


def study(
    path: Annotated[
        Path,
        typer.Argument(
            help="a study file, a folder that holds study.toml, or the name of a study of `sojourn examples`"
        ),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="short runs, for a first look in under three minutes")] = False,
    out: Annotated[Path | None, typer.Option(help="folder of the study; an interrupted study continues there")] = None,
    only: Annotated[
        str | None,
        typer.Option(
            "--only-parts",
            help="parts of it, as ramp,fit: sections, fit, choose, predict, analyses, other studies it names",
        ),
    ] = None,
    draw: Annotated[
        int | None,
        typer.Option(
            "--random-configurations",
            help="number of random configurations from the ranges in the table draw; each is predicted, then run",
        ),
    ] = None,
    paths: Annotated[
        str | None, typer.Option("--storage-paths", help="storage study: only these paths, e.g. local,nbd")
    ] = None,
    stack: Annotated[
        str | None,
        typer.Option(
            "--stack", help="study of the bulletin board: the software of its tiers, e.g. apache-tomcat-mariadb"
        ),
    ] = None,
    replications: Annotated[int | None, typer.Option(help="runs of each combination, instead of the file's")] = None,
    seed: Annotated[int | None, typer.Option(help="instead of the seed in the file")] = None,
    wait: Wait = None,
    check: Annotated[
        bool, typer.Option("--check-only", help="check the file and its models, and print what would be run")
    ] = False,
) -> None:
    """Runs a study: measure, fit, predict, check, report.

    One TOML file says what to run. The prediction is written down before its runs are made.
    """
    from sojourn.shipped import study_path
    from sojourn.study import run_study
    from sojourn.study.verdict_end import end_lines

    path = study_path(path)
    expect(path, STUDY, "a folder")
    console = SafeConsole(soft_wrap=True)
    parts, some = (tuple(p.strip() for p in given.split(",")) if given else () for given in (only, paths))
    if check:
        from sojourn.study.study_check import check_study

        for line in check_study(
            path, parts, quick=quick, seed=seed, draw=draw, paths=some, repetitions=replications, stack=stack
        ):
            console.print(line, markup=False, highlight=False)
        return
    with live("run") as view, patient(wait, view.say):
        result = run_study(
            path, out=out, quick=quick, seed=seed, only_parts=parts, random_configurations=draw, storage_paths=some,
            repetitions=replications, stack=stack, say=view.say, progress=view,
        )  # fmt: skip
    for one in (result, *result.others):
        console.print()
        for line in (shown := end_lines(one.findings, one.verdict)):
            console.print(line)
        for detail in (text for part in getattr(one.findings, "analyses", ()) for text in part.details):
            console.print(f"- {detail}")
        whole = f"; the whole verdict: {one.folder / 'verdict.txt'}" if len(shown) < len(one.verdict) else ""
        console.print(f"\nreport: {one.report}{whole}")
    some_valid([run.manifest for one in (result, *result.others) for run in one.findings.runs])


def some_valid(manifests: Sequence[Mapping[str, Any]]) -> None:
    """A study of which no run is valid says nothing of its system, and ends as a measurement that is not valid does.

    Raises:
        LoadError, ServiceError: none of its runs is.
    """
    if not any(manifest["valid"] for manifest in manifests):
        count = f"none of {len(manifests)} runs is valid"
        end([f"{count}: {reason}" for manifest in manifests for reason in manifest["reasons"]], "study")
