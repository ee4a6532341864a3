"""`sojourn fit runs/… --model shop.toml`: the unknowns of a model, with intervals → fitted.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.console import check_writable
from sojourn.cli.fit_demands import fit_demands
from sojourn.cli.fit_follow import follow_log
from sojourn.cli.model_file_commands import fit_files, is_model_file
from sojourn.cli.on_option import OnOption, workers_on
from sojourn.cli.run_folders import two_class_paths
from sojourn.cli.set_option import settings
from sojourn.errors import InputError
from sojourn.terminal import say


def fit(
    runs: Annotated[list[Path], typer.Argument(help="run folders, or folders that hold them")],
    model: Annotated[
        list[str],
        typer.Option(
            help="a model file with unknowns; auto: several are tried; several times: rivals, averaged where the runs cannot tell "
            "them apart; two-class or mmm: ours; demands: of each class of requests at each resource, by regression over runs with "
            "different mixes"
        ),
    ] = ["auto"],  # noqa: B006 - typer copies it
    variant: Annotated[
        str, typer.Option(help="of two-class: paper, shared, priority, or best on held-out rates")
    ] = "best",
    given: Annotated[
        str,
        typer.Option(
            "--set",
            help="of two-class, what is known: p=1,capacity=100,client_s=5e-5; with --follow: demand_s, scv, most_per_s, workers",
        ),
    ] = "",
    out: Annotated[Path, typer.Option(help="the file to write")] = Path("fitted.toml"),
    seed: Annotated[int, typer.Option(min=0, help="of the bootstrap")] = 1,
    level: Annotated[float, typer.Option(help="of the intervals")] = 0.95,
    further: Annotated[
        int, typer.Option("--next", min=0, help="of a model file: so many runs that would teach most")
    ] = 0,
    on: OnOption = "",
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", help="with mmm: the demand on-line, from a run folder or a log that sojourn control writes"
        ),
    ] = False,
) -> None:
    """Fits a model to measured runs: the unknowns of a model file, by run, or of several, averaged; or one of ours, by a block
    bootstrap."""
    from sojourn.fit import compare
    from sojourn.fit import fit as fit_
    from sojourn.runs.observations import observe

    if follow:
        return follow_log(runs, ", ".join(model), settings(given, "--set"), level)
    check_writable(out)
    if all(name == "auto" or is_model_file(name) for name in model):
        with workers_on(on, "fitting") as workers:
            fit_files(runs, model, out, seed, level, further, workers)
        _tell_limits(runs)
        return
    if len(model) > 1:
        raise InputError(
            f"--model {' --model '.join(model)}", "--model", "give model files or auto as rivals, else one model"
        )
    (name,) = model
    if on:
        raise InputError(f"--model {name}", f"--on {on}", "leave it out: such a fit takes seconds")
    if name == "demands":
        fit_demands(runs, out, level)
        return
    if name not in ("two-class", "mmm"):
        raise InputError(repr(name), "--model", "give a model file, auto, two-class, mmm or demands")
    observations = observe(two_class_paths(runs))
    known = settings(given, "--set")
    if name == "two-class" and variant == "best":
        chosen = compare(observations, ["priority", "shared", "paper"], known, seed=seed)
        say(chosen.why)
        fitted = chosen.fits[chosen.best]
    else:
        fitted = fit_(observations, name, variant if name == "two-class" else "", known, seed=seed)
    fitted.write(out)
    say(str(fitted))
    say(f"written to {out}")
    _tell_limits(runs)


def _tell_limits(runs: list[Path]) -> None:
    """What limits the service by laws alone, beside what the model says."""
    from sojourn.diagnosis import lines
    from sojourn.diagnosis.load_levels import diagnose

    for line in lines(diagnose(runs)):
        say(line)
