"""`sojourn solve model.toml`: a model, analytically."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.console import show
from sojourn.cli.json_answer import say_answer
from sojourn.cli.model_file_commands import of_one_model
from sojourn.cli.output_format import Format, output_format
from sojourn.cli.parallel_option import ParallelOption, workers_on
from sojourn.cli.vary_option import factors
from sojourn.errors import InputError
from sojourn.file_kind import FIT, MODEL, expect
from sojourn.terminal import say

COMMON = (0.5, 0.9, 0.95, 0.99)


def solve(
    model: Annotated[Path, typer.Argument(help="a model file")],
    method: Annotated[str, typer.Option(help="auto, or a name that `sojourn methods` lists")] = "auto",
    vary: Annotated[list[str] | None, typer.Option(help="classes.user.population=1..200; several: all combinations")] = None,
    budget: Annotated[float, typer.Option("--exact-time-limit", help="with auto: seconds that an exact method may take")] = 1.0,
    quantiles: Annotated[bool, typer.Option("--quantiles", help="show quantiles, if the method provides them")] = False,
    state_probabilities: Annotated[
        int | None, typer.Option(min=0, help="show p(0) to p(N) of each station: the chance that so many are there")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print all rows as one JSON object")] = False,
    form: Format = "table",
    plot: Annotated[Path | None, typer.Option(help="draw what was varied into this .svg, .png or .pdf")] = None,
    parallel: ParallelOption = "",
) -> None:  # fmt: skip
    """Solves a queueing model, exactly where that is possible.

    Where no exact method is affordable it takes the best approximation, and says which and why.
    """
    from sojourn.model import Model
    from sojourn.solve import solve as solve_
    from sojourn.solve.method import RequestedOutputs

    printed = output_format(form, as_json)
    if plot and not vary:
        raise InputError("nothing is varied", "--plot", "add --vary PATH=VALUES")
    if parallel and not vary:
        raise InputError("nothing is varied", f"--parallel {parallel}", "add --vary PATH=VALUES")
    wanted = RequestedOutputs(COMMON if quantiles or printed.as_json or printed.as_csv else (), state_probabilities)
    expect(model, MODEL, FIT)
    it = Model.read(model)
    paths = factors(vary or [])
    if paths:
        from sojourn.solve import sweep

        with workers_on(parallel, "solving blocks") as workers:
            result = sweep(
                it, paths, method=method, requested_outputs=wanted, exact_time_limit_s=budget, parallel=workers
            )
    else:
        result = solve_(it, method, requested_outputs=wanted, exact_time_limit_s=budget)
    result.message = "\n".join(filter(None, [of_one_model(model), result.message]))
    if plot:
        from sojourn.cli.sweep_plot import draw

        draw(result, it.name or model.stem, plot)
    if printed.as_json:
        say_answer("solve", result.to_dict())
    else:
        show(result, f"{it.name or model.stem}: {result.method}", printed.as_csv)
    if plot and not (printed.as_json or printed.as_csv):
        say(f"written to {plot}")
