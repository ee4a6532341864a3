"""Cells as they were printed: a number is known to its last digit only, and may be rounded or cut there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

import polars as pl

from sojourn.errors import InputError
from sojourn.files.reading import read_bytes

NUMBER = re.compile(r"(\d+)")
SLACK = 1.001  # for the binary rounding of one unit in the last place


@dataclass(frozen=True)
class PrintedNumber:
    """A number and its unit in the last place."""

    text: str
    value: float
    unit: float

    def agrees(self, expected: float) -> bool:
        """Whether `expected`, rounded or cut to as many digits, can be what is printed."""
        return abs(self.value - expected) < SLACK * self.unit

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which values the number lies if it was rounded."""
        return self.value - self.unit / 2, self.value + self.unit / 2


def printed(cell: object) -> PrintedNumber | None:
    """The number in a cell; None where there is none."""
    try:
        number = Decimal(str(cell).strip())
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    return PrintedNumber(str(cell).strip(), float(number), float(Decimal(1).scaleb(int(number.as_tuple().exponent))))


class PublishedTable:
    """A published table: `name`, `label` ("table 9"), and its rows with printed numbers."""

    def __init__(self, name: str, frame: pl.DataFrame) -> None:
        self.name = name
        self.columns = frame.columns
        self.rows = frame.to_dicts()
        match = re.search(r"table_?0*(\d+)", name)
        self.label = f"table {match[1]}" if match else name

    def has(self, *columns: str) -> bool:
        return set(columns) <= set(self.columns)

    def number(self, row: Mapping[str, object], column: str) -> PrintedNumber | None:
        return printed(row.get(column))


def sheets(tables: Mapping[str, pl.DataFrame]) -> list[PublishedTable]:
    """In the order of the numbers in their names."""
    return [PublishedTable(name, tables[name]) for name in sorted(tables, key=_natural)]


def _natural(name: str) -> list[object]:
    return [f"{int(part):09d}" if part.isdigit() else part for part in NUMBER.split(name)]


def read_tables(folder: Path | str, pattern: str = "*.csv") -> dict[str, pl.DataFrame]:
    """The CSV files of a folder by name, cells as text, so that the digits printed are known.

    Raises InputError where nothing fits or a file is no CSV.
    """
    paths = sorted(Path(folder).glob(pattern))
    if not paths:
        raise InputError(f"no file {pattern}", folder, "give a folder with tables as CSV files")
    try:
        return {
            path.stem: pl.read_csv(read_bytes(path, "give tables as CSV files"), infer_schema=False) for path in paths
        }
    except pl.exceptions.PolarsError as error:
        raise InputError(str(error).splitlines()[0], folder, "give tables as CSV files with a header line") from None
