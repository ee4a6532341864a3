"""`sojourn report runs/…`: one HTML file from run folders or from a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.console import check_writable
from sojourn.cli.run_folders import run_paths
from sojourn.terminal import say


def report(
    runs: Annotated[list[Path], typer.Argument(help="run folders, or folders that hold them")],
    model: Annotated[Path | None, typer.Option(help="a fitted.toml: measured against predicted")] = None,
    out: Annotated[Path, typer.Option(help="the HTML file to write")] = Path("report.html"),
    figures: Annotated[
        Path | None, typer.Option("--figures-folder", help="also write each figure as SVG and PNG into this folder")
    ] = None,
) -> None:
    """Writes one HTML page about runs and a fitted model.

    What came out, what limits the service, figures, tables, how it was measured. The page needs no other file.
    """
    from sojourn.cli.model_file_commands import full_by_file, section_of
    from sojourn.measure.run_report import runs_document
    from sojourn.report import write_figures, write_html

    check_writable(out)
    folders = run_paths(runs)
    by_model = (None, None) if model is None else (section_of(model, folders), full_by_file(model))
    document = runs_document(folders, *by_model)
    write_html(document, out)
    for line in document.verdict:
        say(line)
    say(f"written to {out}")
    if figures:
        for path in write_figures(document, figures):
            say(f"written to {path}")
