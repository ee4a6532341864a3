"""The rows of `requests.parquet` where no generator of ours wrote them: a simulator, or calls of a user's own function."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from sojourn.errors import InputError

# column → (type, what stands there if nothing is given); None: required, a name: the same as that column
REQUESTS: dict[str, tuple[pl.DataType, str | float | None]] = {
    "intended_s": (pl.Float64(), None),
    "sent_s": (pl.Float64(), "intended_s"),
    "received_s": (pl.Float64(), "done_s"),
    "done_s": (pl.Float64(), None),
    "class": (pl.UInt16(), 0),
    "status": (pl.UInt16(), 200),
    "bytes": (pl.UInt32(), 0),
    "failure": (pl.UInt8(), 0),
    "lane": (pl.UInt8(), 0),
    "connection": (pl.UInt32(), 0),
    "user": (pl.UInt32(), 2**32 - 1),
    "weight": (pl.UInt32(), 1),
}
FAILURES = ["ok", "refused", "connect_timeout", "reset", "timeout", "status", "length", "protocol", "unsent"]


def request_frame(given: Mapping[str, ArrayLike] | pl.DataFrame) -> pl.DataFrame:
    """All columns of `requests.parquet`, in order of intended time, from those that are given.

    Raises:
        InputError: a column is missing, unknown, or of another length.
    """
    columns = {name: given[name] for name in (given.columns if isinstance(given, pl.DataFrame) else given)}
    unknown = sorted(set(columns) - set(REQUESTS))
    if unknown:
        raise InputError(", ".join(unknown), "requests", f"use columns of {', '.join(REQUESTS)}")
    missing = [name for name, (_, default) in REQUESTS.items() if default is None and name not in columns]
    if missing:
        raise InputError(f"no column {', '.join(missing)}", "requests", "give intended_s and done_s")
    lengths = {len(np.asarray(values)) for values in columns.values()}
    if len(lengths) > 1:
        raise InputError(sorted(lengths), "requests", "give columns of equal length")
    frame = pl.DataFrame({name: np.asarray(values) for name, values in columns.items()})
    for name, (_, default) in REQUESTS.items():
        if name not in columns:
            frame = frame.with_columns((pl.col(default) if isinstance(default, str) else pl.lit(default)).alias(name))
    return frame.select(pl.col(name).cast(kind) for name, (kind, _) in REQUESTS.items()).sort("intended_s")
