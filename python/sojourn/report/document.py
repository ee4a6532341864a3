"""What a report says, free of how it is shown.

A `Document` has a verdict and sections; a section has blocks: `Figure`, `Table`, `Text`, `Code`. All are frozen
and checked when made, so that a renderer meets no surprise. Values are in whatever unit the labels state.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sojourn.errors import ReportError

Status: TypeAlias = Literal["ok", "warn", "invalid"]
Style: TypeAlias = Literal["line", "points", "dashed", "band", "bars"]
Cell: TypeAlias = str | float | None
STATUSES = ("ok", "warn", "invalid")
STYLES = ("line", "points", "dashed", "band", "bars")


def _numbers(values: Iterable[float | None]) -> tuple[float | None, ...]:
    """Numbers as floats; what is not finite (NaN, infinity, null) becomes None, a gap in the drawing."""
    return tuple(float(v) if v is not None and math.isfinite(v) else None for v in values)


@dataclass(frozen=True)
class Series:
    """One curve or cloud of a figure.

    x, y, low, high: sequences of one length (numpy arrays are fine); None, NaN and infinity are gaps.
    low and high, both or neither: an interval, drawn as error bars (`points`, `bars`) or as shading (other styles). Shading whose
    high alone is None at a place has no upper end there: it goes on to the top of the figure.
    style: `points` for what was measured, `line` or `dashed` for a model, `band` for shading alone (y may be empty),
    `bars` from 0 to y at places 1, 2, … of x; several such series stand side by side.
    group: series of one group share colour and marker, e.g. a measurement and its model; default: the name.
    joined: a thin line goes from point to point (`points`), for curves that no model draws.
    """

    name: str
    x: Sequence[float | None]
    y: Sequence[float | None]
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None
    style: Style = "line"
    group: str = ""
    joined: bool = False

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise ReportError(f"style {self.style!r}", f"series {self.name!r}", f"use one of {', '.join(STYLES)}")
        if (self.low is None) != (self.high is None):
            raise ReportError("low or high alone", f"series {self.name!r}", "give both, or neither")
        if self.joined and self.style != "points":
            raise ReportError(f"joined, of style {self.style!r}", f"series {self.name!r}", "join points")
        if self.style == "band" and self.low is None:
            raise ReportError("a band without low and high", f"series {self.name!r}", "give both")
        if self.style == "band" and len(self.y) == 0:
            object.__setattr__(self, "y", (None,) * len(self.x))
        for name in ("x", "y", "low", "high"):
            values = getattr(self, name)
            if values is None:
                continue
            if len(values) != len(self.x):
                found = f"{name} has {len(values)} values, x has {len(self.x)}"
                raise ReportError(found, f"series {self.name!r}", "give one for each x (None for a gap)")
            object.__setattr__(self, name, _numbers(values))


@dataclass(frozen=True)
class Figure:
    """Series over one x axis.

    id: names the anchor and the image file. vlines: (x, label) marks, e.g. where a model saturates.
    y_limits: (low, high) of the y axis, None where the data decide; for curves that grow without bound.
    x_names: of the places 1, 2, … of x, instead of numbers; short, since they stand side by side.
    A logarithmic axis leaves out what is not positive.
    """

    id: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    note: str = ""
    x_log: bool = False
    y_log: bool = False
    vlines: tuple[tuple[float, str], ...] = ()
    y_limits: tuple[float | None, float | None] = (None, None)
    x_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        low, high = self.y_limits
        if low is not None and high is not None and not low < high:
            raise ReportError(f"y_limits {self.y_limits}", f"figure {self.id!r}", "give the lower one first")
        if any(v is not None and (not math.isfinite(v) or (self.y_log and v <= 0)) for v in self.y_limits):
            remedy = f"give finite{', positive' if self.y_log else ''} numbers, or None"
            raise ReportError(f"y_limits {self.y_limits}", f"figure {self.id!r}", remedy)
        # a mark that is nowhere (a model that never saturates) is left out
        object.__setattr__(self, "vlines", tuple((float(x), t) for x, t in self.vlines if math.isfinite(x)))


@dataclass(frozen=True)
class Table:
    """Rows of cells: a string as it is, a number by its column's format, None as a dash.

    formats: a format specification a column (`".2f"`, `".1%"`); empty: four significant digits.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    formats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.columns):
                found = f"row {number} has {len(row)} cells for {len(self.columns)} columns"
                raise ReportError(found, f"table {self.title!r}", "give one cell a column (None for an empty one)")
        if self.formats and len(self.formats) != len(self.columns):
            found = f"{len(self.formats)} formats for {len(self.columns)} columns"
            raise ReportError(found, f"table {self.title!r}", "give one a column, or none")
        for spec in self.formats:
            try:
                format(1.0, spec)
            except ValueError:
                place = f"table {self.title!r}"
                raise ReportError(f"format {spec!r}", place, "give one for a number, as '.2f' or '.1%'") from None


@dataclass(frozen=True)
class Text:
    """Paragraphs divided by blank lines; `- ` lines make a list; **strong**, *emphasis* and `code`."""

    markdown: str


@dataclass(frozen=True)
class Code:
    """Text shown as it is, in a fixed-width face."""

    text: str


Block: TypeAlias = Figure | Table | Text | Code


@dataclass(frozen=True)
class Section:
    """A heading, a leading paragraph (may be empty) and blocks."""

    title: str
    lead: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A report: the verdict first (its first line is the headline), then sections, then facts in the footer.

    numbers: what is read before any sentence, large: (value with its unit, what it is), two or so.
    """

    title: str
    subtitle: str
    verdict: Sequence[str]
    status: Status
    sections: tuple[Section, ...]
    footer: dict[str, str] = field(default_factory=dict)
    numbers: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ReportError(
                f"status {self.status!r}", f"document {self.title!r}", f"use one of {', '.join(STATUSES)}"
            )
        if isinstance(self.verdict, str) or not self.verdict:
            raise ReportError(
                f"verdict {self.verdict!r}", f"document {self.title!r}", "give a list of at least one line"
            )
        object.__setattr__(self, "verdict", tuple(self.verdict))

    def figures(self) -> Iterator[tuple[str, Figure]]:
        """Each figure with a name that is unique in the document and safe in a path and in a URL fragment."""
        taken: set[str] = set()
        for figure in (b for s in self.sections for b in s.blocks if isinstance(b, Figure)):
            stem = name = re.sub(r"[^a-z0-9]+", "-", figure.id.lower()).strip("-")[:60] or "figure"
            count = 1
            while name in taken:
                count += 1
                name = f"{stem}-{count}"
            taken.add(name)
            yield name, figure
