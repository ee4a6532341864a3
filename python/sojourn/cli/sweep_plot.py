"""A sweep as a figure: the system's response time over what was varied."""

from __future__ import annotations

from pathlib import Path

from sojourn.report.figure_files import check_figure_file, write_figure
from sojourn.report.result_figures import sweep
from sojourn.table import Metrics


def draw(result: Metrics, title: str, path: Path) -> None:
    """Response time over the first path that varies; a line a class and a combination of the other paths. InputError for
    a file that is no figure, or an x axis without numbers."""
    check_figure_file(path, "--plot")
    write_figure(sweep(result, title=title), path)
