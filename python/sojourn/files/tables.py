"""Parquet files that somebody else wrote: how many rows, how large and of which columns, before they are read."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import polars as pl

from sojourn.errors import InputError
from sojourn.files.parquet_footer import footer
from sojourn.files.reading import MIB, MOST_LOG_BYTES, opened

MOST_ROWS = 100_000_000
MOST_UNPACKED_BYTES = 8192 * MIB
MOST_CELLS = 1_000_000_000  # a constant column of any length takes no room in the file
ROWS_AT_ONCE = 1 << 18
NUMBER, WHOLE, TEXT = "numbers", "whole numbers", "text"


def read_parquet(
    path: Path, columns: Mapping[str, str] | None, remedy: str, *, needed: int = 0, error: type[InputError] = InputError,
    wanted: Collection[str] | None = None,
) -> pl.DataFrame:  # fmt: skip
    """All rows. `columns`: name → NUMBER, WHOLE or TEXT of those that are known, the first `needed` of which must be there (None: every
    column has numbers). `wanted`: which of those that are there are read, all where it is None. InputError (`error`) with the place: no
    Parquet file, larger than a record can be, or of other columns."""
    _, frame = _scanned(path, columns, remedy, needed, error, wanted)
    return _collected(frame, path, remedy, error)


def parquet_parts(
    path: Path, columns: Mapping[str, str] | None, remedy: str, *, needed: int = 0, error: type[InputError] = InputError,
    wanted: Collection[str] | None = None,
) -> Iterator[pl.DataFrame]:  # fmt: skip
    """The same some rows at a time, of which there is one part at least."""
    rows, frame = _scanned(path, columns, remedy, needed, error, wanted)
    for first in range(0, max(rows, 1), ROWS_AT_ONCE):
        yield _collected(frame.slice(first, ROWS_AT_ONCE), path, remedy, error)


def _scanned(
    path: Path, columns: Mapping[str, str] | None, remedy: str, needed: int, error: type[InputError],
    wanted: Collection[str] | None,
) -> tuple[int, pl.LazyFrame]:  # fmt: skip
    """How many rows, and what is to be read of them."""
    with opened(path, remedy, MOST_LOG_BYTES, error=error) as file:
        try:
            rows, unpacked = footer(file)
        except ValueError as failed:
            raise error(str(failed), path, remedy) from None
    if not 0 <= rows <= MOST_ROWS or unpacked > MOST_UNPACKED_BYTES:
        raise error(
            f"{rows} rows, {unpacked / MIB:.0f} MiB unpacked: at most {MOST_ROWS} and {MOST_UNPACKED_BYTES // MIB}",
            path,
            remedy,
        )
    try:
        source = for_polars(path)
        schema = pl.read_parquet_schema(source)
        if rows * len(schema) > MOST_CELLS:
            raise error(f"{rows} rows of {len(schema)} columns: at most {MOST_CELLS:.0e} cells", path, remedy)
        check_columns(schema, columns, needed, path, remedy, error)
        return rows, pl.scan_parquet(source, glob=False).select(
            name for name in schema if wanted is None or name in wanted
        )
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as failed:
        raise error(str(failed)[:120], path, remedy) from None


def _collected(frame: pl.LazyFrame, path: Path, remedy: str, error: type[InputError]) -> pl.DataFrame:
    try:
        return frame.collect()
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as failed:
        raise error(str(failed)[:120], path, remedy) from None


def for_polars(path: Path | str) -> Path | str | io.BytesIO:
    """A file as polars takes it: no path that is not UTF-8 is one for it."""
    try:
        str(path).encode()
        return path
    except UnicodeEncodeError:
        return io.BytesIO(Path(path).read_bytes())


def check_columns(
    schema: Mapping[str, pl.DataType], columns: Mapping[str, str] | None, needed: int, path: Path, remedy: str,
    error: type[InputError],
) -> None:  # fmt: skip
    """Of a table that is read, or will be; see `read_parquet`."""
    for name in list(columns or ())[:needed]:
        if name not in schema:
            raise error(f"no column {name}", path, remedy)
    for name, kind in schema.items():
        wanted = columns.get(name) if columns is not None else NUMBER
        if wanted is not None and not _is(kind, wanted):
            raise error(f"column {name} is of {kind}, not of {wanted}", path, remedy)


def _is(kind: pl.DataType, wanted: str) -> bool:
    if wanted == TEXT:
        return kind in (pl.String, pl.Categorical, pl.Enum, pl.Null)
    return kind == pl.Null or kind == pl.Boolean or (kind.is_integer() if wanted == WHOLE else kind.is_numeric())
