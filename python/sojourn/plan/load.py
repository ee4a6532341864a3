"""The load that a plan must carry: a number, a range, a list, growth, or a recorded trace, as levels with their shares of time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.errors import InputError
from sojourn.files.reading import MOST_TABLE_BYTES, read_bytes
from sojourn.units import levels, number

Array = NDArray[np.float64]
PLACE = "--load"
POINTS = 8  # of a range without a step
BINS = 25  # of a trace
GROWTH = re.compile(r"([0-9.eE]+)\s*\+\s*([0-9.]+)\s*%\s*\*\s*([0-9]+)")
RANGE = re.compile(r"([0-9.eE+-]+?)\.\.([0-9.eE+-]+)")
HOW = "give 900, 200..900, 200..900:100, 600+5%*12 (5 % more a period, 12 periods), or a .csv with a column rate_per_s or users"
COLUMNS = ("rate_per_s", "users", "load")


@dataclass(frozen=True)
class Load:
    """`levels`: 1/s or users, above 0, ascending; `share`: of the time in which each holds, sum 1; `kind`: what was given."""

    text: str
    kind: str  # level | range | growth | trace
    levels: Array
    share: Array

    @staticmethod
    def read(given: str | float | Path) -> Load:
        """Raises InputError for what is none of these."""
        text = str(given).strip()
        if text.endswith(".csv") or isinstance(given, Path):
            return _trace(Path(text))
        if match := GROWTH.fullmatch(text):
            first, by, periods = number(match[1], PLACE), number(match[2], PLACE) / 100, int(match[3])
            if not 1 <= periods <= 1000:
                raise InputError(f"{periods} periods", PLACE, "give 1 to 1000")
            return _even(text, "growth", list(first * (1 + by) ** np.arange(periods + 1)))
        ends = RANGE.fullmatch(text)
        try:
            found = [number(end, PLACE) for end in ends.groups()] if ends else levels(text, PLACE)
        except InputError as error:
            raise InputError(error.value, PLACE, HOW) from None
        if ends:
            if not found[0] < found[1]:
                raise InputError(repr(text), PLACE, "give the lower end first, as 200..900")
            return _even(text, "range", list(np.linspace(found[0], found[1], POINTS)))
        return _even(text, "level" if len(found) == 1 else "range", found)

    @property
    def whole(self) -> Load:
        """In whole numbers, the next above: users."""
        values = np.ceil(self.levels - 1e-9)
        found, group = np.unique(values, return_inverse=True)
        return replace(self, levels=found, share=np.bincount(group, self.share).astype(np.float64))

    @property
    def most(self) -> float:
        """The highest level."""
        return float(self.levels[-1])


def _even(text: str, kind: str, values: list[float]) -> Load:
    found = np.unique(np.asarray(values, float))
    if not (np.isfinite(found).all() and found[0] > 0):
        raise InputError(repr(text), PLACE, "give loads above 0")
    return Load(text, kind, found, np.full(len(found), 1 / len(found)))


def _trace(path: Path) -> Load:
    """The levels of a file; many are put together, each group by its highest. Rows are equal times, or `t_s` says when each begins."""
    try:
        table = pl.read_csv(read_bytes(path, "give a file that can be read", most_bytes=MOST_TABLE_BYTES))
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise InputError(str(error).splitlines()[0][:80], path, HOW) from None
    name = next((c for c in COLUMNS if c in table.columns), None)
    if name is None:
        raise InputError(f"columns {', '.join(table.columns)}", path, f"name one of them {' or '.join(COLUMNS)}")
    try:
        values = table[name].cast(pl.Float64).to_numpy()
        times = (
            table["t_s"].cast(pl.Float64).to_numpy() if "t_s" in table.columns else np.arange(len(values), dtype=float)
        )
    except pl.exceptions.PolarsError:
        raise InputError(f"{name}: not only numbers", path, "give one number per row") from None
    length = np.diff(times, append=2 * times[-1] - times[-2] if len(times) > 1 else 1.0)
    bad = ~(np.isfinite(values) & (values >= 0) & (length > 0))
    if not len(values) or bad.any() or not (values > 0).any():
        row = int(np.argmax(bad)) + 2 if len(values) else 1
        raise InputError(
            "each row needs a load of at least 0 and a later time than the row before",
            f"{path}:{row}",
            "repair the row",
        )
    order = np.argsort(values)
    values, length = values[order], length[order]
    group = np.unique(values, return_inverse=True)[1]
    if group[-1] >= BINS:
        group = np.minimum((np.arange(len(values)) * BINS) // len(values), BINS - 1)
    count = group[-1] + 1
    most = np.array([values[group == k].max() for k in range(count)])
    share = np.bincount(group, length, count) / length.sum()
    keep = most > 0
    return Load(str(path), "trace", most[keep], share[keep] / share[keep].sum())
