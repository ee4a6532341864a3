"""Analyses of runs on several numbers and placements of cores: where throughput stops growing, what a placement costs, each
with an interval, and with the known value where the system is simulated.

The limit of a scale-up is the fewest cores that reach all but `TOLERANCE` of the most that any number of cores does. Its interval, and
that of the throughput at most cores over it, come from draws of the mean throughputs, whose relative errors are taken as alike on
all numbers of cores (a normal over a chi-square draw; S. Weerahandi, Generalized confidence intervals, J. Amer. Statist. Assoc. 88
(1993), pp. 899-905).
Two placements are compared in pairs of runs (design/analyse/paired.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from sojourn.design.analyse.paired import compare_pairs
from sojourn.errors import StudyError
from sojourn.fit.package_step import told_law
from sojourn.measure.run_folder import RunFolder
from sojourn.report import Figure, Section, Series, Table
from sojourn.study.engine.analyses import Analysis, RecoveredParameter
from sojourn.study.engine.paired_runs import run_pairs
from sojourn.study.mean_of_runs import ParameterEstimate, estimate
from sojourn.system.bulletin_board_simulated import SimulatedBulletin
from sojourn.units import percent

if TYPE_CHECKING:
    from sojourn.study.engine.checked_study import CheckedStudy
    from sojourn.study.engine.study_findings import StudyFindings

CORES, USERS = "cores", "users"
LEVEL, DRAWS = 0.95, 4000
TOLERANCE = 0.05  # of the maximum: less does not pay for a core


class Cell(NamedTuple):
    """Runs of one configuration in order of their repetitions: factors, throughput in 1/s and busy share of the cores, a value a run."""

    factors: Mapping[str, Any]
    throughput: np.ndarray
    busy: np.ndarray


def limits(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """For each curve over the cores in the option `sections`: its limit, and what all cores do beside that."""
    rows, lines, drawn, known = [], [], [], []
    for name, curve in _curves(found, options["sections"]):
        limit, ratio = limit_of(curve, plan.seed)
        cores, at_limit = sorted(curve), curve[round(limit.value)].throughput
        lines.append(
            f"{name}: throughput grows up to {_whole(limit)} cores; with {cores[-1]} it is {percent(ratio.value - 1, sign=True)} "
            f"({percent(ratio.low - 1, sign=True)} to {percent(ratio.high - 1, sign=True)}) beside that"
        )
        lines.append(f"{name}: {told_law(*_sizes(curve))}")
        rows.append((name, _whole(limit), float(at_limit.mean()), *_ends(ratio)))
        drawn.append(_drawn(name, curve))
        if isinstance(plan.system, SimulatedBulletin):
            most = [plan.system.options.most_per_s(curve[n].factors) for n in cores]
            here = int(_limit(most))
            known.append(RecoveredParameter(name, "limit, cores", cores[here], *_ends(limit)))
            if plan.system.options.no_disk(curve[cores[0]].factors):
                known.append(RecoveredParameter(name, "all cores over it", most[-1] / most[here], *_ends(ratio)))
    columns = ("", "limit, cores", "throughput there, 1/s", "all cores over it", "low", "high")
    lead = f"The limit: the fewest cores that reach all but {TOLERANCE:.0%} of the maximum; intervals at {LEVEL:.0%}."
    table = Table("", columns, tuple(rows), formats=("", "", ".0f", ".3f", ".3f", ".3f"))
    figure = Figure("scale-up", "Throughput by cores", "cores", "1/s", tuple(drawn))
    return Analysis(
        tuple(lines), (Section("Scale-up", lead, (table, figure, *against_truth(known))),), parameters=tuple(known)
    )


def mapping(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Of pairs of runs in the option `section` with the two `values` of the option `factor`: throughput of the second over the first, and
    how busy the cores were with each."""
    factor, (one, other) = options["factor"], options["values"]
    pairs = run_pairs(found.of(options["section"]), factor, (one, other))
    told = np.array([[_throughput_and_busy(run) for run in pair] for pair in pairs]).reshape(-1, 2, 2)
    ratio, busy = compare_pairs(told[:, 0, 0].tolist(), told[:, 1, 0].tolist()).ratio, told[:, :, 1].mean(axis=0)
    known = []
    if isinstance(plan.system, SimulatedBulletin):
        first, second = (plan.system.options.most_per_s(run.manifest["factors"]) for run in pairs[0])
        known.append(
            RecoveredParameter(factor, f"{other} over {one}", second / first, ratio.value, ratio.low, ratio.high)
        )
    ends = f"{percent(ratio.low - 1, sign=True)} to {percent(ratio.high - 1, sign=True)}"
    line = f"{other} completes {percent(ratio.value - 1, sign=True)} ({ends}) beside {one}, {len(pairs)} pairs; "
    line += f"the cores are {percent(busy[1])} and {percent(busy[0])} busy"
    return Analysis((line,), (Section("Placement", line + ".", against_truth(known)),), parameters=tuple(known))


def against_truth(known: Sequence[RecoveredParameter]) -> tuple[Table, ...]:
    """Estimates beside the values that were put in; nothing where none is known."""
    rows = tuple(
        (p.configuration, p.name, p.truth, p.value, p.low, p.high, "yes" if p.covered else "no") for p in known
    )
    columns = ("", "effect", "put in", "found", "low", "high", "interval covers it")
    return (Table("What was put in", columns, rows),) if known else ()


def limit_of(curve: Mapping[int, Cell], seed: int = 1) -> tuple[ParameterEstimate, ParameterEstimate]:
    """The limit, in cores, and the throughput at most cores over that at the limit, of runs by number of cores, two at least of each."""
    cores = sorted(curve)
    samples = [curve[n].throughput for n in cores]
    if min(map(len, samples)) < 2:
        raise StudyError("runs that were not repeated", "[[analysis]] ntier.limits", "give repetitions = 2 or more")
    mean, size = np.array([one.mean() for one in samples]), np.array([one.size for one in samples])
    relative = np.concatenate([one / one.mean() - 1 for one in samples])
    free = int((size - 1).sum())
    random = np.random.default_rng(seed)
    scale = np.sqrt((relative @ relative) / random.chisquare(free, (DRAWS, 1)))
    drawn = mean * (1 + scale * random.standard_normal((DRAWS, mean.size)) / np.sqrt(size))
    at = _limit(drawn)
    ratio = drawn[:, -1] / drawn[np.arange(DRAWS), at]
    here = int(_limit(mean))
    return _of_draws(cores[here], np.array(cores)[at]), _of_draws(mean[-1] / mean[here], ratio)


def _limit(throughput: ArrayLike) -> np.ndarray:
    """Of each row the first that reaches all but the tolerance of the largest."""
    values = np.asarray(throughput, float)
    return np.asarray(np.argmax(values >= (1 - TOLERANCE) * values.max(axis=-1, keepdims=True), axis=-1))


def _of_draws(value: float, draws: np.ndarray) -> ParameterEstimate:
    low, high = np.quantile(
        draws, ((1 - LEVEL) / 2, (1 + LEVEL) / 2), method="inverted_cdf"
    )  # of whole numbers one of them
    return ParameterEstimate(float(value), float(low), float(high))


def cells(runs: Iterable[RunFolder]) -> list[Cell]:
    """Configurations of the valid runs."""
    seen: dict[str, list[tuple[str, RunFolder, tuple[float, float]]]] = {}
    for run in runs:
        if run.manifest["valid"]:
            key = repr(sorted(run.manifest["factors"].items()))
            seen.setdefault(key, []).append((run.path.name, run, _throughput_and_busy(run)))
    found = []
    for own in seen.values():
        values = np.array([pair for _, _, pair in sorted(own, key=lambda one: one[0])]).T
        found.append(Cell(own[0][1].manifest["factors"], *values))
    return found


def _throughput_and_busy(run: RunFolder) -> tuple[float, float]:
    frame = run.frame("metrics")
    assert frame is not None  # a valid run has them
    rows = frame.filter(pl.col("class") == "").select("metric", "station", "value").iter_rows()
    told = {(metric, station): value for metric, station, value in rows}
    return told["throughput", ""], told.get(("utilisation", "cpu"), np.nan)


def _curves(found: StudyFindings, sections: Sequence[str]) -> Iterator[tuple[str, dict[int, Cell]]]:
    """Of each combination of the other factors its cells by cores, at the users with which they complete most."""
    for section in sections:
        for name, own in _groups(cells(found.of(section)), (CORES, USERS)):
            curve: dict[int, Cell] = {}
            for cell in sorted(own, key=lambda cell: float(cell.throughput.mean())):
                curve[int(cell.factors[CORES])] = cell
            yield name or section, curve


def _groups(seen: Sequence[Cell], without: tuple[str, ...]) -> Iterator[tuple[str, list[Cell]]]:
    """Cells that differ only in these factors, named by what varies beside them."""
    varied = [
        k
        for k in (seen[0].factors if seen else ())
        if k not in without and len({repr(c.factors.get(k)) for c in seen}) > 1
    ]
    groups: dict[str, list[Cell]] = {}
    for cell in seen:
        groups.setdefault(", ".join(str(cell.factors[k]) for k in varied), []).append(cell)
    yield from groups.items()


def _sizes(curve: Mapping[int, Cell]) -> tuple[list[int], list[float]]:
    """Cores and throughput of each run."""
    pairs = [(n, float(x)) for n in sorted(curve) for x in curve[n].throughput]
    return [n for n, _ in pairs], [x for _, x in pairs]


def _drawn(name: str, curve: Mapping[int, Cell]) -> Series:
    cores = sorted(curve)
    means = [estimate(curve[n].throughput, LEVEL) for n in cores]
    return Series(name, cores, [e.value for e in means], [e.low for e in means], [e.high for e in means], "points")


def _ends(e: ParameterEstimate) -> tuple[float, float, float]:
    return e.value, e.low, e.high


def _whole(e: ParameterEstimate) -> str:
    return f"{e.value:.0f}" if e.low == e.high else f"{e.value:.0f} ({e.low:.0f} to {e.high:.0f})"
