"""When the requests of a run were due, sent and answered, in order of when they were due: the columns that its judgement needs and no
others, put in order one after the other, so that millions fit.

What follows from two of them (`response_s`) is computed when it is asked for, and not kept. Of requests in order a window is a part that
is not copied, and where none failed those that succeeded are all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sojourn.runs.run_folder import RunFolder

DUE = "intended_s"
ALL = ("sent_s", "end_s", "done_s", "failure", "class")


def request_times(folder: RunFolder, wanted: Sequence[str] = ALL) -> pl.DataFrame | None:
    """Columns `intended_s` and, as far as they are `wanted`, `sent_s`, `end_s` (kernel receive where there is one, else done), `done_s`,
    `failure` and `class`, where the records have them; in order of `intended_s`. None without records. Raises as `RunFolder.frame` does."""
    if not folder.has("requests"):
        return None
    columns = _columns(folder, (DUE, *wanted))
    due = columns[DUE]
    if not (due[1:] >= due[:-1]).all():
        order = np.argsort(due, kind="stable")
        del due  # of a million requests a column is 8 MB
        for name in columns:
            columns[name] = columns[name][order]
    of = [pl.Series(name, values) for name, values in columns.items()]  # which are no copies
    return pl.DataFrame([of[0].set_sorted(), *of[1:]])


def answered_s(folder: RunFolder, window: tuple[float, float]) -> NDArray[np.float64] | None:
    """Response times of the requests of a window that succeeded, in order of when they were due. None without records. Raises as
    `RunFolder.frame` does."""
    if not folder.has("requests"):
        return None
    dues, times = [], []
    for part in folder.parts("requests", (DUE, "received_s", "done_s", "failure")):
        good = succeeded(in_window(part, window)).select(DUE, end())
        dues.append(good[DUE].to_numpy())
        times.append(response_s(good).to_numpy())
    due = np.concatenate(dues)
    del dues  # of a million requests 8 MB, as each of the others
    order = None if (due[1:] >= due[:-1]).all() else np.argsort(due, kind="stable")
    del due
    found = np.concatenate(times)
    del times
    return found if order is None else found[order]


def _columns(folder: RunFolder, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Columns as they were recorded, `end_s` made of the times at which answers came; read some rows at a time, so that what they are made
    of is not held beside them."""
    read = {source for name in names for source in (("received_s", "done_s") if name == "end_s" else (name,))}
    held: dict[str, NDArray[Any]] = {}
    rows, at = folder.rows("requests"), 0
    for part in folder.parts("requests", read):
        given = {name: _array(part[name]) for name in part.columns}
        if "end_s" in names and "received_s" in given:
            received = given["received_s"]
            given["end_s"] = np.where(np.isnan(received), given["done_s"], received)
        for name in (name for name in names if name in given):
            into = held.setdefault(name, np.empty(rows, given[name].dtype))
            into[at : at + part.height] = given[name]
        at += part.height
    return {name: values[:at] for name, values in held.items()}


def _array(column: pl.Series) -> NDArray[Any]:
    """NaN where a time is missing, and a number that is nobody's where a whole number is."""
    if column.null_count() and column.dtype.is_integer():
        column = column.fill_null(column.upper_bound()[0])
    return column.to_numpy()


def end() -> pl.Expr:
    """When a request had its answer: by the kernel where it says so, else when it had been read; as `end_s`."""
    received = pl.col("received_s")
    return pl.when(received.is_nan()).then(pl.col("done_s")).otherwise(received).alias("end_s")


def in_window(requests: pl.DataFrame, window: tuple[float, float], column: str = DUE) -> pl.DataFrame:
    """Requests whose intended time, the `column`, lies in the window."""
    due = requests[column]
    if not due.flags["SORTED_ASC"]:
        return requests.filter(pl.col(column).is_between(*window))
    first = int(due.search_sorted(window[0], "left"))
    return requests.slice(first, max(int(due.search_sorted(window[1], "right")) - first, 0))


def succeeded(requests: pl.DataFrame) -> pl.DataFrame:
    """Those that did not fail."""
    failure = requests["failure"]
    return (
        requests if not failure.null_count() and not (failure != 0).any() else requests.filter(pl.col("failure") == 0)
    )


def response_s(requests: pl.DataFrame) -> pl.Series:
    """From when a request was due to its answer."""
    return difference(requests["end_s"], requests[DUE]).alias("response_s")


def service_response_s(requests: pl.DataFrame) -> pl.Series:
    """From when it was sent to its answer."""
    return difference(requests["end_s"], requests["sent_s"]).alias("service_response_s")


def lateness_s(requests: pl.DataFrame) -> pl.Series:
    """From when it was due to when it was sent."""
    return difference(requests["sent_s"], requests[DUE]).alias("lateness_s")


def difference(after: pl.Series, before: pl.Series) -> pl.Series:
    """after - before. By numpy, whose memory is given back when it is freed; that of polars later."""
    if after.null_count() or before.null_count():
        return after - before
    return pl.Series(after.to_numpy() - before.to_numpy())


def ascending(after: pl.Series, before: pl.Series) -> pl.Series:
    """after - before in order: the second quantile of them and all further ones cost nothing."""
    if after.null_count() or before.null_count():
        return (after - before).sort()
    times = after.to_numpy() - before.to_numpy()
    times.sort()
    return pl.Series(times).set_sorted()
