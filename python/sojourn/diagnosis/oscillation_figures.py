"""Two busy shares that oscillate, or do not: as figures, and as a table beside the limits of the rule."""

from __future__ import annotations

import numpy as np

from sojourn.diagnosis.oscillation import (
    EACH_FULL,
    EITHER_FULL,
    FULL,
    MOST_CORRELATION,
    MOST_P,
    SEEN_FULL,
    Oscillation,
)
from sojourn.report import Document, Figure, Section, Series, Table, Text
from sojourn.report.document import Status
from sojourn.stats.circular_shift import LEAST_SHIFT_S, Array, high_passed
from sojourn.units import percent

SHOWN_S = 20.0  # of the series: more cycles than that cannot be told apart
LARGEST_SHIFT_S = 10.0
HEADLINES = {
    "none": "No oscillating bottleneck between {} and {}",
    "hidden": "The bottleneck oscillates between {} and {}, and means over a second hide it",
    "visible": "The bottleneck oscillates between {} and {}; means over a second show it",
    "too_short": "Too short to decide whether the bottleneck oscillates between {} and {}",
}
METHOD = (
    "Each series minus its moving average over 1.1 s; r is their correlation; p is the share of circular shifts of at "
    "least 2 s with an equally low r. A resource counts as full at 90 %."
)


def headline(found: Oscillation) -> str:
    """The verdict as a sentence."""
    return HEADLINES[found.verdict].format(*found.names)


def document(found: Oscillation, source: str, with_figures: bool = True) -> Document:
    """The verdict with its reason, the table, and the figures if wanted."""
    drawn = figures(found) if with_figures else ()
    section = Section("What was seen", "", (*drawn[:1], table(found), *drawn[1:], Text(METHOD)))
    status: Status = "warn" if found.verdict == "too_short" else "ok"
    return Document(source, "Oscillating bottleneck", (headline(found), found.reason), status, (section,))


def figures(found: Oscillation) -> tuple[Figure, ...]:
    """Shares, shares without what is slower than a second, r by shift."""
    shown = slice(0, round(SHOWN_S / found.judged_interval_s))
    high = np.stack([high_passed(one, found.judged_interval_s) for one in found.series])
    part = "" if found.samples <= shown.stop else f"The first {SHOWN_S:g} s."
    fast = "busy share minus its mean over a second"
    return (
        _over_time(found, "oscillation", "Busy shares", "busy share", found.series[:, shown], part),
        _over_time(found, "oscillation-fast", "Variation faster than a second", fast, high[:, shown], part),
        _by_shift(found),
    )


def _over_time(found: Oscillation, name: str, title: str, label: str, series: Array, note: str) -> Figure:
    times = found.judged_interval_s * np.arange(series.shape[1])
    drawn = tuple(Series(one, times.tolist(), values.tolist()) for one, values in zip(found.names, series, strict=True))
    return Figure(name, f"{title} of {' and '.join(found.names)}", "time, s", label, drawn, note)


def _by_shift(found: Oscillation) -> Figure:
    most = min(round(LARGEST_SHIFT_S / found.judged_interval_s), found.samples // 2)
    shifts = np.arange(-most, most + 1)
    r = found.by_shift[shifts]
    curve = Series("r", (found.judged_interval_s * shifts).tolist(), r.tolist())
    note = (
        f"Without a shift r = {found.correlation:.2f}; the shifts of {LEAST_SHIFT_S:g} s and more say what chance does."
    )
    return Figure(
        "oscillation-shifts", "Correlation by shift", "shift, s", "correlation, r", (curve,), note, vlines=((0.0, ""),)
    )


def table(found: Oscillation) -> Table:
    """Each figure with the limit that the rule has for it."""
    one, other = found.names
    p = "–" if found.p_value is None else f"{found.p_value:.2g}"
    full = f"at {percent(FULL, 0)} or more"
    rows = (
        ("r of the variation faster than a second", f"{found.correlation:.2f}", f"at most {MOST_CORRELATION:g}"),
        ("p, by circular shifts", p, f"at most {MOST_P:g}"),
        (f"{one} {full}", percent(found.share_of_samples_full[0]), f"at least {percent(EACH_FULL, 0)}"),
        (f"{other} {full}", percent(found.share_of_samples_full[1]), f"at least {percent(EACH_FULL, 0)}"),
        (f"at least one {full}", percent(found.share_of_samples_full[2]), f"at least {percent(EITHER_FULL, 0)}"),
        (f"means over 1 s {full}", percent(found.share_of_seconds_full), f"hidden at {percent(SEEN_FULL, 0)} or less"),
        (f"mean of {one}", percent(found.mean_busy_share[0]), ""),
        (f"mean of {other}", percent(found.mean_busy_share[1]), ""),
        ("samples", f"{found.samples} of {found.judged_interval_s:.3g} s", ""),
    )
    return Table("", ("", "seen", "limit"), rows)
