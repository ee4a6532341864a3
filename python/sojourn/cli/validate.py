"""`sojourn validate runs/… --model fitted.toml`: predicted against measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sojourn.fit import Fitted
    from sojourn.validate import Validation


def validate(
    runs: Annotated[list[Path], typer.Argument(help="run folders, or folders that hold them")],
    model: Annotated[Path, typer.Option(help="a fitted.toml")] = Path("fitted.toml"),
    up_to: Annotated[float | None, typer.Option(help="only rates up to this share of the predicted saturation")] = None,
    level: Annotated[float, typer.Option(help="of the prediction intervals, of a model file")] = 0.95,
    given: Annotated[str, typer.Option("--set", help="of a model file, what is new: stations.cpu.servers=4")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="print the errors, point by point, as JSON")] = False,
) -> None:
    """A fitted model beside measured runs: predicted, its interval, measured; of our own models relative errors as a table."""
    from sojourn.cli.fit_model import is_fitted_model, validate_file
    from sojourn.cli.settings import settings
    from sojourn.fit.validate_model import check_up_to

    if up_to is not None:
        check_up_to(up_to)
    if is_fitted_model(model):
        validate_file(model, runs, level, settings(given, "--set"), up_to, as_json)
        return
    fitted, result, text = own_model(model, runs, up_to)
    if as_json:
        typer.echo(
            json.dumps({"points": result.frame.to_dicts(), "summary": list(result.summary), "message": result.message})
        )
        return
    typer.echo(f"relative errors of {fitted.model} {fitted.variant}, mean of |predicted / measured - 1|, %")
    typer.echo(text)
    if result.message:
        typer.echo(result.message)


def own_model(path: Path, runs: list[Path], up_to: float | None) -> tuple[Fitted, Validation, str]:
    """Of the two-class model and M/M/m: the fit of a file, its errors on runs, and these as the document's Table 3."""
    from sojourn.cli.fit import is_open_loop
    from sojourn.fit import Fitted
    from sojourn.measure.folder import run_folders
    from sojourn.measure.observations import observe
    from sojourn.predict import predict
    from sojourn.table import Metrics
    from sojourn.validate import table3_text
    from sojourn.validate import validate as validate_

    fitted = Fitted.read(path)
    observations = observe([path for path in run_folders(runs) if is_open_loop(path)])
    parts = []
    for (cores, nics), group in observations.group_by("cores", "nics", maintain_order=True):
        rates = group["rate_per_s"].unique().sort().to_list()
        parts.append(predict(fitted, rates, cores=int(str(cores)), nics=int(str(nics))))
    result = validate_(observations, Metrics.concat(parts), up_to=up_to)
    return fitted, result, table3_text(result)
