"""Figures of storage runs: CPU by IOPS, before and after what the machine uses by itself, and how evenly I/Os spread over cores."""

from __future__ import annotations

import math

import polars as pl

from sojourn.plan import NestedLevel, balance
from sojourn.report import Figure, Series
from sojourn_cases.storage.costs import cost_per_io
from sojourn_cases.storage.costs.cost_per_io import background_of, loaded, unmarked

CORES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
LANES = 4  # of each link, in the figure of levels
EXCHANGE, DEVIATION = 20270.0, 1586.0  # bytes, in the fifth source document
FRAMES, FRAME_DEVIATION = 11, 6.0
RATE, BUSY = "I/Os per second", "busy cores"


def cpu_figures(runs: pl.DataFrame) -> tuple[Figure, Figure]:
    """CPU of each run by its IOPS, as it was measured and without the background, with the line of each path's cost per I/O. `runs` as
    `cost_per_io` takes them; DesignError as it."""
    background, busy = background_of(runs), loaded(runs)
    paths = busy.sort("path", "rate").partition_by("path", as_dict=True, maintain_order=True)
    rest = unmarked(runs.filter(pl.col("iops") == 0))["cpu_cores"].drop_nulls().to_list()
    seen = [_points(str(path), own, 0.0) for (path,), own in paths.items()]
    if rest:
        seen.append(Series("background", [0.0] * len(rest), rest, style="points"))
    net = [_points(str(path), own, background.cores) for (path,), own in paths.items()]
    most = {str(path): float(own["rate"].max()) for (path,), own in paths.items()}  # type: ignore[arg-type]
    net += [
        Series(f"{cost.path}, {1e6 * cost.seconds:.1f} us an I/O", [0.0, most[cost.path]], [0.0, most[cost.path] * cost.seconds],
               group=cost.path)
        for cost in cost_per_io(runs)
    ]  # fmt: skip
    told = f"{background.cores:.4g} cores, the mean of {background.runs} run{'s' * (background.runs != 1)} at zero IOPS"
    return (
        Figure("cpu-by-iops", "CPU by IOPS", RATE, BUSY, tuple(seen), f"A point a run. Background: {told}."),
        Figure(
            "cpu-without-background", "CPU by IOPS, without the background", RATE, BUSY, tuple(net),
            f"Each run less {told}. Lines: the cost per I/O in the middle of the levels that were run.",
        ),
    )  # fmt: skip


def _points(path: str, runs: pl.DataFrame, background_cores: float) -> Series:
    return Series(path, runs["rate"].to_list(), (runs["cpu_cores"] - background_cores).to_list(), style="points")


def balance_figure(items: int) -> Figure:
    """By how much the busiest of M cores exceeds the mean, if `items` I/Os whose CPU times are exponential are spread over them."""
    found = [balance(cores, items=items, item_mean=1.0, item_deviation=1.0) for cores in CORES]
    # what the fifth source document has in place of the expected maximum
    bound = [100 * math.sqrt(2 * cores * math.log(cores) / items) for cores in CORES]
    series = (
        Series("in turn", CORES, [100 * one.busiest_over_mean_if_in_turn for one in found]),
        Series("at random", CORES, [100 * one.busiest_over_mean_if_random for one in found]),
        Series("in turn, sqrt(2 ln M)", CORES, bound, style="dashed"),
    )
    note = (
        f"{items} I/Os, one second at the highest rate of the study, dealt out in turn or each to a core at random. Their CPU times "
        "are taken as exponential, as `sojourn calc storage` takes them; sums as normal, which is good from about ten I/Os a core. "
        "Dashed: the bound sqrt(2 ln M) in place of the expected maximum."
    )
    title = "The busiest core over the mean, by the number of cores"
    return Figure("balance", title, "cores, M", "more than the mean (%)", series, note, x_log=True)


def levels_figure(items: int) -> Figure:
    """By how much the busiest of M lanes exceeds the mean, if exchanges are dealt to all, if their frames are, and if exchanges go to links
    of `LANES` lanes, then their frames to the lanes."""
    lanes = tuple(m for m in CORES if m % LANES == 0)
    whole = [
        balance(m, items=items, item_mean=EXCHANGE, item_deviation=DEVIATION).busiest_over_mean_if_in_turn
        for m in lanes
    ]
    frames = [one / (DEVIATION / math.sqrt(FRAMES) / FRAME_DEVIATION) for one in whole]
    below = [NestedLevel(LANES, FRAMES, FRAME_DEVIATION)]
    both = [
        balance(m // LANES, items=items, item_mean=EXCHANGE, item_deviation=DEVIATION, levels=below)
        .levels[-1]
        .busiest_over_mean
        for m in lanes
    ]
    series = tuple(
        Series(name, lanes, [100 * one for one in values])
        for name, values in (
            ("exchanges to lanes", whole),
            ("exchanges to links, frames to lanes", both),
            ("frames to lanes", frames),
        )
    )
    note = (
        f"{items} exchanges of 20270 ± 1586 bytes, each in {FRAMES} frames of ± 6, as the fifth source document recorded them; links of "
        f"{LANES} lanes. What is dealt out last does not help where what is dealt out first is uneven. With one link of {LANES} lanes both "
        "ways of dealing out frames are the same."
    )
    title = "Balance in levels: the busiest lane over the mean"
    return Figure("balance-levels", title, "lanes, M", "more than the mean (%)", series, note, x_log=True)
