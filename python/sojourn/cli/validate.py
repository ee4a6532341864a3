"""`sojourn validate runs/… --model fitted.toml`: predicted against measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.units import USUAL_LEVEL


def validate(
    runs: Annotated[list[Path], typer.Argument(help="run folders, or folders that hold them")],
    model: Annotated[Path, typer.Option(help="a fitted.toml")] = Path("fitted.toml"),
    max_saturation_share: Annotated[
        float | None,
        typer.Option(
            "--max-share-of-saturation-rate",
            help="only runs up to this share of the predicted saturation rate, such as 0.8",
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="of the prediction intervals")] = USUAL_LEVEL,
    given: Annotated[str, typer.Option("--set", help="what is new: stations.cpu.servers=4")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="print the errors, point by point, as JSON")] = False,
) -> None:
    """Compares a fitted model with measured runs.

    Point by point: predicted, its interval, measured, error.
    """
    from sojourn.cli.model_file_commands import check_fitted, validate_file
    from sojourn.cli.set_option import settings
    from sojourn.fit.validate_model import check_share

    if max_saturation_share is not None:
        check_share(max_saturation_share, "--max-share-of-saturation-rate")
    check_fitted(model)
    validate_file(model, runs, level, settings(given, "--set"), max_saturation_share, as_json)
