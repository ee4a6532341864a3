"""`ntier.misses`: misses of the last-level cache, by the number of cores and on each core, and what a mapping of the cores changes.

Options: `section`, whose runs vary the cores; `mapping`, whose runs vary `factor` over `values`: the one with fewer misses first. Of runs
that counted misses (`cache_miss_rate`), on this machine or simulated. Those of `mapping` that differ in nothing else and have the same
number of repetition are a pair. A core that waits for memory is busy: what a miss costs is by how much the CPU time of a request grows
with its misses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sojourn.design import TestedEstimate, ratio_of_pairs
from sojourn.errors import StudyError
from sojourn.file_errors import meant
from sojourn.report import Block, Figure, Section, Series, Table
from sojourn.runs import RunFolder
from sojourn.study import Analysis, mean_with_interval
from sojourn.units import USUAL_LEVEL, percent, seconds
from sojourn_cases.ntier.tier_demands import CLIENT, TierDemands, tier_demands

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

OPTIONS = {"section", "mapping", "factor", "values"}
PLACE = "[[analysis]] ntier.misses"
COMPARED = ((4, 5), (5, 8))  # numbers of cores whose cores stand beside each other, as in Figure 5 of the document
UNIT = "million misses per second"
NOTE = "Runs with the most users: means of the repetitions, with the smallest and the largest."


@dataclass(frozen=True)
class RunWithMisses:
    """`missed`: core → misses of its last-level cache, 1/s."""

    run: RunFolder
    missed: Mapping[int, float]
    demands: TierDemands

    @property
    def all_missed(self) -> float:
        return sum(self.missed.values())

    @property
    def by_request(self) -> float:
        return self.all_missed / self.demands.per_s

    @property
    def cpu_s(self) -> float:
        """Of a request, on the cores of the tiers."""
        return sum(value for name, value in self.demands.demands_s.items() if name != CLIENT)


Pair = tuple[RunWithMisses, RunWithMisses]


def misses_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Figures by the number of cores and by core, and a table and lines of the mapping.

    Raises:
        StudyError: an option that is missing, unknown, or names no factor.
    """
    if set(options) != OPTIONS or not isinstance(options["values"], list) or len(options["values"]) != 2:
        raise StudyError(f"options {dict(options)}", PLACE, "give section, mapping, factor and two values")
    factor = str(options["factor"])
    if factor not in plan.system.factors:
        raise StudyError(f"factor {factor!r}", PLACE, meant(factor, plan.system.factors))
    grown, mapped = (counted_runs(found.of(str(options[name]))) for name in ("section", "mapping"))
    lines, blocks = list[str](), list[Block](by_cores(grown))
    if pairs := _pairs(mapped, factor, options["values"]):
        what = f"{factor} {options['values'][1]} against {options['values'][0]}"
        ratios = mapping_ratios(pairs)
        blocks.append(_table(what, ratios, len(pairs)))
        lines += _lines(what, ratios, pairs)
    if not blocks:
        return Analysis(("misses of the last-level cache were not counted: this machine lends no counter of them",))
    return Analysis(tuple(lines), (Section("Cache misses", "", tuple(blocks)),))


def counted_runs(runs: Sequence[RunFolder]) -> list[RunWithMisses]:
    """The valid ones that have counted misses."""
    return [
        RunWithMisses(run, missed, tier_demands(run))
        for run in runs
        if run.manifest["valid"] and (missed := _missed(run))
    ]


def _missed(run: RunFolder) -> dict[int, float]:
    metrics = run.frame("metrics")
    if metrics is None:
        return {}
    rows = metrics.filter(pl.col("metric") == "cache_miss_rate").select("station", "value").iter_rows()
    return {int(station.removeprefix("core ")): value for station, value in rows}


def by_cores(runs: Sequence[RunWithMisses]) -> Iterator[Figure]:
    """All misses by the number of cores; those of each core where `COMPARED` were run."""
    most = max((one.run.manifest["factors"]["users"] for one in runs), default=0)
    of: dict[int, list[RunWithMisses]] = {}
    for one in runs:
        if one.run.manifest["factors"]["users"] == most:
            of.setdefault(int(one.run.manifest["factors"]["cores"]), []).append(one)
    if len(of) < 2:
        return
    cores = sorted(of)
    sums = [[1e-6 * one.all_missed for one in of[n]] for n in cores]
    y, low, high = ([pick(values) for values in sums] for pick in (fmean, min, max))
    whole = Series("all cores", range(1, len(cores) + 1), y, low, high, "bars")
    title, names = "Misses of the last-level cache by the number of cores", tuple(str(n) for n in cores)
    yield Figure("misses-by-cores", title, "cores", UNIT, (whole,), NOTE, x_names=names)
    for few, many in COMPARED:
        if few in of and many in of:
            yield _of_each_core(few, many, of)


def _of_each_core(few: int, many: int, of: Mapping[int, Sequence[RunWithMisses]]) -> Figure:
    numbers = sorted({core for n in (few, many) for one in of[n] for core in one.missed})
    series = tuple(
        Series(
            f"{n} cores", range(1, len(numbers) + 1),
            [1e-6 * fmean(one.missed.get(core, 0.0) for one in of[n]) for core in numbers], style="bars",
        )
        for n in (few, many)
    )  # fmt: skip
    title, names = f"Misses of each core: {few} and {many} cores", tuple(f"core {core}" for core in numbers)
    return Figure(f"misses-{few}-{many}", title, "core", UNIT, series, NOTE, x_names=names)


def _pairs(runs: Sequence[RunWithMisses], factor: str, values: Sequence[Any]) -> list[Pair]:
    """Runs that differ in the factor alone, of the first value and of the second."""
    by_value: list[dict[str, RunWithMisses]] = [{}, {}]
    for one in runs:
        factors = dict(one.run.manifest["factors"])
        value = factors.pop(factor)
        if value in values:
            by_value[values.index(value)][f"{factors} {one.run.manifest.get('repetition', 1)}"] = one
    return [(by_value[0][key], by_value[1][key]) for key in by_value[0] if key in by_value[1]]


def mapping_ratios(pairs: Sequence[Pair]) -> dict[str, TestedEstimate]:
    """How many times the second has what the first has: throughput, busy cores, misses of all and of each core that all runs used."""
    cores = sorted(set.intersection(*(set(one.missed) for pair in pairs for one in pair)))
    what: dict[str, Callable[[RunWithMisses], float]] = {
        "throughput": lambda one: one.demands.per_s,
        "busy share of the cores": lambda one: one.demands.utilisation,
        "misses": lambda one: one.all_missed,
        "misses of a request": lambda one: one.by_request,
        **{f"misses of core {core}": _of_core(core) for core in cores},
    }
    return {
        name: ratio_of_pairs([of(first) for first, _ in pairs], [of(second) for _, second in pairs])
        for name, of in what.items()
    }


def _of_core(core: int) -> Callable[[RunWithMisses], float]:
    return lambda one: one.missed[core]


def _table(what: str, ratios: Mapping[str, TestedEstimate], pairs: int) -> Table:
    rows = tuple((name, one.value, *_ends(one)) for name, one in ratios.items())
    note = f"{percent(USUAL_LEVEL, 0)} intervals over {pairs} pairs of runs."
    return Table(f"{what}: ratios", ("", "ratio", "low", "high"), rows, note, ("", *[".3f"] * 3))


def _lines(what: str, ratios: Mapping[str, TestedEstimate], pairs: Sequence[Pair]) -> Iterator[str]:
    told = ("throughput", "busy share of the cores", "misses")
    yield f"{what}: {', '.join(f'{name} {_changed(ratios[name])}' for name in told)}"
    more = np.array([second.by_request - first.by_request for first, second in pairs])
    if len(pairs) > 1 and np.all(more != 0):
        cost = mean_with_interval(np.array([second.cpu_s - first.cpu_s for first, second in pairs]) / more)
        ends = f"{seconds(cost.low)} to {seconds(cost.high)}"
        yield f"CPU time of a request grows by {seconds(cost.value)} ({ends}) with each miss more"


def _ends(one: TestedEstimate) -> tuple[float | None, float | None]:
    return (one.low, one.high) if one.low <= one.high else (None, None)


def _changed(one: TestedEstimate) -> str:
    low, high = _ends(one)
    ends = "" if low is None or high is None else f" ({100 * (low - 1):+.1f} to {100 * (high - 1):+.1f})"
    return f"{100 * (one.value - 1):+.1f} %{ends}"
