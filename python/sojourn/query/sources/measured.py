"""A run folder as a source, measured or simulated: its window after the warm-up, `requests.parquet` and the record of its host.

Times end as in the folder's Metrics: with the kernel's receive where there is one. A request that failed is later than all.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
import polars as pl

from sojourn.errors import NoSuchRow, RunFolderError, SourceRefused
from sojourn.model import Model
from sojourn.query.nodes import StateFunction
from sojourn.query.sources.path import PathSource
from sojourn.query.sources.ranked_times import RankedTimes
from sojourn.query.sources.rows import RowSource
from sojourn.query.sources.source import Source
from sojourn.query.sources.station import Station, only_station
from sojourn.query.values import Array, Estimate, Flags, Law
from sojourn.runs.core_utilisation import busy_shares, softirq_shares
from sojourn.runs.manifest import Manifest
from sojourn.runs.measurement_window import choose_window
from sojourn.runs.request_times import DUE, end, in_window, request_times
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_metrics import run_metrics
from sojourn.runs.service_phases import WAITING_PAGE, service_phases
from sojourn.stats.batch_means import batch_interval
from sojourn.table import Metrics
from sojourn.units import USUAL_LEVEL

CORE_BATCHES = 20
APP = "app"  # the service by its own account


class MeasuredSource(PathSource):
    """Raises RunFolderError for a folder without requests."""

    # what is kept of a window
    OF_WINDOW = ("edges", "served", "path", "table", "pieces", "metrics", "phases", "responses_law")

    whole: MeasuredSource | None = None  # of a window: what it is a window of

    def __init__(self, folder: RunFolder) -> None:
        first = next(folder.parts("requests", (DUE,)), None)
        if first is None or first.is_empty():
            found = "no requests" if first is None else "the run sent no requests"
            raise RunFolderError(found, str(folder.path), "give a folder with requests.parquet that has some")
        self.folder, self.name = folder, folder.path.name
        start, end = folder.manifest.get("window_s") or choose_window(folder, self.responses)[0]
        if folder.sample_every > 1:
            remedy = "measure with fewer requests, so that each is recorded"
            raise RunFolderError(f"one request of {folder.sample_every} is recorded", str(folder.path), remedy)
        self.window = float(start), float(end)
        self.classes = list(folder.manifest.get("records", {}).get("requests", {}).get("classes", []))
        self.kind = "simulated" if folder.manifest.get("simulated") else "measured"
        self.station = _station(folder)

    @cached_property
    def responses(self) -> pl.DataFrame:
        """The requests as Metrics are made of them."""
        return self.whole.responses if self.whole else self._read(("sent_s", "end_s", "failure", "class"))

    @cached_property
    def requests(self) -> pl.DataFrame:  # type: ignore[override]
        known = "responses" in self.__dict__
        return _of_path(self.responses if known else self._read(("end_s", "failure", "class")))

    @cached_property
    def responses_law(self) -> RankedTimes:
        if "requests" in self.__dict__:
            return super().responses_law
        return self.law_of(self._between(DUE, "end_s"), "response_time")

    def frames(self, ends: bool = True) -> Iterable[pl.DataFrame]:
        """Where the requests were not needed as a whole, some at a time."""
        if "requests" in self.__dict__:
            return super().frames()
        wanted = (DUE, "failure", "class", *(("received_s", "done_s") if ends else ()))
        return map(_of_path, self.folder.parts("requests", wanted))

    def _read(self, wanted: Sequence[str]) -> pl.DataFrame:
        found = request_times(self.folder, wanted)
        assert found is not None, "there when it was opened"
        return found

    @cached_property
    def metrics(self) -> Metrics:
        """The folder's Metrics, made from its records."""
        return run_metrics(self.folder, self.responses, self.folder.frame("host"), self.window)

    def time(self, time: str, station: str, cls: str) -> Law:
        if not cls and (time, station) == ("response_time", "service"):
            return self.law_of(self._between("sent_s", "end_s"), time)
        if not cls and (time, station) == ("waiting_time", "client"):
            return self.law_of(self._between(DUE, "sent_s"), time)
        app = self.folder.frame("app")
        if (
            not cls
            and station in ("", APP)
            and time in ("waiting_time", "service_time")
            and not (app is None and self.station)
        ):
            if app is None:
                self.refuse(time, "record the service's own times (app.parquet), or ask for response_time")
            first, last = ("came_s", "begin_s") if time == "waiting_time" else ("begin_s", "end_s")
            app = service_phases(app, self.folder.manifest).filter(pl.col("begin_s").is_between(*self.window))
            app = app.drop_nans([first, last]).drop_nulls([first, last])
            return self.law_of([(app[first].to_numpy(), app[last].to_numpy(), np.zeros(app.height, bool))], time)
        return super().time(time, station, cls)

    def _between(self, first: str, last: str) -> Iterator[tuple[Array, Array, Flags]]:
        """Two times of the requests in the window, and whether each failed until the last; read some at a time."""
        wanted = {DUE, first, "failure", *(("received_s", "done_s") if last == "end_s" else (last,))}
        parts = [self.responses] if self.whole else self.folder.parts("requests", wanted)
        for part in parts:
            own = in_window(part, self.window)
            own = own.with_columns(end()) if "received_s" in own.columns else own
            failed = own["failure"].to_numpy() > 0 if last == "end_s" else np.zeros(own.height, bool)
            yield own[first].to_numpy(), own[last].to_numpy(), failed

    @property
    def stations(self) -> list[str]:
        return super().stations or [APP] * (self.folder.frame(APP) is not None)

    def with_states_of(self, stations: Collection[str]) -> Source:
        return PhaseTimesSource.of(self) if APP in stations and self.folder.frame(APP) is not None else self

    def windows(self, length_s: float) -> Iterator[Source]:
        for part in super().windows(length_s):
            assert isinstance(part, PathSource)
            own = copy.copy(self)
            for name in self.OF_WINDOW:
                own.__dict__.pop(name, None)
            own.window, own.inside, own.whole = part.window, part.inside, self.whole or self
            yield own

    def measure(self, metric: str, station: str, cls: str) -> Estimate:
        if (metric, station, cls) == ("utilisation", APP, ""):
            return PhaseTimesSource.of(self).utilisation()
        if metric == "utilisation" and self.station and station == self.station.name and not cls:
            return self.utilisation()
        if metric in ("utilisation", "softirq_utilisation") and station.startswith("core ") and not cls:
            return self._core(metric, station)
        try:
            value = self.metrics.value(metric, station, cls)
            low, high = self.metrics.interval(metric, station, cls)
        except NoSuchRow as error:
            return self._stored(metric, station, cls, error)
        if metric == "queue_length" and not station:
            from sojourn.query.nodes import StateFunction

            return self.distribution(self.states(StateFunction("n", "", cls)), None).moment(1)
        return Estimate.known(value, low, high, self.spent_s)

    def _stored(self, metric: str, station: str, cls: str, error: NoSuchRow) -> Estimate:
        """From the folder's own table, which has rows that only its study knows how to make: of tiers, of a disk."""
        stored = self.folder.frame("metrics")
        if stored is not None:
            return RowSource(Metrics(stored), self.name).measure(metric, station, cls)
        raise SourceRefused(f"{metric}: {error.value}", f"{self.kind} source {self.name}", error.remedy)

    def _core(self, metric: str, station: str) -> Estimate:
        """By batches of the window."""
        host = self.folder.frame("host")
        edges = np.linspace(*self.window, CORE_BATCHES + 1)
        name = station.removeprefix("core ")
        if host is None:
            self.refuse(f"{metric} of {station}", "measure with host metrics (host.parquet)")
        shares = (
            busy_shares(host, self.folder.manifest, edges) if metric == "utilisation" else softirq_shares(host, edges)
        )
        if not name.isdigit() or int(name) not in shares:
            known = ", ".join(f"core {one}" for one in sorted(shares)) or "none was watched"
            self.refuse(f"{metric} of {station}", f"the recorded cores are: {known}")
        mean, low, high = batch_interval(
            shares[int(name)][:, None].repeat(2, axis=1).ravel(), USUAL_LEVEL, CORE_BATCHES
        )
        return Estimate.known(mean, low, high, self.spent_s)


def _of_path(requests: pl.DataFrame) -> pl.DataFrame:
    """With the columns that `PathSource` takes."""
    kind = pl.col("class") if "class" in requests.columns else pl.lit(0, pl.UInt8).alias("class")
    ended = [end()] if "received_s" in requests.columns else ["end_s"] * ("end_s" in requests.columns)
    return requests.select(kind, *ended, begin_s=DUE, failed=pl.col("failure") > 0)


def _station(folder: RunFolder) -> Station | None:
    """The only station of the model that a simulated run is of."""
    text = folder.manifest.get("model")
    if not folder.manifest.get("simulated") or not isinstance(text, str):
        return None
    return only_station(Model.parse(text, f"{folder.path}/manifest.json model").network)


class PhaseTimesSource(MeasuredSource):
    """Of a measured source with `app.parquet`, whose service recorded its own times: the number at the service, and in service, beside
    the number that clients have under way.

        came_s … begin_s … end_s      at the service: n(app); of these in service: busy(app)

    A state is then the number present of each class, n(app) and busy(app), each exact by its own stamps. A request is on its way for a
    while, so that n(app) is a little smaller than n(); on loopback an answer can be stamped by the client before `send` has returned
    to the service.
    """

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
            self.refuse(f"states of station {APP}", "only some of its requests are recorded: measure with fewer")
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
            self.refuse(f"{function.function}({APP}, {function.cls})", "its record has no classes: leave the class out")
        found: Array = self.pieces.states[:, -1 if function.function == "busy" else -2]
        return found

    def utilisation(self) -> Estimate:
        """Busy servers of the service by how many it has."""
        servers = servers_of(self.folder.manifest, self.app)
        if not servers:
            self.refuse(f"utilisation of station {APP}", f"its number of servers is unknown: ask for mean(busy({APP}))")
        busy = self.states(StateFunction("busy", APP)) / servers
        return self.distribution(busy, None).moment(1)


def servers_of(manifest: Manifest, app: pl.DataFrame) -> int | None:
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
