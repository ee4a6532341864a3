"""Both sides of the same requests: how far the client's response times lie from the middleware's, and their histograms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn.report import Cell, Figure, Series, Table
from sojourn.study import mean_with_interval
from sojourn.units import USUAL_LEVEL, percent
from sojourn_cases.kv.middleware import configurations, response_bins
from sojourn_cases.kv.table_cells import MS, number, three

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99)
SHOWN = 0.98  # of the requests of the slower side lie left of the end of the axis
WAY = {False: "whole", True: "split"}
SIDES = (response_bins.CLIENT, response_bins.MIDDLEWARE)


Folders = Mapping[str, Path]  # run → its folder


def shift_table(rows: pl.DataFrame, folders: Folders) -> Table | None:
    """Percentiles of both sides, how far the medians lie apart (the network's time) and how wide both are (IQR)."""
    cells: list[tuple[Cell, ...]] = []
    for configuration, own in configurations(rows):
        paths = [folders[name] for name in own["run"]]
        sides = response_bins.read(paths)
        if not sides:
            continue
        at = {side: response_bins.quantiles(sides[side], QUANTILES) for side in SIDES}
        shift = three(mean_with_interval(np.array([_shift(path) for path in paths])), MS)
        keys, way = keys_text(configuration["workload"]), WAY[bool(configuration["sharded"])]
        for side in SIDES:
            wide = number(at[side][2] - at[side][0], MS)
            apart = shift if side == response_bins.CLIENT else (None, None, None)
            values = (number(v, MS) for v in at[side])
            cells.append(
                (str(configuration["design"]), keys, way, side, int(sides[side]["count"].sum()), *values, wide, *apart)
            )
    columns = (
        "design",
        "keys",
        "",
        "side",
        "requests",
        "p25",
        "p50",
        "p75",
        "p90",
        "p99",
        "IQR",
        "shift of p50",
        "low",
        "high",
    )
    note = (
        "In ms, after the warm-up. Shift: median of the client minus that of the middleware (mean over the repetitions with its "
        f"{percent(USUAL_LEVEL, 0)} interval): the network's round trip, and the time that client and middleware need "
        f"to read and write. The middleware's log counts only periods that lie entirely within the window, so it has fewer requests."
    )
    formats = (*[""] * 4, ".0f", *[".3f"] * 9)
    return Table("Client and middleware", columns, tuple(cells), note, formats) if cells else None


def keys_text(workload: str) -> str:
    """For tables: of a get of several keys, alone or in a mix."""
    kind, _, keys = str(workload).partition("-")
    return f"{keys}, a set each" if kind == "mixed" else keys


def _gets(workload: str) -> str:
    """For titles: of a get of several keys, alone or in a mix."""
    kind, _, keys = workload.partition("-")
    gets = f"gets of {keys} key{'s' * (keys != '1')}"
    return f"{gets}, with sets" if kind == "mixed" else gets


def _shift(folder: Path) -> float:
    sides = response_bins.read([folder])
    client, middleware = (response_bins.quantiles(sides[side], [0.5])[0] for side in SIDES)
    return client - middleware


def histogram_figures(rows: pl.DataFrame, folders: Folders) -> Iterator[Figure]:
    """One a design and workload: both sides, split and whole."""
    for (design, workload), own in sorted(rows.partition_by("design", "workload", as_dict=True).items()):
        found: dict[str, dict[str, pl.DataFrame]] = {}
        for configuration, runs in configurations(own):
            sides = response_bins.read([folders[name] for name in runs["run"]])
            if sides:
                found[WAY[bool(configuration["sharded"])]] = sides
        if found:
            yield _figure(f"{design}, {_gets(str(workload))}", found)


def _figure(title: str, found: dict[str, dict[str, pl.DataFrame]]) -> Figure:
    every = [(way, side, bins) for way, sides in found.items() for side, bins in sides.items()]
    last = max(_end(bins) for _, _, bins in every)
    series, beyond = [], []
    for way, side, bins in every:
        counts, out, overflow = response_bins.steps(bins, last)
        x, y = _outline(100 * counts / max(int(bins["count"].sum()), 1))
        style: Any = "line" if side == response_bins.CLIENT else "dashed"
        series.append(Series(f"{side}, {way}", x, y, style=style, group=way))
        beyond.append(f"{side}, {way} {out}" + f" ({overflow} of 1 s or more)" * bool(overflow))
    note = f"Steps of 0.1 ms. Beyond the axis: {'; '.join(beyond)}."
    return Figure(
        f"histogram-{title}", f"Response times: {title}", "response time, ms", "requests (%)", tuple(series), note
    )


def _end(bins: pl.DataFrame) -> float:
    """A whole number of steps that has `SHOWN` of the requests, 1 s at most."""
    (end,) = response_bins.quantiles(bins, [SHOWN])
    return float(
        np.ceil((end if np.isfinite(end) else response_bins.END_S) / response_bins.STEP_S) * response_bins.STEP_S
    )


def _outline(values: np.ndarray) -> tuple[list[float], list[float]]:
    """The steps of a histogram as a line, ms: up at the beginning of each step, and level along it."""
    edges = np.arange(len(values) + 1) * response_bins.STEP_S * MS
    x = np.repeat(edges, 2)
    y = np.concatenate([[0.0], np.repeat(values, 2), [0.0]])
    return x.tolist(), y.tolist()
