# ruff: noqa: E501 - sentences
"""Sentences and tables about coverage, of README and docs/explain/accuracy.md, from what `coverage_counts` counted."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Sequence
from math import inf, isfinite

import polars as pl
from capacity_counts import CapacityCoverage
from coverage_counts import BENCHES, Coverage, all_rows, clustered, differ, headline, wilson

SINCE, NEWEST = "27 November, 05:20", "28 November, 00:57"
MISFIT = "the model does not fit"
BY_NEWEST = "web in a guest, present fit"
CAPACITY_SINCE = "27 November, 16:15"
CAPACITY_LIVE = "07:07 of that day"
WIDTH = 185  # of a line


def wrapped(*sentences: str) -> str:
    return textwrap.fill(" ".join(sentences), WIDTH, break_long_words=False, break_on_hyphens=False)


def total(sets: Iterable[Coverage]) -> tuple[int, int]:
    return sum(one.inside for one in sets), sum(one.of for one in sets)


def share(part: int, of: int) -> str:
    return percent(part / of)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if isfinite(share) else "infinite"


def whole(share: float) -> str:
    return f"{100 * share:.0f} %" if isfinite(share) else "infinite"


def of(part: int, count: int) -> str:
    """`25 of 26 (96 %)`."""
    return f"{part} of {count} ({100 * part / count:.0f} %)"


def by_fate(sets: Sequence[Coverage], fate: str) -> tuple[int, int]:
    """Inside and answered values, of all sets; where only counts are recorded, without a reason."""
    rows = all_rows(sets).filter(pl.col("answered") & (pl.col("fate") == fate))
    counts = {"valid": [(0, 0)], "unexplained": [(0, 0)]}
    for one in sets:
        if not one.rows.height:
            every = one.all_runs or (one.inside, one.of)
            counts["valid"].append((one.inside, one.of))
            counts["unexplained"].append((every[0] - one.inside, every[1] - one.of))
    more = counts.get(fate, [])
    return int(rows["inside"].sum()) + sum(n for n, _ in more), rows.height + sum(n for _, n in more)


def factors(sets: Sequence[Coverage]) -> pl.DataFrame:
    """Response times that count, the longest over the predicted one first."""
    rows = headline(all_rows(sets)).filter((pl.col("metric") == "response_time") & pl.col("predicted").is_not_null())
    return rows.with_columns(factor=pl.col("measured") / pl.col("predicted")).sort("factor", descending=True)


def readme(sets: Sequence[Coverage], simulated: CapacityCoverage, live: CapacityCoverage) -> str:
    """Of README."""
    inside, count = total(sets)
    shares = [one.share for one in sets]
    spread = clustered(sets)
    errors = [one.errors["response_time"] for one in sets]
    middles, tails = [first for first, _ in errors], [last for _, last in errors if last is not None]
    known = [tail for tail in tails if isfinite(tail)]
    widths = [one.half_width for one in sets]
    worst = factors(sets).row(0, named=True)
    disturbed, unexplained = by_fate(sets, "disturbed"), by_fate(sets, "unexplained")
    endless = headline(all_rows(sets)).filter(pl.col("ratio") == inf).height
    return wrapped(
        f"In each of {len(sets)} sets, predictions were compared with later measurements. Of the measured values of a set, "
        f"**{whole(min(shares))[:-2]} to {whole(max(shares))} lie in their 90 % intervals**. "
        f"Together these are {inside} of {count} values ({share(inside, count)}; "
        f"{percent(spread.low)[:-2]} to {percent(spread.high)} if the fits are resampled).",
        "Nearly all of these predictions were made by earlier versions, so this is no statement about the present version.",
        f"The median error of a predicted mean response time is {100 * min(middles):.0f} to {whole(max(middles))}, depending on the set. "
        f"One error in ten is larger than {100 * min(known):.0f} to {whole(max(known))}"
        + (f" (in {len(tails) - len(known)} sets it is infinite: the model wrongly predicted saturation)." if len(tails) > len(known) else "."),
        f"The half-width of a 90 % interval is {100 * min(widths):.0f} to {whole(max(widths))} of the prediction. "
        f"{endless} of the intervals have no upper end.",
        f"The worst miss is a run that was predicted to be steady and was overloaded: {1e3 * worst['predicted']:.2g} ms predicted, {worst['measured']:.1f} s measured.",
        f"Left out are {disturbed[1] + unexplained[1]} values of runs that other programs disturbed, or that are not valid for a reason that was not recorded "
        f"({disturbed[0] + unexplained[0]} lie inside).",
        "[How this was counted, and the misses](docs/explain/accuracy.md).",
    ) + "\n\n" + wrapped(
        f"On simulated services, the 90 % interval of `sojourn capacity` contained the true rate in {simulated.inside} of {simulated.of} searches. "
        f"Without its part for the speed of a machine, it is {simulated.alone} of {simulated.of} (version of {CAPACITY_SINCE}). "
        f"On live services whose true rate is known, the interval contained it in {live.inside} of {live.of} searches "
        f"([record](benches/capacity/README.md)). Those ran at {CAPACITY_LIVE}; the models that it tries have changed since.",
        "All numbers come from one virtual machine. On your machine, expect other errors: `sojourn validate` shows them.",
    )  # fmt: skip


def spread(sets: Sequence[Coverage]) -> str:
    inside, count = total(sets)
    shares, found = sorted(one.share for one in sets), clustered(sets)
    square, degrees, p = differ(sets)
    lowest = min(sets, key=lambda one: one.share)
    low, high = wilson(lowest.inside, lowest.of)
    more = "more than" if p < 0.05 else "no more than"
    return wrapped(
        f"**The share of values in their intervals is {whole(shares[0])[:-2]} to {whole(shares[-1])}, depending on the set.** The sets differ by {more} "
        f"chance alone explains (chi-squared {square:.1f} on {degrees} degrees of freedom, p = {p:.3f}, as if the values were independent). So the "
        "share of all sets together says little about one service.",
        f"The lowest share is that of *{lowest.source.short}* in the figure: {of(lowest.inside, lowest.of)}, with a 90 % interval of {whole(low)[:-2]} to {whole(high)}.",
        f"All sets together have {inside} of {count} values inside ({share(inside, count)}). These are predictions of {found.distinct} different "
        f"measured values by fits to {found.fits} groups of runs. If these groups are resampled, the share has a 90 % interval of "
        f"{percent(found.low)[:-2]} to {percent(found.high)}. The mean over groups is {percent(found.mean_share)}.",
    )


def present(sets: Sequence[Coverage]) -> str:
    own = [one for one in sets if one.source.present]
    rows = pl.concat([one.rows.drop("level", strict=False) for one in own])
    counted, first = headline(rows), rows.filter((pl.col("fate") == "measured first") & pl.col("answered"))
    distinct, before = counted["what"].n_unique(), first["what"].n_unique()
    taught = [one for one in own if one.source.measured_first]
    services = pl.concat([one.rows for one in taught])["fit"].n_unique()
    guests = [one for one in own if not one.source.measured_first]
    whys = {
        name: json.loads((BENCHES / name).with_name("predictions.json").read_text())["why"]
        for one in guests
        for name in one.source.files
    }
    warned = [name.split("/")[-2].replace("-", " ") for name, why in whys.items() if "do not extrapolate" in why]
    misfits = [name for name in whys if MISFIT in (BENCHES / name).with_name("verdict.txt").read_text()]
    inside, count = total(own)
    newest_inside, newest = total([one for one in own if one.source.short == BY_NEWEST])
    return wrapped(
        f"Since {SINCE}, the fit made {count} of these predictions, and {inside} values lie inside. But these are "
        f"predictions of only {distinct} different measured values of {services + 1} systems ({distinct + before} values with the saturation "
        f"rates that were measured first). Earlier runs of {services} of these systems had taught the newest rule "
        "([0047](../decisions/0047-slow-seconds-and-falling-demand.md)), and `auto` tries more models since 10:35 of that day "
        f"([0049](../decisions/0049-when-the-cpu-limits.md)). Since {NEWEST}, draws are held at the bounds of the unknowns "
        f"([0053](../decisions/0053-draws-at-a-bound.md)): {newest} of these predictions are later, and {newest_inside} of them lie inside. "
        f"The other system is a web service in a virtual machine, with {len(whys)} seeds on two machines. For "
        f"{' and '.join(warned)}, `fit` had said \"none of 3 models fits, do not extrapolate\", and for {len(misfits) - len(warned)} more \"{MISFIT}\"; "
        "their values are counted as all others. Two earlier runs of this "
        "service are not in the table, because their values were not kept. In these runs, 4 of 8 values lie inside, by a version whose errors were "
        "[mended](../../benches/web-vm/README.md) afterwards.",
        "**So there is no statement yet about how often the intervals of the present version hold.**",
    )  # fmt: skip


def capacity(simulated: CapacityCoverage, live: CapacityCoverage) -> str:
    low, high = wilson(simulated.inside, simulated.of)
    alone_low, alone_high = wilson(simulated.alone, simulated.of)
    live_low, live_high = wilson(live.inside, live.of)
    assert simulated.uneven and live.truth_errors
    return "\n".join([
        f"- On simulated services, the true rate was inside the 90 % interval in {simulated.inside} of {simulated.of} searches (90 % interval of the share: "
        f"{whole(low)[:-2]} to {whole(high)}).",
        "  These intervals have a part for the changing speed of a machine, and simulated services have no such changes. Without this part, it is "
        f"{simulated.alone} of {simulated.of} ({whole(alone_low)[:-2]} to {whole(alone_high)}).",
        f"  With uneven service times, it is {simulated.uneven[0]} of {simulated.uneven[1]}. The median half-width is {percent(simulated.half_width)} of the answer. "
        f"The highest offered rate was {percent(simulated.most)} of saturation.",
        f"- On live services, the true rate was inside in {live.inside} of {live.of} searches ({whole(live_low)[:-2]} to {whole(live_high)}); without the part for the "
        f"machine, in {live.alone} of {live.of}.",
        f"  For {live.asked - live.of} of the {live.asked} services, the true rate could not be found. Where it was found, it is uncertain by "
        f"{100 * live.truth_errors[0]:.1f} to {percent(live.truth_errors[1])}, and the median half-width of an answer is {percent(live.half_width)}.",
        f"  The highest offered rate was {percent(live.most)} of saturation.",
    ])  # fmt: skip


def auto_tests(found: Sequence[tuple[str, Coverage]]) -> str:
    lines = []
    for name, one in found:
        errors = [
            f"{percent(one.errors[m][0])} ({t})"
            for m, t in (("saturation_rate", "saturation"), ("response_time", "response time"))
            if m in one.errors
        ]
        lines.append(
            f"- {name}: {of(one.inside, one.of)} values inside. Median error{'s' if len(errors) > 1 else ''}: {', '.join(errors)}."
        )
    return "\n".join(lines)


def seeds(one: Coverage) -> str:
    """Of a set with a file a seed."""
    files = headline(one.rows).with_columns(file=pl.col("fit").str.split(" ").list.first())
    each = files.group_by("file", maintain_order=True).agg(inside=pl.col("inside").sum(), of=pl.len())
    told = [of(inside, count) for _, inside, count in each.iter_rows()]
    return (
        f"- **The {one.source.short}** were drawn with {len(told)} random seeds, and one version of the fit predicted them. "
        f"{', '.join(told[:-1])} and {told[-1]} values lie inside.\n  Other programs disturbed the runs of the last seed most."
    )
