"""Runs whose bottleneck oscillates between the CPU and a disk, as a section of their report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from sojourn.diagnosis.oscillation import EACH_FULL, FULL, LEAST_S, Oscillation, oscillation
from sojourn.diagnosis.oscillation_figures import METHOD, figures, headline
from sojourn.errors import InputError
from sojourn.report import Section, Table, Text
from sojourn.runs.busy_series import busy_series
from sojourn.runs.run_folder import RunFolder
from sojourn.units import percent

CPU = "cpu"


def oscillation_section(runs: Sequence[RunFolder]) -> Section | None:
    """Which runs, with the figures of the clearest; None where no bottleneck oscillates."""
    found = [(run, one) for run in runs for one in oscillations(run)]
    if not found:
        return None
    columns = ("run", "between", "verdict", "r", "p", "at least one full", "full means over 1 s")
    rows = tuple(
        (
            run.path.name, " and ".join(one.names), one.verdict, f"{one.correlation:.2f}", f"{one.p_value:.2g}",
            percent(one.share_of_samples_full[2]), percent(one.share_of_seconds_full),
        )
        for run, one in found
    )  # fmt: skip
    run, clearest = min(found, key=lambda pair: pair[1].correlation)
    lead = f"{run.path.name}: {headline(clearest)}."
    return Section("Oscillating bottleneck", lead, (Table("", columns, rows), *figures(clearest), Text(METHOD)))


def oscillations(run: RunFolder) -> Iterator[Oscillation]:
    """Of the CPU and each disk that is busy enough; nothing where samples are too few, too coarse or missing."""
    for name in _busy_disks(run):
        try:
            shares, interval_s = busy_series(run, [CPU, name])
            one = oscillation(shares[0], shares[1], interval_s, (CPU, name))
        except InputError:
            continue
        if one.oscillating:
            yield one


def _busy_disks(run: RunFolder) -> list[str]:
    """Those that can have been full in so many samples."""
    start_s, end_s = run.manifest.get("window_s") or (0.0, 0.0)
    host = run.frame("host") if end_s - start_s >= LEAST_S else None
    if host is None:
        return []
    within = host.filter(
        pl.col("source") == "disks", pl.col("item") == "io_ms", pl.col("t_s").is_between(start_s, end_s)
    )
    grown = within.group_by("key").agg(pl.col("value").max() - pl.col("value").min()).sort("key")
    least = 1e3 * EACH_FULL * FULL * float(np.subtract(end_s, start_s))
    return [f"disk:{key}" for key, busy_ms in grown.iter_rows() if busy_ms >= least]
