"""`sojourn simulate`: a model file simulated until its means are known well enough."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.console import show
from sojourn.cli.json_answer import say_answer
from sojourn.cli.model_file_commands import of_one_model
from sojourn.cli.output_format import Format, output_format
from sojourn.cli.parallel_option import ParallelOption, workers_on
from sojourn.errors import InputError, Interrupted
from sojourn.file_kind import FIT, MODEL, expect
from sojourn.units import USUAL_LEVEL


def simulate(
    file: Annotated[Path, typer.Argument(help="a model.toml")],
    precision: Annotated[float, typer.Option(help="relative half-width of the intervals")] = 0.01,
    level: Annotated[float, typer.Option(help="of the intervals")] = USUAL_LEVEL,
    seed: Annotated[int, typer.Option(help="the same seed gives the same answer")] = 1,
    replications: Annotated[int | None, typer.Option(help="independent runs, in parallel; default one long run")] = None,
    until: Annotated[str, typer.Option(help="simulated time instead of a precision, such as 500s or 2h")] = "",
    completions: Annotated[int | None, typer.Option(help="completed passes instead of a precision")] = None,
    max_wall_time: Annotated[str, typer.Option(help="limit of elapsed (wall-clock) time")] = "60s",
    out: Annotated[Path | None, typer.Option(help="also write a run folder here, as a measurement does")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object: method, status, message, rows")] = False,
    form: Format = "table",
    parallel: ParallelOption = "",
) -> None:  # fmt: skip
    """Simulates a queueing model, with intervals.

    Means and quantiles, until their intervals are as narrow as --precision.
    Ctrl-C keeps what was done: the estimates until then are printed, with status interrupted and exit code 130.
    """
    from sojourn.model import Model
    from sojourn.simulate import simulate as simulate_
    from sojourn.simulate.progress_bar import bar
    from sojourn.units import duration_s

    printed = output_format(form, as_json)
    expect(file, MODEL, FIT)
    model = Model.read(file)
    until_s = duration_s(until, "--until") if until else None
    max_s = duration_s(max_wall_time, "--max-wall-time")
    if parallel and replications is None:
        raise InputError("one long run", f"--parallel {parallel}", "add --replications, which run in parallel")
    if out:  # first: what it refuses, it refuses before the work is done
        from sojourn.simulate.simulate import QUANTILES, RunLength, check
        from sojourn.simulate.simulated_run import as_run

        check(RunLength(precision, level, until_s, completions, max_s), seed, replications, QUANTILES)
        as_run(model, out, seed=seed, until_s=until_s, completions=completions)
    with workers_on(parallel, "simulating") as workers, nullcontext() if parallel else bar() as progress:
        found = simulate_(
            model, precision=precision, level=level, seed=seed, replications=replications, until_s=until_s,
            completions=completions, max_wall_time_s=max_s, progress=progress, parallel=workers,
        )  # fmt: skip
    found.message = "\n".join(filter(None, [of_one_model(file), found.message]))
    if printed.as_json:
        say_answer("simulate", found.to_dict())
    else:
        show(found, found.method, printed.as_csv)
    if found.status == "interrupted":
        raise typer.Exit(Interrupted.exit_code)
