"""Figures as files: SVG, PNG and PDF, converted from their specification without a browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sojourn.errors import InputError, ReportError
from sojourn.files.writing import write_output
from sojourn.report.chart import specification
from sojourn.report.document import Document, Figure
from sojourn.report.figure_channels import Spec

FORMATS = ("svg", "png", "pdf")
LANGUAGE = "6.1"  # 6.4 loses the text of what is nearest to the pointer
_PNG_PPI = 300  # at 72 px an inch: 3000 px a figure, which prints sharp over the width of a page


def render_svg(figure: Figure) -> str:
    """`figure` as an SVG element of 720 px, on white ground; text is escaped."""
    return to_svg(specification(figure))


def to_svg(spec: Spec) -> str:
    """A specification as an SVG element."""
    import vl_convert  # starts an engine: slow, and not needed where nothing is drawn

    return str(vl_convert.vegalite_to_svg(spec, vl_version=LANGUAGE))


def write_figures(document: Document, directory: Path | str, formats: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Write every figure of `document` into `directory` (made where missing), one file a format.

    formats: of `svg`, `png` (300 dots an inch) and `pdf`. Returns the paths, in order of the document.
    ReportError for another format; OSError where a file cannot be written.
    """
    for name in formats:
        if name not in FORMATS:
            raise ReportError(f"format {name!r}", "figures", f"use {', '.join(FORMATS)}")
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in document.figures():
        for ending in formats:
            path = directory / f"{name}.{ending}"
            write_figure(figure, path)
            paths.append(path)
    return paths


def check_figure_file(path: Path, place: str) -> None:
    """InputError for a file whose ending is none of `FORMATS`."""
    if path.suffix.lstrip(".") not in FORMATS:
        raise InputError(path.name, place, f"end it with one of {', '.join('.' + f for f in FORMATS)}")


def write_figure(figure: Figure, path: Path) -> None:
    """One figure in the format that the file's ending says."""
    import vl_convert

    spec = specification(figure)
    if path.suffix == ".svg":
        write_output(path, to_svg(spec))
    elif path.suffix == ".png":
        write_output(path, vl_convert.vegalite_to_png(spec, vl_version=LANGUAGE, ppi=_PNG_PPI))
    else:
        write_output(path, vl_convert.vegalite_to_pdf(spec, vl_version=LANGUAGE))
