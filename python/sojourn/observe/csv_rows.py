"""CSV files with a header, read some megabytes at a time, so that a file is not in memory beside its columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import IO

import polars as pl

FIRST, AT_ONCE = 16 << 20, 4 << 20  # bytes; the first part has the rows that say of which type a column is
INFERRED = 10_000  # such rows
Wanted = Callable[[Sequence[str]], Collection[str]]


def csv_parts(file: IO[bytes], most_rows: int, wanted: Wanted = lambda names: names) -> Iterator[pl.DataFrame]:
    """At most `most_rows` rows; of the columns those that are `wanted` of all that there are. One part at least.

    Raises:
        polars.exceptions.PolarsError: this is no CSV.
    """
    lines = _whole_lines(file)
    first = next(lines, b"")
    second = next(lines, None)
    if second is None:
        frame = pl.read_csv(first, n_rows=most_rows, infer_schema_length=INFERRED)
        yield frame.select(wanted(frame.columns))
        return
    schema = pl.read_csv(first, n_rows=INFERRED, infer_schema_length=INFERRED).schema
    names = [name for name in schema if name in wanted(list(schema))]
    part = pl.read_csv(first, n_rows=most_rows, columns=names, schema_overrides=schema)
    rows, places = part.height, [place for place, name in enumerate(schema) if name in names]
    yield part
    for some in chain((second,), lines):
        if rows < most_rows:
            part = pl.read_csv(some, has_header=False, n_rows=most_rows - rows, schema=schema, columns=places)
            rows += part.height
            yield part


def _whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Pieces of about AT_ONCE bytes that end with a line; a line may go on within quotes."""
    left = file.read(FIRST)
    while data := file.read(
        max(AT_ONCE, len(left) - FIRST)
    ):  # where a quote is never closed the whole rest is one line
        if cut := _end(left):
            yield left[:cut]
            left = left[cut:]
        left += data
    if left:
        yield left


def _end(held: bytes) -> int:
    """Where the last line ends that is whole; 0 where there is none."""
    cut = held.rfind(b"\n") + 1
    within = held.count(b'"', 0, cut) % 2
    while within and cut:
        before = held.rfind(b"\n", 0, cut - 1) + 1
        within = (within + held.count(b'"', before, cut)) % 2
        cut = before
    return cut
