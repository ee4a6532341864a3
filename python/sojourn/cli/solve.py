"""`sojourn solve model.toml`: a model, analytically."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.console import one_form, show
from sojourn.cli.json_answer import say_answer
from sojourn.cli.model_file_commands import of_one_model
from sojourn.cli.on_option import OnOption, workers_on
from sojourn.cli.vary_option import factors
from sojourn.errors import InputError
from sojourn.file_kind import FIT, MODEL, expect
from sojourn.terminal import say

COMMON = (0.5, 0.9, 0.95, 0.99)


def solve(
    model: Annotated[Path, typer.Argument(help="a model file")],
    method: Annotated[str, typer.Option(help="auto, or a name that `sojourn methods` lists")] = "auto",
    vary: Annotated[list[str] | None, typer.Option(help="classes.user.population=1..200; several: all combinations")] = None,
    budget: Annotated[float, typer.Option(help="with auto: seconds that an exact method may take")] = 1.0,
    quantiles: Annotated[bool, typer.Option("--quantiles", help="show quantiles, if the method provides them")] = False,
    probabilities: Annotated[int | None, typer.Option(min=0, help="show p(0) to p(N) of each station")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print all rows as one JSON object")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="print all rows as CSV")] = False,
    plot: Annotated[Path | None, typer.Option(help="draw what was varied into this .svg, .png or .pdf")] = None,
    on: OnOption = "",
) -> None:  # fmt: skip
    """Solves a queueing model, exactly where that is possible.

    Where no exact method is affordable it takes the best approximation, and says which and why.
    """
    from sojourn.model import Model
    from sojourn.solve import solve as solve_
    from sojourn.solve import sweep
    from sojourn.solve.method import RequestedOutputs

    one_form(as_json, as_csv, "solve")
    if plot and not vary:
        raise InputError("nothing is varied", "--plot", "add --vary PATH=VALUES")
    if on and not vary:
        raise InputError("nothing is varied", f"--on {on}", "add --vary PATH=VALUES")
    wanted = RequestedOutputs(COMMON if quantiles or as_json or as_csv else (), probabilities)
    expect(model, MODEL, FIT)
    it = Model.read(model)
    paths = factors(vary or [])
    if paths:
        with workers_on(on, "solving blocks") as workers:
            result = sweep(it, paths, method=method, wanted=wanted, budget_s=budget, on=workers)
    else:
        result = solve_(it, method, wanted=wanted, budget_s=budget)
    result.message = "\n".join(filter(None, [of_one_model(model), result.message]))
    if plot:
        from sojourn.cli.sweep_plot import draw

        draw(result, it.name or model.stem, plot)
    if as_json:
        say_answer("solve", result.to_dict())
    else:
        show(result, f"{it.name or model.stem}: {result.method}", as_csv)
    if plot and not (as_json or as_csv):
        say(f"written to {plot}")
