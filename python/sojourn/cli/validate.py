"""`sojourn validate runs/… --model fitted.toml`: predicted against measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from sojourn.cli.console import console, finite
from sojourn.narrow_tables import WidthAwareTable
from sojourn.terminal import say


def validate(
    runs: Annotated[list[Path], typer.Argument(help="run folders, or folders that hold them")],
    model: Annotated[Path, typer.Option(help="a fitted.toml")] = Path("fitted.toml"),
    up_to: Annotated[float | None, typer.Option(help="only rates up to this share of the predicted saturation")] = None,
    level: Annotated[float, typer.Option(help="of the prediction intervals, of a model file")] = 0.95,
    given: Annotated[str, typer.Option("--set", help="of a model file, what is new: stations.cpu.servers=4")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="print the errors, point by point, as JSON")] = False,
) -> None:
    """A fitted model beside measured runs, point by point: predicted, its interval, measured, error."""
    from sojourn.cli import two_class_comparison
    from sojourn.cli.model_file_commands import is_fitted_model, validate_file
    from sojourn.cli.set_option import settings
    from sojourn.fit.validate_model import check_up_to

    if up_to is not None:
        check_up_to(up_to)
    if is_fitted_model(model):
        validate_file(model, runs, level, settings(given, "--set"), up_to, as_json)
        return
    fitted, result = two_class_comparison.validated(model, runs, up_to)
    if as_json:
        found = {"points": result.frame.to_dicts(), "summary": result.summary, "message": result.message}
        say(json.dumps(finite(found), allow_nan=False))
        return
    shown = Table(
        *two_class_comparison.HEADS,
        title=two_class_comparison.title(fitted),
        title_justify="left",
        box=None,
        header_style="dim",
    )
    for row in two_class_comparison.points(fitted, result):
        shown.add_row(*row)
    out = console()
    out.print(WidthAwareTable(shown))
    for line in [*two_class_comparison.scores(fitted, result), *result.message.splitlines()]:
        out.print(line, markup=False)
