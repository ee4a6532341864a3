"""`sojourn report runs/…`: one HTML file from run folders or from a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.output import check_writable


def report(
    runs: Annotated[list[Path], typer.Argument(help="run folders, or folders that hold them")],
    out: Annotated[Path, typer.Option(help="the HTML file to write")] = Path("report.html"),
    figures: Annotated[Path | None, typer.Option(help="also write each figure as SVG and PNG into this folder")] = None,
) -> None:
    """Writes one self-contained HTML file: verdict, figures, tables, how it was measured."""
    from sojourn.measure.document import runs_document
    from sojourn.measure.folder import run_folders
    from sojourn.report import write_figures, write_html

    check_writable(out)
    document = runs_document(run_folders(runs))
    write_html(document, out)
    typer.echo(f"written to {out}")
    if figures:
        for path in write_figures(document, figures):
            typer.echo(f"written to {path}")
