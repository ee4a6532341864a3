"""The analysis `io_waits`: how much of the cores' time passed waiting for disks, as histograms, of each core too, and what the database's
sessions waited for meanwhile, at each combination of the option `factors` in the option `section`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import StudyError
from sojourn.file_errors import meant
from sojourn.report import Cell, Figure, Section, Series, Table
from sojourn.runs import RunFolder, busy_series
from sojourn.study import Analysis
from sojourn.units import percent

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

Array: TypeAlias = NDArray[np.float64]
PLACE = "[[analysis]] io_waits"
IO_WAIT = "iowait"
Rows: TypeAlias = tuple[tuple[Cell, ...], ...]
BINS = (0.0, 0.05, 0.25, 0.5, 0.75, 1.0)  # of the cores' time in a sample
MOST_CORES = 8  # of a figure
ACTIVITY: Final = "database_activity"  # of a run's manifest, as a case writes it


def io_waits(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Both tables, and a figure for each combination; a line for the one that waited most.

    Raises:
        StudyError: an option that is missing, unknown, or no factor.
    """
    if set(options) != {"section", "factors"}:
        raise StudyError(f"options {dict(options)}", PLACE, "give section and factors")
    for name in options["factors"]:
        if name not in plan.system.factors:
            raise StudyError(f"factor {name!r}", PLACE, meant(name, plan.system.factors))
    by_point = points(found.of(options["section"]), options["factors"])
    if not by_point:
        return Analysis(("no valid run has samples of I/O waits",))
    shares = {point: np.concatenate([_shares(run) for run in runs]) for point, runs in by_point.items()}
    most = max(shares, key=lambda point: float(shares[point].mean()))
    names = _named(options["factors"], most)
    line = f"I/O waits: most at {names}, {percent(float(shares[most].mean()))} of the cores' time"
    tables = (_histogram(shares, options["factors"]), *_sessions(by_point, options["factors"]))
    figures = core_figures(by_point, options["factors"])
    return Analysis((line,), (Section("I/O waits", line, (*tables, *figures)),))


def _named(factors: Sequence[str], point: Sequence[str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in zip(factors, point, strict=True))


def points(runs: Sequence[RunFolder], factors: Sequence[str]) -> dict[tuple[str, ...], list[RunFolder]]:
    """The valid runs by the values of their factors."""
    by_point: dict[tuple[str, ...], list[RunFolder]] = {}
    for run in runs:
        if run.manifest["valid"] and run.frame("host") is not None:
            values = tuple(str(run.manifest["factors"][name]) for name in factors)
            by_point.setdefault(values, []).append(run)
    return by_point


def _shares(run: RunFolder) -> Array:
    return busy_series(run, [IO_WAIT])[0][0]


def histogram(shares: Array) -> list[float]:
    """Share of the samples in each of `BINS`; a sample at a limit is in the upper one. Ticks may show more than all the time."""
    return [float(count) / shares.size for count in np.histogram(np.clip(shares, 0, 1), BINS)[0]]


def _histogram(shares: Mapping[tuple[str, ...], Array], factors: Sequence[str]) -> Table:
    limits = _limits()
    rows: Rows = tuple((*point, float(own.mean()), *histogram(own)) for point, own in shares.items())
    formats = (*[""] * len(factors), *[".1%"] * (1 + len(limits)))
    title = "Samples of 0.1 s, sorted by the share of time that cores wait for I/O"
    return Table(title, (*factors, "mean", *limits), rows, formats=formats)


def core_figures(by_point: Mapping[tuple[str, ...], Sequence[RunFolder]], factors: Sequence[str]) -> Iterator[Figure]:
    """Of each combination the histogram of each core, beside each other: of at most `MOST_CORES`, those that waited most."""
    for point, runs in by_point.items():
        waited = _of_cores(runs)
        if not waited:
            continue
        most = sorted(waited, key=lambda core: -float(waited[core].mean()))[:MOST_CORES]
        places, names = list(range(1, len(BINS))), _core_names(runs[0])
        series = tuple(
            Series(
                names.get(core, f"core {core}"),
                places,
                [100 * share for share in histogram(waited[core])],
                style="bars",
            )
            for core in sorted(most)
        )
        where = _named(factors, point) or "all runs"
        left = f" The {len(most)} of {len(waited)} cores that waited most." if len(most) < len(waited) else ""
        note = (
            f"Samples of the runs, of 0.1 s each, by the share of the time in which the core waited for a disk.{left}"
        )
        title = f"I/O wait of each core: {where}"
        yield Figure(title, title, "share of the sample", "samples (%)", series, note, x_names=tuple(_limits()))


def _core_names(run: RunFolder) -> dict[int, str]:
    """Of cores that are virtual CPUs of guests, whose they are."""
    guests: dict[str, list[int]] = (run.manifest.get("lab") or {}).get("guest_cores", {})
    return {core: f"{guest} CPU {k}" for guest, own in guests.items() for k, core in enumerate(own)}


def _of_cores(runs: Sequence[RunFolder]) -> dict[int, Array]:
    """The samples of all runs of the cores that all of them recorded."""
    hosts = [host for run in runs if (host := run.frame("host")) is not None]
    cores = set.intersection(*({int(key) for key in host.filter(source="cpu")["key"].unique()} for host in hosts))
    if not cores:
        return {}
    names = [f"{IO_WAIT}:{core}" for core in sorted(cores)]
    samples = np.concatenate([busy_series(run, names)[0] for run in runs], axis=1)
    return dict(zip(sorted(cores), samples, strict=True))


def _limits() -> list[str]:
    return [f"{percent(low, 0)} to {percent(high, 0)}" for low, high in pairwise(BINS)]


def _sessions(by_point: Mapping[tuple[str, ...], Sequence[RunFolder]], factors: Sequence[str]) -> list[Table]:
    """Active sessions by what they wait for; nothing where no run has it."""
    told = {
        point: [run.manifest[ACTIVITY]["waiting"] for run in runs if run.manifest.get(ACTIVITY)]
        for point, runs in by_point.items()
    }
    kinds = sorted({kind for runs in told.values() for waiting in runs for kind in waiting})
    if not kinds:
        return []
    rows: Rows = tuple(
        (*point, *(float(np.mean([waiting.get(kind, 0.0) for waiting in runs])) for kind in kinds))
        for point, runs in told.items()
        if runs
    )
    formats = (*[""] * len(factors), *[".2f"] * len(kinds))
    return [Table("Mean number of active database sessions, by what they wait for (none: they run, or wait for a core)",
                  (*factors, *kinds), rows, formats=formats)]  # fmt: skip
