"""`paired`: two values of a factor, run alternately: which is faster, which scatters more, and what the topology probe explains of it.

Options: `section`, `factor`, and `values`: the two, where the section has more; `busy`: resources whose utilisation is told beside.
Runs that differ in nothing else and have the same number of repetition are a pair; the order of a study spreads repetitions over its
time, so they are near each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sojourn.design.analyse.paired import PairedComparison, TestedEstimate, compare_pairs
from sojourn.errors import DesignError, StudyError
from sojourn.file_errors import meant
from sojourn.report import Section, Table
from sojourn.runs.run_folder import RunFolder
from sojourn.study.analysis import Analysis, RecoveredParameter
from sojourn.study.known_values import against_truth
from sojourn.study.probed_runs import TOPOLOGY_PROBE
from sojourn.units import USUAL_LEVEL, percent

if TYPE_CHECKING:
    from sojourn.study.checked_study import CheckedStudy
    from sojourn.study.study_findings import StudyFindings

METRICS = ("throughput", "response_time")
OPTIONS = {"section", "factor", "values", "busy"}
PLACE = "[[analysis]] paired"
COLUMNS = (
    "metric",
    "pairs",
    "ratio",
    "low",
    "high",
    "p",
    "spread of first",
    "of second",
    "p of spread",
    "pairs needed",
)
FORMATS = ("", "", ".3f", ".3f", ".3f", ".2g", ".1%", ".1%", ".2g", "")
CLEAR = 0.05

Pair = tuple[RunFolder, RunFolder]


def paired_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """A line and a table for each metric.

    Raises:
        StudyError: an option that is missing, unknown, or names what is not there; not two values.
    """
    section, factor = options.get("section"), options.get("factor")
    if set(options) - OPTIONS or not isinstance(section, str) or not isinstance(factor, str):
        raise StudyError(
            f"options {dict(options)}", PLACE, "give section, factor, and values where there are more than two"
        )
    if factor not in plan.system.factors:
        raise StudyError(f"factor {factor!r}", PLACE, meant(factor, plan.system.factors))
    runs = found.of(section)
    if not runs:
        return Analysis()
    values = _two(runs, factor, options.get("values"))
    pairs = run_pairs(runs, factor, values)
    lines, rows, known, warn = [], [], [], False
    for metric in METRICS:
        try:
            told = compare_pairs(*_values(pairs, metric), _probes(pairs))
        except DesignError as error:
            lines.append(f"{section}, {metric}: not compared, {error.value}: {error.remedy}")
            warn = True
            continue
        rows.append(_row(metric, told))
        what = f"{values[1]} against {values[0]}"
        lines += list(_lines(f"{factor} {what}", metric, told))
        truths = [plan.system.known(run.manifest["factors"]).get(metric) for run in pairs[0]]
        if truths[0] and truths[1]:
            known.append(
                RecoveredParameter(
                    section, what, truths[1] / truths[0], told.ratio.value, told.ratio.low, told.ratio.high
                )
            )
    lines += [_busy(pairs, values, name) for name in options.get("busy", ()) if pairs]
    note = f"Ratio of second to first, in pairs, with {percent(USUAL_LEVEL, 0)} intervals."
    note += " Pairs needed: to detect a difference in spread as large as the observed one."
    title = f"{factor} = {values[0]} (first) and {values[1]} (second)"
    tables = (Table(title, COLUMNS, tuple(rows), note, FORMATS), *against_truth(known))
    return Analysis(tuple(lines), (Section(f"In pairs: {section}", "", tables),), warn, parameters=tuple(known))


def run_pairs(runs: list[RunFolder], factor: str, values: tuple[Any, Any]) -> list[Pair]:
    """Valid runs with the first and with the second value that differ in nothing else."""
    sides: list[dict[str, RunFolder]] = [{}, {}]
    for run in runs:
        own = run.manifest["factors"]
        if run.manifest["valid"] and own.get(factor) in values:
            rest = {name: value for name, value in own.items() if name != factor}
            key = f"{sorted(rest.items())} {run.manifest.get('repetition', 1)}"
            sides[values.index(own[factor])][key] = run
    return [(sides[0][key], sides[1][key]) for key in sides[0] if key in sides[1]]


def _two(runs: list[RunFolder], factor: str, asked: Any) -> tuple[Any, Any]:
    there = list(dict.fromkeys(run.manifest["factors"].get(factor) for run in runs))
    values = there if asked is None else asked
    if not isinstance(values, list) or len(values) != 2 or set(map(repr, values)) - set(map(repr, there)):
        raise StudyError(f"values {values!r} of {factor}", PLACE, f"give two of {', '.join(map(repr, there))}")
    first, second = sorted(values, key=repr) if asked is None else values
    return first, second


def _values(pairs: list[Pair], metric: str) -> tuple[list[float], list[float]]:
    told = [[run.metrics().value(metric) for run in pair] for pair in pairs]
    return [one for one, _ in told], [other for _, other in told]


def _busy(pairs: list[Pair], values: tuple[Any, Any], station: str) -> str:
    told = [[run.metrics().value("utilisation", station) for run in pair] for pair in pairs]
    first, second = (fmean(one) for one in zip(*told, strict=True))
    return f"  {station} {first:.1%} busy with {values[0]}, {second:.1%} with {values[1]}"


def _probes(pairs: list[Pair]) -> tuple[list[float], list[float]] | None:
    """Time of a cache line between cores before each run; None where it was not measured before all of them."""
    told = [[(run.manifest.get(TOPOLOGY_PROBE) or {}).get("transfer_s", 0.0) or 0.0 for run in pair] for pair in pairs]
    if not told or not all(one and other for one, other in told):
        return None
    return [one for one, _ in told], [other for _, other in told]


def _row(metric: str, c: PairedComparison) -> tuple[Any, ...]:
    r = c.ratio
    return (metric.replace("_", " "), c.pairs, r.value, r.low, r.high, r.p, *c.spreads, c.spread_p, c.spread_pairs)


def _lines(what: str, metric: str, c: PairedComparison) -> Iterator[str]:
    name = metric.replace("_", " ")
    yield f"{what}: {name} {_told(c.ratio)}, {c.pairs} pairs"
    needed = "" if c.spread_pairs is None or c.spread_p < CLEAR else f"; {c.spread_pairs} pairs would separate them"
    yield f"  from run to run {c.spreads[0]:.1%} and {c.spreads[1]:.1%} (p = {c.spread_p:.2g}{needed})"
    if c.exponent is not None and c.adjusted is not None:
        e = c.exponent
        seen = "changes it" if e.p < CLEAR else "shows no effect"
        yield (
            f"  the distance of the cores {seen} (power {e.value:.3f} [{e.low:.3f}, {e.high:.3f}], p = {e.p:.2g}); at an equal "
            f"distance {_told(c.adjusted)}"
        )


def _told(e: TestedEstimate) -> str:
    return f"{e.value:.3f} times [{e.low:.3f}, {e.high:.3f}], p = {e.p:.2g}"
