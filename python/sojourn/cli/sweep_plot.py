"""A sweep as a figure: the system's response time over what was varied."""

from __future__ import annotations

from pathlib import Path

from sojourn.errors import InputError
from sojourn.report.figure_files import FORMATS, write_figure
from sojourn.report.result_figures import sweep
from sojourn.table import Metrics


def draw(result: Metrics, title: str, path: Path) -> None:
    """Response time over the first path that varies; a line a class and a combination of the other paths. InputError for
    a file that is no figure, or an x axis without numbers."""
    if path.suffix.lstrip(".") not in FORMATS:
        raise InputError(path.name, "--plot", f"end it with one of {', '.join('.' + f for f in FORMATS)}")
    write_figure(sweep(result, title=title), path)
