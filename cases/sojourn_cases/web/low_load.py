"""What more NICs cost at low load: response times with more NICs over those with fewer, at the same rates.

Chen et al., ICPE 2014, section 5.3: with several NICs, response times at low rates are 10 to 20 % longer, because interrupts that land on
more cores switch contexts more often. Here the configuration with fewer NICs was run at other rates, so its response time at a rate comes
from the two rates beside it: the logarithm on a straight line. The interval is Student's, of the logarithms of the ratios.
Limit: rates that share a neighbour are not quite independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sojourn.design import TestedEstimate, ratio_of_pairs
from sojourn.report import Cell, Table
from sojourn.study import TRAINING
from sojourn.units import USUAL_LEVEL, per_second, percent
from sojourn_cases.web.web_configurations import WebConfiguration

LOW = 0.6  # of the measured saturation rate with fewer NICs: beyond, requests wait for the core that has all interrupts


@dataclass(frozen=True)
class LowLoadRatio:
    """Response times with `more` NICs over those with `fewer`, names of configurations, at `rates_per_s`; `fewer_s`, `more_s`: both at each
    rate; `ratio`: their geometric mean, with an interval where there are two rates or more."""

    fewer: str
    more: str
    rates_per_s: tuple[float, ...]
    fewer_s: tuple[float, ...]
    more_s: tuple[float, ...]
    ratio: TestedEstimate


def low_load_ratios(parts: Sequence[WebConfiguration]) -> Iterator[LowLoadRatio]:
    """Of each configuration, and the fitted one with as many cores and the most NICs below its own."""
    for more in parts:
        cores, nics = more.size
        fewer = [one for one in parts if one.kind == TRAINING and one.size[0] == cores and one.size[1] < nics]
        if fewer and (found := _ratio(max(fewer, key=lambda one: one.size[1]), more)) is not None:
            yield found


def _ratio(fewer: WebConfiguration, more: WebConfiguration) -> LowLoadRatio | None:
    """None where the saturation rate is not known, or no low rate of one lies among those of the other."""
    if fewer.saturation is None:
        return None
    known, there = _times(fewer), _times(more)
    most = LOW * fewer.saturation.value
    rates = tuple(rate for rate in there if known and min(known) <= rate <= min(most, max(known)))
    if not rates:
        return None
    before = np.exp(np.interp(rates, list(known), np.log(list(known.values()))))
    fewer_s, more_s = tuple(map(float, before)), tuple(there[rate] for rate in rates)
    return LowLoadRatio(fewer.name, more.name, rates, fewer_s, more_s, ratio_of_pairs(fewer_s, more_s))


def _times(part: WebConfiguration) -> dict[float, float]:
    """Mean response time by rate, s."""
    rows = part.measured.frame.filter(pl.col("metric") == "response_time", pl.col("station") == "").sort("rate_per_s")
    return {float(rate): float(value) for rate, value in zip(rows["rate_per_s"], rows["value"], strict=True)}


def low_load_line(found: LowLoadRatio) -> str:
    """For the verdict."""
    rates = found.rates_per_s
    where = per_second(rates[0]) if len(rates) == 1 else f"{per_second(rates[0])} to {per_second(rates[-1])}"
    one = found.ratio
    ends = f" ({one.low:.2f} … {one.high:.2f})" if one.low < one.high else ""
    return (
        f"low load ({where}, up to {percent(LOW, 0)} of what {found.fewer} saturates at): response times of {found.more} are "
        f"{one.value:.2f} times{ends} those of {found.fewer}"
    )


def low_load_table(found: LowLoadRatio) -> Table:
    """A row for each rate, and their geometric mean."""
    each = zip(found.rates_per_s, found.fewer_s, found.more_s, strict=True)
    one = found.ratio
    ends: tuple[Cell, Cell] = (one.low, one.high) if one.low < one.high else (None, None)
    rows: list[tuple[Cell, ...]] = [(per_second(rate), 1e3 * a, 1e3 * b, b / a, None, None) for rate, a, b in each]
    note = (
        f"Mean response times up to {percent(LOW, 0)} of the measured saturation rate of {found.fewer}, whose values are interpolated "
        f"between the rates that were run. Last row: geometric mean, {percent(USUAL_LEVEL, 0)} interval. Chen et al. 2014 (section 5.3) "
        "found 1.1 to 1.2."
    )
    columns = ("rate", f"{found.fewer}, ms", f"{found.more}, ms", "ratio", "low", "high")
    title = f"Low load: {found.more} over {found.fewer}"
    return Table(title, columns, (*rows, ("together", None, None, one.value, *ends)), note, ("", *[".3f"] * 5))
