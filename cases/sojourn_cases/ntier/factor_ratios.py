"""`ntier.ratios`: how many times the throughput and the busy share of the cores is with one value of a factor what it is with another.

Options: `section` and `factor`. Values are put in order of their mean throughput, and each is compared with the one before it, as the
second source document does with three hypervisors that handle writes in three ways (its section V). Repetitions are pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sojourn.design import TestedEstimate, ratio_of_pairs
from sojourn.errors import StudyError
from sojourn.file_errors import meant
from sojourn.report import Cell, Figure, Section, Series, Table
from sojourn.study import Analysis
from sojourn.units import USUAL_LEVEL, percent, quantity
from sojourn_cases.ntier.tier_demands import TierDemands, tier_demands

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

PLACE = "[[analysis]] ntier.ratios"
ByRepetition = dict[int, TierDemands]


def ratios_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """A line and a row for each pair of neighbours, and their throughputs as bars.

    Raises:
        StudyError: an option that is missing, unknown, or no factor.
    """
    if set(options) != {"section", "factor"}:
        raise StudyError(f"options {dict(options)}", PLACE, "give section and factor")
    section, factor = str(options["section"]), str(options["factor"])
    if factor not in plan.system.factors:
        raise StudyError(f"factor {factor!r}", PLACE, meant(factor, plan.system.factors))
    by_value: dict[str, ByRepetition] = {}
    for run in found.of(section):
        if run.manifest["valid"]:
            own = by_value.setdefault(str(run.manifest["factors"][factor]), {})
            own[int(run.manifest.get("repetition", 1))] = tier_demands(run)
    ordered = sorted(by_value, key=lambda value: fmean(one.per_s for one in by_value[value].values()))
    if len(ordered) < 2:
        return Analysis()
    lines, rows = list[str](), list[tuple[Cell, ...]]()
    for lower, higher in pairwise(ordered):
        throughput, busy = _ratios(by_value[lower], by_value[higher])
        if throughput is None or busy is None:
            continue
        what = f"{factor} {higher} against {lower}"
        lines.append(f"{section}, {what}: throughput {_times(throughput)}, busy share of the cores {_times(busy)}")
        rows.append((what, *_three(throughput), *_three(busy)))
    note = f"{percent(USUAL_LEVEL, 0)} intervals over the repetitions, in pairs; none of one repetition."
    columns = ("", "throughput", "low", "high", "busy share", "low ", "high ")
    table = Table(f"{section}: ratios by {factor}", columns, tuple(rows), note, ("", *[".3f"] * 6))
    return Analysis(
        tuple(lines), (Section(f"Ratios: {section}", "", (_bars(section, factor, ordered, by_value), table)),)
    )


def _ratios(lower: ByRepetition, higher: ByRepetition) -> tuple[TestedEstimate | None, TestedEstimate | None]:
    both = sorted(set(lower) & set(higher))
    if not both:
        return None, None
    pairs = [(lower[k], higher[k]) for k in both]
    return (
        ratio_of_pairs([a.per_s for a, _ in pairs], [b.per_s for _, b in pairs]),
        ratio_of_pairs([a.utilisation for a, _ in pairs], [b.utilisation for _, b in pairs]),
    )


def _bars(section: str, factor: str, ordered: Sequence[str], by_value: Mapping[str, ByRepetition]) -> Figure:
    """Throughput with each value, with the smallest and the largest of the repetitions."""
    each = [[one.per_s for one in by_value[value].values()] for value in ordered]
    y, low, high = ([pick(values) for values in each] for pick in (fmean, min, max))
    title = f"{section}: throughput by {factor}"
    bars = Series("throughput", range(1, len(ordered) + 1), y, low, high, "bars")
    note = f"Means of the valid runs, with the smallest and the largest; the highest is {quantity(y[-1], '1/s')}."
    return Figure(f"ratios-{section}", title, factor, "1/s", (bars,), note, x_names=tuple(ordered))


def _three(one: TestedEstimate) -> tuple[float | None, float | None, float | None]:
    return (one.value, one.low, one.high) if one.low <= one.high else (one.value, None, None)


def _times(one: TestedEstimate) -> str:
    _, low, high = _three(one)
    return f"{one.value:.2f} times" + ("" if low is None else f" ({low:.2f} to {high:.2f})")
