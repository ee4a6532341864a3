"""`compare`: runs of B beside runs of A, metric by metric, with a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from sojourn.compare.comparison import (
    BETTER,
    CANNOT_TELL,
    EQUIVALENT,
    WORSE,
    Comparison,
    MetricComparison,
    overall,
)
from sojourn.compare.log_ratio import LogRatio
from sojourn.compare.matched_runs import MatchedRuns, match
from sojourn.compare.run_values import MORE_IS_BETTER, UNITS, RunValues, read_runs
from sojourn.errors import InputError
from sojourn.former_keyword import former_keyword
from sojourn.runs.run_folder import RunFolder
from sojourn.units import USUAL_LEVEL, percent

Sources = Path | str | RunFolder | Sequence[Path | str | RunFolder]
ORDER = ("mean", "time", "p50", "p90", "p99", "throughput", "demand", "cpu")


@former_keyword(margin="equivalence_margin")
def compare(
    a: Sources, b: Sources, *, metrics: Sequence[str] = (), equivalence_margin: float = 0.05, level: float = USUAL_LEVEL,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:  # fmt: skip
    """Run folders of B beside run folders of A: better, worse, equivalent, or cannot tell.

    Args:
        a, b: run folders, folders that hold them, or lists of these.
        metrics: those that the verdict is about [`mean`]: `mean`, `p50`, `p90`, `p99`, `throughput`, `demand` ….
        equivalence_margin: relative difference that does not matter, above 0 and below 1. level: of the intervals, in (0, 1).
        names: what the two are called.

    Raises:
        InputError: a metric that these runs do not have, a value out of range, no load and no factors in common. RunFolderError: no run.
        LoadError, ServiceError: no valid run on one side; all of them failed.
    """
    given = [[one] if isinstance(one, Path | str | RunFolder) else list(one) for one in (a, b)]
    check_apart(*given)
    sides = [read_runs(one) for one in given]
    return compare_values(
        sides[0], sides[1], metrics=metrics, equivalence_margin=equivalence_margin, level=level, names=names
    )


def compare_values(
    a: Sequence[RunValues], b: Sequence[RunValues], *, metrics: Sequence[str] = (), equivalence_margin: float = 0.05,
    level: float = USUAL_LEVEL, names: tuple[str, str] = ("A", "B"), notes: Sequence[str] = (),
) -> Comparison:  # fmt: skip
    """The same for what runs of any kind said; without `metrics` the verdict is about the first of mean and time that both have."""
    check_range(equivalence_margin, level)
    runs = match(a, b, names)
    there = sorted(runs.metrics, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    asked = list(dict.fromkeys(metrics)) or there[:1]
    for name in asked:
        if name not in there:
            raise InputError(
                f"metric {name!r}", "--metric", f"use one that all runs have: {', '.join(there) or 'there is none'}"
            )
    if not asked:
        raise InputError("no metric that all runs have", "compare", "give runs that have finished requests")
    own_level = own(level, asked)
    found = tuple(
        _judged(name, runs, equivalence_margin, own_level if name in asked else level, name in asked) for name in there
    )
    verdict = overall({one.metric: one.verdict for one in found if one.part_of_verdict})
    few = few_runs(runs.ratio(asked[0]), own_level)
    by_exchange = [
        said
        for one in found
        if one.part_of_verdict
        and not one.equivalent
        and (said := exchanged(one.metric, runs.ratio(one.metric), own_level))
    ]
    return Comparison(
        names, verdict, found, equivalence_margin, level, runs.design, runs.counts, runs.compared,
        (*([few] if few else ()), *by_exchange, *notes, *runs.notes),
        runs.more_of(names),
    )  # fmt: skip


def own(level: float, metrics: Sequence[str]) -> float:
    """Of each of several metrics, so that all of them hold at `level` (C. E. Bonferroni, 1936)."""
    return 1 - (1 - level) / max(len(metrics), 1)


def few_runs(ratio: LogRatio, level: float) -> str:
    """Why runs are too few for a claim at `level`, in words; empty where they are enough."""
    if ratio.enough(level):
        return ""
    what = "runs of each side" if ratio.sizes else "pairs"
    where = " in each condition" if len(ratio.sizes) > 1 else ""
    return (
        f"too few for a verdict at a level of {percent(level)}, however large the difference: "
        f"at least {ratio.fewest(level)} {what}{where} are needed; "
        f"with these, one side is ahead throughout by chance in {percent(2 / ratio.exchanges, 0)} of comparisons"
    )


def exchanged(metric: str, ratio: LogRatio, level: float) -> str:
    """Why an interval that excludes 0 is no claim, in words; empty where it is one, or does not."""
    if not ratio.outside(level) or ratio.differs(level):
        return ""
    return (
        f"{metric}: no claim, though the interval excludes 0: were A and B drawn by lot, these runs would be as far apart in "
        f"{percent(ratio.chance(level))} of the ways, and at a level of {percent(level)} in {percent(1 - level)} at most"
    )


def check_apart(a: Sequence[Path | str | RunFolder], b: Sequence[Path | str | RunFolder]) -> None:
    """Raises InputError for a folder on both sides: a run beside itself is always alike."""
    sides = [{(one.path if isinstance(one, RunFolder) else Path(one)).resolve() for one in side} for side in (a, b)]
    if not all(one.exists() for side in sides for one in side):
        return  # which is said where they are read
    for one in sorted(sides[0]):
        if any(one == other or one in other.parents or other in one.parents for other in sides[1]):
            raise InputError(f"{one} on both sides", "compare", "give different runs as A and as B")


def check_metrics(metrics: Sequence[str], known: Sequence[str], begins: str = "") -> None:
    """Before anything is run: raises InputError for a metric that no such run has, by its name or by what it `begins` with."""
    for name in metrics:
        if name not in known and not (begins and name.startswith(begins)):
            raise InputError(f"metric {name!r}", "--metric", f"use one of {', '.join(known)}")


def check_blocks(blocks: int, metrics: Sequence[str], level: float) -> None:
    """Before anything is run: raises InputError for so few that no claim could come of them."""
    fewest = LogRatio(0.0, 0.0, 0.0, 0).fewest(own(level, list(dict.fromkeys(metrics))))
    if blocks < fewest:
        about = f" for {len(set(metrics))} metrics" if len(set(metrics)) > 1 else ""
        raise InputError(
            blocks,
            "--blocks",
            f"give at least {fewest}: fewer can show nothing at a level of {percent(level, 0)}{about}",
        )


def check_range(margin: float, level: float) -> None:
    """Raises InputError."""
    if not (0 < margin < 1):
        raise InputError(margin, "--equivalence-margin", "give a share between 0 and 1, like 5%")
    if not (0 < level < 1):
        raise InputError(level, "--level", "give a number between 0 and 1, like 0.9")


def _judged(name: str, runs: MatchedRuns, margin: float, level: float, asked: bool) -> MetricComparison:
    ratio = runs.ratio(name)
    differs, equivalent = ratio.differs(level), ratio.equivalent(margin, level)
    low, high = ratio.interval(level)
    verdict = _verdict(ratio, differs, equivalent, name in MORE_IS_BETTER)
    if any(lucky and verdict in (EQUIVALENT, good) for lucky, good in zip(runs.lucky, (WORSE, BETTER), strict=True)):
        verdict = CANNOT_TELL
    more: int | None = 0
    seen: int | None = None
    if verdict == CANNOT_TELL:
        needed = ratio.runs_needed(margin, level)
        if not ratio.known:
            needed = ratio.fewest(level)
        more = None if needed is None else max(needed - ratio.count, 1)
        if abs(ratio.difference) > math.log1p(margin) and (found := ratio.runs_needed_as_seen(level)) is not None:
            seen = max(found - ratio.count, 1)
    a, b = runs.means(name)
    return MetricComparison(
        name, UNITS.get(name, "s"), a, b, ratio.ratio - 1, low - 1 if ratio.known else None,
        high - 1 if ratio.known else None, level, differs, equivalent, verdict, asked, more, seen,
    )  # fmt: skip


def _verdict(ratio: LogRatio, differs: bool, equivalent: bool, more_is_better: bool) -> str:
    """A difference that is certain and does not matter is equivalent."""
    if equivalent:
        return EQUIVALENT
    if not differs:
        return CANNOT_TELL
    return BETTER if (ratio.difference > 0) == more_is_better else WORSE
