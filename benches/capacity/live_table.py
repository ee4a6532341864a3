"""The table of `live.py`, and how many of the answers hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import stats
from truth import LEVEL  # type: ignore[import-not-found]


def is_answer(low: float | None, high: float | None) -> bool:
    """An interval that begins at 0 says nothing."""
    return low is not None and high is not None and low > 0


def summary(file: Path) -> str:
    """A row a service, those that failed, gave no answer or are outside first, and what is asked of all."""
    every = pl.read_csv(file, infer_schema_length=None).to_dicts()
    rows = list({one["service"]: one for one in every}.values())  # the last of each
    lines = [
        "| service | beside | objective | truth | told | half-width | inside | highest rate | runs | took |",
        "|---|" + "---|" * 9,
    ]
    for one in rows:
        one["failed"] = one.get("failed")  # rows of before that was written
        one["answered"] = not one["failed"] and one["answered"] and is_answer(one["low"], one["high"])
    first = lambda one: (not one["failed"], one["answered"], one["inside"] is not False, one["inside"] is not None)  # noqa: E731
    lines += [_line(one) for one in sorted(rows, key=first)]
    failed = [one for one in rows if one["failed"]]
    good = [one for one in rows if one["answered"]]
    unanswered = [one for one in rows if not one["failed"] and not one["answered"]]
    judged = [one for one in good if one["inside"] is not None]
    missed = [one for one in unanswered if one["truth"]]
    lines.append(
        f"\n{len(rows)} asked, {len(failed)} failed, {len(unanswered)} not answered, {len(judged)} judged, "
        f"{len(good) - len(judged)} not judged (the truth is not known)"
    )
    again = sorted({one["service"] for one in every if one.get("failed")} - {one["service"] for one in failed})
    if again:
        lines.append(f"failed before, and tried again: {', '.join(again)}")
    inside, touched, agreed = (sum(bool(one.get(name)) for one in judged) for name in ("inside", "touches", "agrees"))
    agrees = f"agrees in {agreed}, " if any(one.get("agrees") is not None for one in judged) else ""
    lines += [
        f"truth inside in {_of(inside, len(judged))} of those judged; {agrees}touched in {touched}",
        f"with the {len(missed)} that were not answered and whose truth is known as misses: {_of(inside, len(judged) + len(missed))}",
    ]
    if good:
        lines.append(f"half-width {np.median([one['half_width'] for one in good]):.1%} (median)")
    if rest := [one for one in rows if not one["failed"]]:
        lines.append(
            f"at most {max(one['took_s'] for one in rest):.0f} s and {max(one['runs'] for one in rest)} runs; highest rate "
            f"{max(one['most'] for one in rest):.2f} of saturation"
        )
    return "\n".join(lines)


def _line(one: dict[str, Any]) -> str:
    if one["failed"]:
        return f"| {one['service']} | {'yes' if one['beside'] else 'no'} | | | failed: {one['failed']} | | | | | |"
    truth = f"{one['truth']:.4g} ± {one['truth_error']:.1%}" if one["truth"] else "not known"
    told = f"{one['value']:.4g} ({one['low']:.4g} to {one['high']:.4g})" if one["answered"] else "no answer"
    inside = {True: "yes", False: "no, touches" if one["touches"] else "no", None: "not judged"}[one["inside"]]
    width = f"{one['half_width']:.1%}" if one["answered"] else ""
    return (
        f"| {one['service']} | {'yes' if one['beside'] else 'no'} | {one['objective']} | {truth} | {told} | {width} | "
        f"{inside if one['answered'] else 'not answered'} | {one['most']:.2f} | {one['runs']} | {one['took_s']:.0f} s |"
    )


def _of(inside: int, count: int) -> str:
    if not count:
        return "0 of 0"
    level = stats.binomtest(inside, count).proportion_ci(LEVEL, "wilson")
    return f"{inside} of {count} ({level.low:.0%} to {level.high:.0%} by Wilson, {LEVEL:.0%})"
