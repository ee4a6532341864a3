"""Table cells to text, the same in HTML and in the terminal."""

from __future__ import annotations

import math
import re

from sojourn.report.document import Cell, Table

EMPTY = "–"
# what reads as a number although it is a string: "2.75 ± 0.1", "+12 %", "[0.9, 1.1]", "< 0.001"
_NUMERIC = re.compile(r"^[\[(<>≤≥≈~±+\-−]?\s*[+\-−]?\d")


def cell_text(cell: Cell, spec: str = "") -> str:
    """One cell as text; None and NaN are a dash. spec: format of a number, default four significant digits."""
    if cell is None:
        return EMPTY
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float) and math.isnan(cell):
        return EMPTY
    if isinstance(cell, float) and math.isinf(cell):
        return "∞" if cell > 0 else "−∞"
    if isinstance(cell, int):
        return format(cell, spec)
    return format(cell, spec or ".4g").replace("-", "−")


def text_rows(table: Table) -> list[list[str]]:
    """All cells of `table` as text, row by row."""
    formats = table.formats or ("",) * len(table.columns)
    return [[cell_text(c, f) for c, f in zip(row, formats, strict=True)] for row in table.rows]


def numeric_columns(table: Table) -> list[bool]:
    """For each column, whether it holds numbers (or nothing but numbers in text) and is set flush right."""
    return [_is_numeric([row[i] for row in table.rows]) for i in range(len(table.columns))]


def _is_numeric(cells: list[Cell]) -> bool:
    present = [c for c in cells if c is not None and c not in ("", EMPTY)]
    return bool(present) and all(not isinstance(c, str) or _NUMERIC.match(c) for c in present)
