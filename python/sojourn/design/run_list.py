"""The run list: one row a run with its order, block, repetition, the factors' levels, and then the responses."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sojourn.design.factors import RESERVED, Factor
from sojourn.errors import DesignError
from sojourn.files.reading import MOST_TABLE_BYTES, read_bytes
from sojourn.files.writing import write_output


def write_runs(runs: pl.DataFrame, path: Path | str) -> None:
    """A CSV that can be filled in by hand: further columns are responses."""
    write_output(path, runs.write_csv())


def read_runs(path: Path | str) -> pl.DataFrame:
    """What `write_runs` wrote, with response columns added; DesignError where it is no such file."""
    try:
        remedy = "give a run list made by `sojourn design make`"
        return pl.read_csv(
            read_bytes(path, remedy, most_bytes=MOST_TABLE_BYTES, error=DesignError), infer_schema_length=None
        )
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise DesignError(str(error).splitlines()[0], path, "give a CSV with a header line") from None


def factors_of(runs: pl.DataFrame, response: str, names: list[str] | None = None) -> list[Factor]:
    """The factors of a run list: those named, or every column but the reserved ones and those that hold responses.

    Without names, a column is a factor if it stands before `response` and has from 2 to 12 different values.
    """
    if response not in runs.columns:
        raise DesignError(repr(response), "response", f"use one of the columns {', '.join(runs.columns)}")
    for name in names or []:
        if name not in runs.columns:
            raise DesignError(repr(name), "factor", f"use one of the columns {', '.join(runs.columns)}")
    before = runs.columns[: runs.columns.index(response)]
    chosen = names or [c for c in before if c not in RESERVED and 2 <= runs[c].n_unique() <= 12]
    if not chosen:
        raise DesignError(before, "factors", "name them: no column before the response has 2 to 12 levels")
    return [Factor(name, tuple(runs[name].unique().sort().to_list())) for name in chosen]


def filled(runs: pl.DataFrame, response: str) -> pl.DataFrame:
    """The runs that have a response; DesignError where it holds words, or nothing."""
    column = runs[response]
    if not column.dtype.is_numeric():
        wrong = next((v for v in column.to_list() if v is not None), "nothing")
        raise DesignError(repr(wrong), f"response {response}", "fill in numbers")
    there = runs.filter(pl.col(response).is_not_null() & pl.col(response).is_finite())
    if there.is_empty():
        raise DesignError("no run has a value", f"response {response}", "fill in the responses, then analyse")
    return there
