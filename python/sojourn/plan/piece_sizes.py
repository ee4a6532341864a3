"""How large items and the pieces of them are, from a table with a row a piece: exchanges and frames of a capture, jobs and tasks.

Means and sample standard deviations over all items, and over all pieces: what `balance` takes. Limits: an item is what has one name in the
table, so a connection that was used again for another item under the same name is one item.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sojourn.errors import InputError
from sojourn.files.reading import MOST_TABLE_BYTES, read_bytes

ITEM, SIZE = "item", "size"
REMEDY = (
    f"give a .csv with a row a piece and the columns {ITEM} (which item it is part of) and {SIZE} (a number, 0 or more)"
)


@dataclass(frozen=True)
class PieceSizes:
    """`items`, mean and standard deviation of their sizes, how many pieces they have in the mean, mean and standard deviation of these."""

    items: int
    item_mean: float
    item_deviation: float
    pieces_per_item: float
    piece_mean: float
    piece_deviation: float


def piece_sizes(path: Path) -> PieceSizes:
    """Raises InputError for a file that is no such table, or that has fewer than two items."""
    try:
        table = pl.read_csv(read_bytes(path, REMEDY, most_bytes=MOST_TABLE_BYTES), infer_schema=False)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise InputError(str(error).splitlines()[0][:80], path, REMEDY) from None
    if not {ITEM, SIZE} <= set(table.columns):
        raise InputError(f"columns {', '.join(table.columns)}", path, REMEDY)
    rows = table.select(ITEM, pl.col(SIZE).str.strip_chars().cast(pl.Float64, strict=False))
    wrong = rows.with_row_index("row", 2).filter(
        pl.col(ITEM).is_null() | pl.col(SIZE).is_null() | ~pl.col(SIZE).is_finite() | (pl.col(SIZE) < 0)
    )
    if wrong.height:
        raise InputError(
            "no item, or no size of 0 or more", f"{path}:{wrong['row'][0]}", "repair the row, or leave it out"
        )
    items = rows.group_by(ITEM).agg(pl.col(SIZE).sum())
    if items.height < 2 or not float(items[SIZE].sum()) > 0:
        raise InputError(
            f"{items.height} items with {rows[SIZE].sum():g} in all",
            path,
            "give two items or more, with a size above 0",
        )
    deviations = [float(frame[SIZE].std() or 0.0) for frame in (items, rows)]  # type: ignore[arg-type]
    item_mean, piece_mean = (float(frame[SIZE].mean() or 0.0) for frame in (items, rows))  # type: ignore[arg-type]
    return PieceSizes(items.height, item_mean, deviations[0], rows.height / items.height, piece_mean, deviations[1])
