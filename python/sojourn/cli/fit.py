"""`sojourn fit runs/… --model shop.toml`: the unknowns of a model, with intervals → fitted.toml."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli.console import check_new
from sojourn.cli.fit_demands import fit_demands
from sojourn.cli.fit_follow import follow_log
from sojourn.cli.fit_template import fit_template
from sojourn.cli.json_answer import say_answer
from sojourn.cli.model_file_commands import fit_files, full_at, is_model_file
from sojourn.cli.parallel_option import ParallelOption, workers_on
from sojourn.cli.set_option import settings
from sojourn.errors import InputError
from sojourn.terminal import say
from sojourn.units import USUAL_LEVEL

if TYPE_CHECKING:
    from sojourn.diagnosis import Rate
    from sojourn.fit import FittedModel


def fit(
    runs: Annotated[list[Path], typer.Argument(help="run folders, or folders that hold them")],
    model: Annotated[
        list[str],
        typer.Option(
            help="a model file with unknowns; auto: several are tried; may be given several times: rivals, averaged if "
            "the runs cannot separate "
            "them; demands: of each class of requests at each resource, by regression over runs with different mixes; web-models: "
            "those of the web study (package sojourn-cases); mmm: with --track-demand only"
        ),
    ] = ["auto"],  # noqa: B006 - typer copies it
    given: Annotated[
        str,
        typer.Option(
            "--tracking-settings",
            help="with --track-demand, what is known: demand_s, scv, most_per_s, most_utilisation, workers, window_s",
        ),
    ] = "",
    out: Annotated[Path, typer.Option(help="the file to write")] = Path("fitted.toml"),
    force: Annotated[bool, typer.Option("--overwrite", help="write over a file that is there")] = False,
    seed: Annotated[int, typer.Option(min=0, help="of the bootstrap")] = 1,
    level: Annotated[float, typer.Option(help="of the intervals")] = USUAL_LEVEL,
    further: Annotated[
        int,
        typer.Option("--suggest-runs", min=0, help="model files: suggest this many of the most informative next runs"),
    ] = 0,
    parallel: ParallelOption = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="of model files: print the estimates as one JSON object")
    ] = False,
    follow: Annotated[
        bool,
        typer.Option(
            "--track-demand",
            help="with --model mmm: the demand over time, from a run folder or a log of sojourn control",
        ),
    ] = False,
) -> None:
    """Fits models to measured runs.

    It finds the unknowns of a model file, with intervals. Of several models it takes the best, or averages those that predict alike.
    """
    of_files = not follow and all(name == "auto" or is_model_file(name) for name in model)
    if as_json and not of_files:
        raise InputError("--json", "fit", "leave it out: only fits of model files and of auto can use it")
    if follow:
        return follow_log(runs, ", ".join(model), settings(given, "--tracking-settings"), level)
    if given:
        raise InputError(
            f"--tracking-settings {given}", "fit", "leave this option out, or write the number into the model file"
        )
    check_new(out, force)
    if of_files:
        tell = partial(say, err=as_json)
        with workers_on(parallel, "fitting") as workers:
            own = fit_files(runs, model, out, seed, level, further, workers, tell)
        _tell_limits(runs, full_at(own), tell)
        if as_json:
            say_answer("fit", _answer(own, out))
        return
    if len(model) > 1:
        raise InputError(
            f"--model {' --model '.join(model)}", "--model", "rivals are model files or auto; otherwise give one model"
        )
    (name,) = model
    if parallel:
        raise InputError(f"--model {name}", f"--parallel {parallel}", "leave this option out: such a fit takes seconds")
    if name == "demands":
        fit_demands(runs, out, level)
        return
    fit_template(name, runs, out, seed)
    _tell_limits(runs)


def _tell_limits(
    runs: list[Path],
    full: Callable[[Mapping[str, Any]], Rate | None] | None = None,
    tell: Callable[[str], None] = say,
) -> None:
    """What limits the service by laws alone, beside what the model says; `full`: where it has it full."""
    from sojourn.diagnosis import lines
    from sojourn.diagnosis.load_levels import diagnose

    for line in lines(diagnose(runs, full)):
        tell(line)


def _answer(fitted: FittedModel, out: Path) -> dict[str, Any]:
    """Of the model that was taken; what other rivals say is in the file."""
    estimates = {name: one._asdict() for name, one in fitted.estimates.items()}
    return {
        "fitted_file": str(out),
        "model": fitted.model.name,
        "solve_method": fitted.solve_method,
        "message": fitted.message,
        "warnings": fitted.cautions,
        "level": fitted.level,
        "estimates": estimates,
        "model_error": fitted.model_error,
    }
