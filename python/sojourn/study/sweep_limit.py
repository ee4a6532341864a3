"""`limit`: along a factor, where throughput stops growing, with an interval, and with the known value where the system has one.

Options: `sections`; `along`: the factor, by default `cores`. The limit is the least value that reaches all but `TOLERANCE` of the most
that any value does. Its interval, and that of the throughput at the largest value over it, come from draws of the mean throughputs, whose
relative errors are taken as alike all along (a normal over a chi-square draw; S. Weerahandi, Generalized confidence intervals, J. Amer.
Statist. Assoc. 88 (1993), pp. 899-905). By which law it grows model files tell, as rivals under `[fit]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sojourn.errors import StudyError
from sojourn.file_errors import meant
from sojourn.report import Figure, Section, Series, Table
from sojourn.runs.run_folder import RunFolder
from sojourn.study.analysis import Analysis, RecoveredParameter
from sojourn.study.known_values import MOST, THROUGHPUT, against_truth
from sojourn.study.mean_of_runs import ParameterEstimate, mean_with_interval
from sojourn.units import USUAL_LEVEL, percent

if TYPE_CHECKING:
    from sojourn.study.checked_study import CheckedStudy
    from sojourn.study.study_findings import StudyFindings

CORES, USERS = "cores", "users"
DRAWS = 4000
TOLERANCE = 0.05  # of the maximum: less does not pay for a core
PLACE = "[[analysis]] limit"

Cell = tuple[Mapping[str, Any], np.ndarray]  # factors of a configuration, throughputs of its runs, 1/s
Curve = dict[float, Cell]


def limit_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Of each combination of the other factors.

    Raises:
        StudyError: an option that is missing, unknown, or names what is not there; the runs were not repeated.
    """
    along, names = options.get("along", CORES), [part.name for part in plan.study.section]
    if set(options) - {"sections", "along"} or not isinstance(options.get("sections"), list):
        raise StudyError(f"options {dict(options)}", PLACE, "give sections, and along where it is not cores")
    if along not in plan.system.factors:
        raise StudyError(f"along = {along!r}", PLACE, meant(along, plan.system.factors))
    if missing := [name for name in options["sections"] if name not in names]:
        raise StudyError(f"sections: {missing[0]!r}", PLACE, meant(missing[0], names))
    rows, lines, drawn = [], [], []
    known: list[RecoveredParameter] = []
    for name, curve in _curves(found, options["sections"], along):
        limit, ratio = limit_of({value: x for value, (_, x) in curve.items()}, plan.seed)
        values, at_limit = sorted(curve), curve[limit.value][1]
        lines.append(
            f"{name}: throughput grows up to {_whole(limit)} {along}; with {values[-1]:g} it is {percent(ratio.value - 1, sign=True)} "
            f"({percent(ratio.low - 1, sign=True)} to {percent(ratio.high - 1, sign=True)}) relative to that"
        )
        rows.append((name, _whole(limit), float(at_limit.mean()), *ratio))
        drawn.append(_drawn(name, curve))
        known += _known(name, [plan.system.known(curve[value][0]) for value in values], values, limit, ratio)
    if not rows:
        return Analysis()
    columns = ("", f"limit, {along}", "throughput there, 1/s", f"ratio at the largest {along}", "low", "high")
    lead = f"The limit: the smallest {along} that reach the maximum within {TOLERANCE:.0%}; intervals at {USUAL_LEVEL:.0%}."
    table = Table("", columns, tuple(rows), formats=("", "", ".0f", ".3f", ".3f", ".3f"))
    figure = Figure(f"limit-{along}", f"Throughput by {along}", along, "1/s", tuple(drawn))
    section = Section(f"Limits by {along}", lead, (table, figure, *against_truth(known)))
    return Analysis(tuple(lines), (section,), parameters=tuple(known))


def _known(
    name: str,
    truths: Sequence[Mapping[str, float]],
    values: Sequence[float],
    limit: ParameterEstimate,
    ratio: ParameterEstimate,
) -> Iterator[RecoveredParameter]:
    if not all(MOST in one for one in truths):
        return
    here = int(_limit([one[MOST] for one in truths]))
    yield RecoveredParameter(name, "limit", values[here], *limit)
    if all(THROUGHPUT in one for one in truths):
        yield RecoveredParameter(name, "most over limit", truths[-1][THROUGHPUT] / truths[here][THROUGHPUT], *ratio)


def limit_of(curve: Mapping[float, np.ndarray], seed: int = 1) -> tuple[ParameterEstimate, ParameterEstimate]:
    """The limit, and the throughput at the largest value over that at the limit, of throughputs by value, one or more of each.
    The spread of runs is one share of the mean for all values: a value with a single valid run takes that of the others."""
    values = sorted(curve)
    samples = [curve[value] for value in values]
    mean, size = np.array([one.mean() for one in samples]), np.array([one.size for one in samples])
    relative = np.concatenate([one / one.mean() - 1 for one in samples])
    if (free := int((size - 1).sum())) < 1:
        raise StudyError("the runs were not repeated", PLACE, "give repetitions = 2 or more")
    random = np.random.default_rng(seed)
    scale = np.sqrt((relative @ relative) / random.chisquare(free, (DRAWS, 1)))
    drawn = mean * (1 + scale * random.standard_normal((DRAWS, mean.size)) / np.sqrt(size))
    at = _limit(drawn)
    ratio = drawn[:, -1] / drawn[np.arange(DRAWS), at]
    here = int(_limit(mean))
    return _of_draws(values[here], np.array(values)[at]), _of_draws(mean[-1] / mean[here], ratio)


def _limit(throughput: ArrayLike) -> np.ndarray:
    """Of each row the first that reaches all but the tolerance of the largest."""
    values = np.asarray(throughput, float)
    return np.asarray(np.argmax(values >= (1 - TOLERANCE) * values.max(axis=-1, keepdims=True), axis=-1))


def _of_draws(value: float, draws: np.ndarray) -> ParameterEstimate:
    low, high = np.quantile(
        draws, ((1 - USUAL_LEVEL) / 2, (1 + USUAL_LEVEL) / 2), method="inverted_cdf"
    )  # of whole numbers one of them
    return ParameterEstimate(float(value), float(low), float(high))


def _cells(runs: Iterable[RunFolder]) -> list[Cell]:
    """Configurations of the valid runs."""
    seen: dict[str, list[RunFolder]] = {}
    for run in runs:
        if run.manifest["valid"]:
            seen.setdefault(repr(sorted(run.manifest["factors"].items())), []).append(run)
    return [
        (
            own[0].manifest["factors"],
            np.array([one.metrics().value("throughput") for one in own]),
        )
        for own in seen.values()
    ]


def _curves(found: StudyFindings, sections: Sequence[str], along: str) -> Iterator[tuple[str, Curve]]:
    """Of each combination of the other factors its cells by value, at the users with which they complete most."""
    for section in sections:
        for name, own in _groups(_cells(found.of(section)), (along, USERS)):
            yield (
                name or section,
                {cell[0][along]: cell for cell in sorted(own, key=lambda cell: float(cell[1].mean()))},
            )


def _groups(seen: Sequence[Cell], without: tuple[str, ...]) -> Iterator[tuple[str, list[Cell]]]:
    """Cells that differ only in these factors, named by what varies beside them."""
    names = [name for name in (seen[0][0] if seen else ()) if name not in without]
    varied = [name for name in names if len({repr(factors.get(name)) for factors, _ in seen}) > 1]
    groups: dict[str, list[Cell]] = {}
    for cell in seen:
        groups.setdefault(", ".join(str(cell[0][name]) for name in varied), []).append(cell)
    yield from groups.items()


def _drawn(name: str, curve: Curve) -> Series:
    means = [mean_with_interval(curve[value][1], USUAL_LEVEL) for value in sorted(curve)]
    ends = [e.low for e in means], [e.high for e in means]
    return Series(name, sorted(curve), [e.value for e in means], *ends, "points")


def _whole(e: ParameterEstimate) -> str:
    return f"{e.value:g}" if e.low == e.high else f"{e.value:g} ({e.low:g} to {e.high:g})"
