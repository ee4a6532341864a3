"""A model simulated as a source: each pass with its begin and end, and so the path of the number present.

Rows of Metrics are those of `simulate` with the same seed and length; utilisation of the only station is that of the path.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import NoSuchRow, SourceRefused
from sojourn.model import Model
from sojourn.query.sources.path import PathSource
from sojourn.query.sources.station import only_station
from sojourn.query.values import Estimate
from sojourn.simulate.engine_config import configuration, rate_bound
from sojourn.simulate.engine_runs import native
from sojourn.simulate.simulate import simulate
from sojourn.simulate.simulated_run import MOST_REQUESTS, REQUESTS
from sojourn.solve.solve import settled_network
from sojourn.stats.stationarity import warm_up
from sojourn.table import Metrics


class SimulatedSource(PathSource):
    """`until_s`: simulated time, by default that of about 100 000 passes."""

    def __init__(self, model: Model, name: str = "", seed: int = 1, until_s: float | None = None) -> None:
        network = settled_network(model)
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
            only_station(network),
        )

    @cached_property
    def metrics(self) -> Metrics:
        """Of a simulation of the same length."""
        return simulate(self.model, seed=self.seed, until_s=self.until_s)

    def measure(self, metric: str, station: str, cls: str) -> Estimate:
        if metric == "utilisation" and self.station and station == self.station.name and not cls:
            return self.utilisation()
        try:
            value = self.metrics.value(metric, station, cls)
            low, high = self.metrics.interval(metric, station, cls)
            endless = self.metrics.where(metric=metric, station=station, **{"class": cls}).frame["status"].to_list()
            if endless == ["no_moment"]:
                raise SourceRefused(
                    f"{metric} is infinite", f"simulated source {self.name}", "ask for a quantile of response"
                )
        except NoSuchRow as error:
            raise SourceRefused(f"{metric}: {error.value}", f"simulated source {self.name}", error.remedy) from None
        return Estimate.known(value, low, high, self.until_s)


def _warm(frame: pl.DataFrame) -> float:
    times = frame["end_s"].to_numpy() - frame["begin_s"].to_numpy()
    known = times[np.isfinite(times)]
    return float(frame["begin_s"][min(warm_up(known), frame.height - 1)]) if frame.height else 0.0
