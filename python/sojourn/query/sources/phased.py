"""A run folder whose service recorded its own times (`app.parquet`): the number at the service, and in service, beside the number that
clients have under way.

    came_s … begin_s … end_s      at the service: n(app); of these in service: busy(app)

A state is then the number present of each class, n(app) and busy(app), each exact by its own stamps. A request is on its way for a
while, so that n(app) is a little smaller than n(); on loopback an answer can be stamped by the client before `send` has returned
to the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from sojourn.measure.service_phases import WAITING_PAGE, service_phases
from sojourn.query.nodes import StateFunction
from sojourn.query.sources.measured import APP, MeasuredSource
from sojourn.query.values import Array, Estimate


class PhaseTimesSource(MeasuredSource):
    """Of a measured source with `app.parquet`."""

    @staticmethod
    def of(source: MeasuredSource) -> PhaseTimesSource:
        """The same run and window. Raises SourceRefused: no phase times."""
        app = source.folder.frame("app")
        if app is None:
            source.refuse(
                f"states of station {APP}", "record phase times (app.parquet), or ask for n(), of the whole system"
            )
        found = PhaseTimesSource.__new__(PhaseTimesSource)
        found.__dict__.update({name: value for name, value in source.__dict__.items() if name not in source.OF_WINDOW})
        found.app = app
        return found

    app: pl.DataFrame

    @cached_property
    def phases(self) -> pl.DataFrame:
        """came_s, begin_s, end_s; one that came before the kernel stamped is there from its begin. SourceRefused: not of every request."""
        if "weight" in self.app.columns and (self.app["weight"] > 1).any():
            self.refuse(f"states of station {APP}", "not each of its requests is recorded: measure with fewer")
        found = service_phases(self.app, self.folder.manifest)
        return found.with_columns(came_s=pl.col("came_s").fill_nan(None).fill_null(pl.col("begin_s")))

    def _stays(self) -> list[tuple[Array, Array]]:
        came, begin, end = (self.phases[name].to_numpy() for name in ("came_s", "begin_s", "end_s"))
        return [*super()._stays(), (np.minimum(came, begin), end), (begin, end)]

    def present_in(self, states: Array) -> Array:
        return super().present_in(states[:, :-2])

    def states(self, function: StateFunction) -> Array:
        if function.station != APP:
            return super().states(function)
        if function.cls:
            self.refuse(f"{function.function}({APP}, {function.cls})", "its record has no classes: ask for all")
        found: Array = self.table[0][:, -1 if function.function == "busy" else -2]
        return found

    def utilisation(self) -> Estimate:
        """Busy servers of the service by how many it has."""
        servers = servers_of(self.folder.manifest, self.app)
        if not servers:
            self.refuse(
                f"utilisation of station {APP}", f"it does not say how many servers it has: ask for mean(busy({APP}))"
            )
        busy = self.states(StateFunction("busy", APP)) / servers
        return self.distribution(busy, None).moment(1)


def servers_of(manifest: Mapping[str, Any], app: pl.DataFrame) -> int | None:
    """Threads that serve pages, or the servers behind the waiting page; None where both were used, the number could be changed, or the
    record does not say."""
    about = manifest.get("records", {}).get("app", {})
    config, pages = about.get("config", {}), about.get("pages", [])
    waits = (
        app["page"] == pages.index(WAITING_PAGE)
        if WAITING_PAGE in pages and "page" in app.columns
        else pl.Series([False])
    )
    if waits.any():
        backend = config.get("backend") or {}
        return backend.get("safe", {}).get("workers") if waits.all() and not backend.get("control") else None
    cores, threads = config.get("cores"), config.get("threads_per_core")
    return len(cores) * int(threads) if cores and threads else None
