"""When the requests of a run were due, sent and answered, in order of when they were due: the columns that its judgement needs and no
others, put in order one after the other, so that millions fit.

What follows from two of them (`response_s`) is computed when it is asked for, and not kept. Of requests in order a window is a part that
is not copied, and where none failed those that succeeded are all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from sojourn.runs.run_folder import RunFolder

DUE = "intended_s"


def request_times(folder: RunFolder) -> pl.DataFrame | None:
    """Columns `intended_s`, `sent_s`, `end_s` (kernel receive where there is one, else done), `done_s`, `failure` and, where the records
    have it, `class`, in order of `intended_s`. None without records. Raises as `RunFolder.frame` does."""
    found = folder.columns("requests", (DUE,))
    if found is None:
        return None
    order = None if found[DUE].is_sorted() else found[DUE].arg_sort()
    columns = [found[DUE] if order is None else found[DUE].gather(order)]
    del found
    for names in (("sent_s",), ("received_s", "done_s"), ("failure",), ("class",)):
        part = folder.columns("requests", names)
        assert part is not None, "there a moment ago"
        if names[0] == "received_s":
            part = part.select(end(), "done_s")
        columns += [one if order is None else one.gather(order) for one in part.get_columns()]
    return pl.DataFrame([columns[0].set_sorted(), *columns[1:]])


def end() -> pl.Expr:
    """When a request had its answer: by the kernel where it says so, else when it had been read; as `end_s`."""
    received = pl.col("received_s")
    return pl.when(received.is_nan()).then(pl.col("done_s")).otherwise(received).alias("end_s")


def in_window(requests: pl.DataFrame, window: tuple[float, float]) -> pl.DataFrame:
    """Requests whose intended time lies in the window."""
    due = requests[DUE]
    if not due.flags["SORTED_ASC"]:
        return requests.filter(pl.col(DUE).is_between(*window))
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
    return (requests["end_s"] - requests[DUE]).alias("response_s")


def service_response_s(requests: pl.DataFrame) -> pl.Series:
    """From when it was sent to its answer."""
    return (requests["end_s"] - requests["sent_s"]).alias("service_response_s")


def lateness_s(requests: pl.DataFrame) -> pl.Series:
    """From when it was due to when it was sent."""
    return (requests["sent_s"] - requests[DUE]).alias("lateness_s")
