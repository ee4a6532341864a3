"""A model simulated as a source: each pass with its begin and end, and so the path of the number present.

Waiting times are known where there is one station that serves in order of arrival: with m servers the customer number k begins
when he has come and k - m + 1 of those before him have left. Rows of Metrics are those of `simulate` with the same seed and length.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import NoSuchRow, SourceRefused
from sojourn.measure.stationarity import warm_up
from sojourn.model import Model, Network
from sojourn.query.sources.path import PathSource
from sojourn.query.values import Array, Estimate, Law
from sojourn.simulate.engine_config import configuration, rate_bound
from sojourn.simulate.engine_runs import native
from sojourn.simulate.simulate import simulate
from sojourn.simulate.simulated_run import MOST_REQUESTS, REQUESTS
from sojourn.table import Metrics


class SimulatedSource(PathSource):
    """`until_s`: simulated time, by default that of about 100 000 passes."""

    def __init__(self, model: Model, name: str = "", seed: int = 1, until_s: float | None = None) -> None:
        network = model.network
        self.model, self.seed = model, seed
        self.until_s = until_s or REQUESTS / rate_bound(network)
        config = configuration(network, seed, 0, self.until_s, self.until_s)
        engine: Any = native(json.dumps(config | {"requests": MOST_REQUESTS, "engine": "events"}))
        engine.run(self.until_s, None, None)
        log = engine.requests()
        frame = pl.DataFrame({
            "begin_s": np.asarray(log["start_s"]), "end_s": np.asarray(log["end_s"]),
            "class": np.asarray(log["class"]), "failed": np.asarray(log["lost"], bool),
        }).sort("begin_s")  # fmt: skip
        super().__init__(
            name or model.name or "model",
            "simulated",
            frame,
            (_warm(frame), self.until_s),
            network.classes,
            _one(network),
        )

    @cached_property
    def metrics(self) -> Metrics:
        """Of a simulation of the same length."""
        return simulate(self.model, seed=self.seed, until_s=self.until_s)

    def measure(self, metric: str, station: str, cls: str) -> Estimate:
        try:
            value = self.metrics.value(metric, station, cls)
            low, high = self.metrics.interval(metric, station, cls)
        except NoSuchRow as error:
            raise SourceRefused(f"{metric}: {error.value}", f"simulated source {self.name}", error.remedy) from None
        return Estimate.known(value, low, high, self.until_s)

    def time(self, time: str, station: str, cls: str) -> Law:
        if time in ("waiting_time", "service_time") and self.station and station in ("", self.station[0]):
            own = self.own(self.served, cls).filter(pl.col("begin_s").is_between(*self.window))
            begin, served, end = (own[name].to_numpy() for name in ("begin_s", "served_s", "end_s"))
            none = np.zeros(len(begin), bool)
            return self.law(begin, served, none, time) if time == "waiting_time" else self.law(served, end, none, time)
        return super().time(time, station, cls)

    @cached_property
    def served(self) -> pl.DataFrame:
        """The requests that were answered, with when their service began."""
        network, kept = self.model.network, self.requests.filter(~pl.col("failed"))
        if network.discipline[0] != "fcfs":
            self.refuse("waiting_time", f"the discipline is {network.discipline[0]}, not fcfs: ask for response_time")
        came, left = kept["begin_s"].to_numpy(), kept["end_s"].to_numpy()
        return kept.with_columns(served_s=pl.Series(begins(came, left, int(network.servers[0]))))


def begins(came: Array, left: Array, servers: int) -> Array:
    """When each is served first, in order of arrival `came`: when he has come, and fewer than `servers` of those before him are there."""
    gone = np.sort(left)
    free = np.concatenate([np.full(servers, -np.inf), gone])[: len(came)]
    return np.maximum(came, free)


def _one(network: Network) -> tuple[str, int] | None:
    """The only station, where it is a queue that nobody passes twice."""
    once = len(network.stations) == 1 and network.kind[0] == "queue" and bool(np.all(network.visits[0] <= 1))
    return (network.stations[0], int(network.servers[0])) if once and not network.limits else None


def _warm(frame: pl.DataFrame) -> float:
    times = frame["end_s"].to_numpy() - frame["begin_s"].to_numpy()
    known = times[np.isfinite(times)]
    return float(frame["begin_s"][min(warm_up(known), frame.height - 1)]) if frame.height else 0.0
