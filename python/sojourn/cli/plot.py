"""A sweep as a figure: the system's throughput or response time over what was varied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import InputError
from sojourn.report.document import Figure, Series
from sojourn.report.figures import FORMATS, write_figure
from sojourn.table import Metrics


def draw(result: Metrics, paths: list[str], title: str, path: Path) -> None:
    """Response time over the first path; a line a class and a combination of the other paths. InputError for a file
    that is no figure, or an x axis without numbers."""
    if path.suffix.lstrip(".") not in FORMATS:
        raise InputError(path.name, "--plot", f"end it with one of {', '.join('.' + f for f in FORMATS)}")
    frame = result.frame.filter((pl.col("station") == "") & (pl.col("metric") == "response_time"))
    if not frame[paths[0]].dtype.is_numeric():
        raise InputError(paths[0], "--plot", "vary a number first: it is the x axis")
    if frame["class"].n_unique() == 2:
        frame = frame.filter(pl.col("class") != "")
    series = [_series(key, part, paths) for key, part in frame.group_by("class", *paths[1:], maintain_order=True)]
    label = paths[0].replace(".", " ")
    write_figure(Figure("sweep", title, label, "response time (s)", tuple(series), note=result.method), path)


def _series(key: tuple[Any, ...], part: pl.DataFrame, paths: list[str]) -> Series:
    others = [f"{path.rpartition('.')[2]} {value}" for path, value in zip(paths[1:], key[1:], strict=True)]
    name = ", ".join([str(key[0]) or "all classes", *others])
    low, high = (part[end].to_list() if part[end].is_not_null().any() else None for end in ("low", "high"))
    return Series(name, part[paths[0]].to_list(), part["value"].to_list(), low, high, style="line")
