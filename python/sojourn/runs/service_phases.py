"""When each request came to a service, when its service began and when it ended, by the service's own account (`app.parquet`)."""

from __future__ import annotations

import polars as pl

from sojourn.runs.manifest import Manifest

WAITING_PAGE = "wait"  # of the web shop: served by its backend, not in its turn on the thread


def service_phases(app: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """came_s (NaN where it is not known), begin_s, end_s, in order of begin_s; s of the record's clock.

    A request is in service in its turn on a thread. Of the web shop's waiting page the turn only hands it to the backend, whose
    service took `drawn_s` and ended with the answer; that begins late by the wake-up of the thread that answers.
    """
    pages = manifest.get("records", {}).get("app", {}).get("pages", [])
    turn, end = pl.col("start_s"), pl.col("end_s")
    begin = turn
    if WAITING_PAGE in pages and {"page", "drawn_s"} <= set(app.columns):
        waits = pl.col("page") == pages.index(WAITING_PAGE)
        begin = pl.when(waits).then(pl.max_horizontal(turn, end - pl.col("drawn_s"))).otherwise(turn)
    return app.select(came_s="received_s", begin_s=begin, end_s="end_s").sort("begin_s")
