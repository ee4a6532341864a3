# ruff: noqa: E501 - sentences
"""Tables of docs/explain/accuracy.md, from what `coverage_counts` counted."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import polars as pl
from coverage_counts import WIDTHS, Coverage, all_rows, headline, middle, wilson
from coverage_text import by_fate, factors, of, percent, share, total, whole, wrapped

FURTHEST = 10  # predictions that the page names


def table(sets: Sequence[Coverage], first: Sequence[Coverage]) -> str:
    """`first`: of values that were measured first."""
    lines = [
        "| what was predicted | inside the 90 % interval | inside, counting all runs | median half-width, mean response time "
        "| error, mean response time: median, 90th percentile | median error, rate |",
        "|---|---|---|---|---|---|",
    ]
    for one in sets:
        median, tail = one.errors["response_time"]
        lines.append(
            f"| {_links(one)} | {of(one.inside, one.of)}{_refused(one.unanswered)} "
            f"| {'not known' if one.all_runs is None else '{} of {}'.format(*one.all_runs)} | {whole(one.half_width)} "
            f"| {percent(median)}, {'not recorded' if tail is None else whole(tail)} | {_rate(one)} |"
        )
    inside, count = total(sets)
    known = [one.all_runs for one in sets if one.all_runs is not None]
    all_inside, all_of = sum(one[0] for one in known), sum(one[1] for one in known)
    every = f"{all_inside} of {all_of} ({share(all_inside, all_of)}) in {len(known)} sets"
    lines.append(
        f"| **all** | **{inside} of {count} ({share(inside, count)})**{_refused(sum(o.unanswered for o in sets))} | {every} | | | |"
    )
    rows = pl.concat([one.rows for one in first]).filter(fate="measured first")
    told = rows.filter("answered")
    lines.append(
        f"| in no count above: saturation rates of the small services, measured first and withheld from the fit (last four rows); validity not checked "
        f"| {of(int(told['inside'].sum()), told.height)}{_refused(rows.height - told.height)} | | | | saturation {percent(middle(told['error']))} |"
    )
    return "\n".join(lines)


def _refused(count: int) -> str:
    return f", {count} more without an answer" if count else ""


def _links(one: Coverage) -> str:
    links = ", ".join(f"[{n}](../../benches/{name})" for n, name in enumerate(one.source.files, 1))
    return f"{one.source.what} ({links})"


def _rate(one: Coverage) -> str:
    for metric, name in (("saturation_rate", "saturation"), ("throughput", "throughput")):
        if metric in one.errors:
            return f"{name} {percent(one.errors[metric][0])}"
    return "–"


def left_out(sets: Sequence[Coverage]) -> str:
    names = {
        "valid": "valid | yes",
        "overloaded": "not steady, saturated, or against an operational law | yes: it is an outcome",
        "disturbed": "disturbed by other programs, or the generator was late | no",
        "unexplained": "not valid, and the reason was not recorded value by value | no",
    }
    lines = ["| run | counted | values | inside |", "|---|---|---|---|"]
    for fate, name in names.items():
        inside, count = by_fate(sets, fate)
        lines.append(f"| {name} | {count} | {inside}{f' ({whole(inside / count)})' if count else ''} |")
    return "\n".join(lines)


def widths(sets: Sequence[Coverage]) -> str:
    rows = headline(all_rows(sets))
    classes = [
        (f"upper end at most {most:g} times the lower end" if not least else f"{least:g} to {most:g} times" if most < inf else f"more than {least:g} times",
         rows.filter((pl.col("ratio") > least) & (pl.col("ratio") <= most) & (pl.col("ratio") < inf)))
        for least, most in WIDTHS
    ]  # fmt: skip
    classes.append(("no upper end, or a lower end of 0", rows.filter(pl.col("ratio") == inf)))
    lines = ["| width of the interval | inside | 90 % interval of the share |", "|---|---|---|"]
    for name, own in classes:
        inside = int(own["inside"].sum())
        low, high = wilson(inside, own.height)
        lines.append(f"| {name} | {of(inside, own.height)} | {whole(low)[:-2]} to {whole(high)} |")
    inside, count = total(sets)
    refused = sum(one.unanswered for one in sets)
    alone = sum(one.of for one in sets if not one.rows.height)
    both = f"{inside} of {count + refused} ({share(inside, count + refused)})"
    lines += ["", wrapped(
        f"The fit refused {refused} further values (*without an answer* in the first table). If these count as failures, {both} values are inside. "
        f"{alone} values are not in this table, because only their counts are recorded.",
    )]  # fmt: skip
    return "\n".join(lines)


def worst(sets: Sequence[Coverage]) -> str:
    """The response times that were furthest off, in either direction."""
    rows = factors(sets).with_columns(far=pl.col("factor").log().abs()).sort("far", descending=True).head(FURTHEST)
    lines = [
        "| response time of | set | predicted | measured | off by a factor of | inside |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows.iter_rows(named=True):
        times = " | ".join(f"{_ms(row[name])} ms" for name in ("predicted", "measured"))
        factor = max(row["factor"], 1 / row["factor"])
        lines.append(
            f"| {row['name']} | {row['model']} | {times} | {factor:.3g} | {'yes' if row['inside'] else 'no'} |"
        )
    return "\n".join(lines)


def _ms(time_s: float) -> str:
    return f"{1e3 * time_s:.0f}" if time_s >= 1 else f"{1e3 * time_s:.3g}"


def levels_table(levels: Sequence[tuple[float, int, int]]) -> str:
    head = ["| stated | inside |", "|---|---|"]
    return "\n".join([*head, *(f"| {100 * level:.0f} % | {of(n, count)} |" for level, n, count in levels)])
