"""CSV files with a header, read some megabytes at a time, so that a file is not in memory beside its columns."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import IO

import polars as pl

AT_ONCE = 4 << 20  # bytes
INFERRED = 10_000  # rows that say of which type a column is
Wanted = Callable[[Sequence[str]], Collection[str]]


def csv_rows(file: IO[bytes], most_rows: int, wanted: Wanted = lambda names: names) -> pl.DataFrame:
    """At most `most_rows` rows; of the columns those that are `wanted` of all that there are.

    Raises:
        polars.exceptions.PolarsError: this is no CSV.
    """
    parts = _whole_lines(file)
    first = next(parts, b"")
    second = next(parts, None)
    if second is None:
        frame = pl.read_csv(first, n_rows=most_rows, infer_schema_length=INFERRED)
        return frame.select(wanted(frame.columns))
    schema = pl.read_csv(first, n_rows=INFERRED, infer_schema_length=INFERRED).schema
    names = [name for name in schema if name in wanted(list(schema))]
    found = [_copied(pl.read_csv(first, n_rows=most_rows, columns=names, schema_overrides=schema))]
    rows, places = found[0].height, [place for place, name in enumerate(schema) if name in names]
    for part in chain((second,), parts):
        if rows < most_rows:
            read = pl.read_csv(part, has_header=False, n_rows=most_rows - rows, schema=schema, columns=places)
            found.append(_copied(read))
            rows += found[-1].height
    return pl.concat(found)


def _copied(part: pl.DataFrame) -> pl.DataFrame:
    """The same in memory of its own: the buffers of the reader are larger, and are taken again for the next part."""
    numbers = [one for one in part.get_columns() if one.dtype.is_numeric() and not one.null_count()]
    return part.with_columns(pl.Series(one.name, one.to_numpy()) for one in numbers)


def _whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Pieces of about AT_ONCE bytes that end with a line; a line may go on within quotes."""
    left = io.BytesIO()
    while data := file.read(AT_ONCE):
        left.write(data)
        held = left.getvalue()
        cut = held.rfind(b"\n")
        while cut >= 0 and held.count(b'"', 0, cut) % 2:
            cut = held.rfind(b"\n", 0, cut)
        if cut >= 0:
            yield held[: cut + 1]
            left = io.BytesIO()
            left.write(held[cut + 1 :])
    if left.tell():
        yield left.getvalue()
