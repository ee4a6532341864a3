"""The closed network of queues with constant times, each configuration by itself: it says nothing of one that was not fitted.

On systems with known times its times are recovered with their intervals (`study.recovery`). Intervals of predictions: each fitted
client count between the fewest and the most is left out once and predicted; the root mean square of those errors is
`model_error`, and an interval is the value times exp(± z error). None where there was nothing to leave out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import tomli_w
from scipy.special import ndtri

from sojourn import Metrics
from sojourn.files import parse_json, write_output
from sojourn.fit import FittedDefaults, ParameterEstimate
from sojourn_cases.kv.fitted_models import LEVEL
from sojourn_cases.kv.middleware import CONFIGURATION, configurations, name_of
from sojourn_cases.kv.models import InstrumentedTimes, MeanValues, closed_network, fit_times, shape_of

NETWORK = "network of queues"
LEAST = 2  # client counts
SAID = (
    "Times are means for an operation: network and worker at the fewest clients, the others over all fitted runs, each client "
    "count a stratum; no interval where there is one run."
)
NAMED = {"net_s": "net thread", "server_cpu_s": "server"}


@dataclass(frozen=True)
class FittedConfiguration:
    """One configuration: its factors, its times."""

    factors: dict[str, Any]
    times: InstrumentedTimes

    def predict(self, clients: int) -> MeanValues:
        """Throughput with so many clients."""
        return closed_network(self.times, shape_of(self.factors), clients)

    @property
    def estimates(self) -> dict[str, ParameterEstimate]:
        """Its times, by what they are of."""
        times = self.times
        found = {"network": times.network_s, **{what: times.means[n] for n, what in NAMED.items() if n in times.means}}
        return found | ({"held": times.held_s} if times.held_s is not None else {})


@dataclass(frozen=True)
class FittedQueueNetwork(FittedDefaults):
    """All configurations that have two client counts."""

    configurations: tuple[FittedConfiguration, ...]
    model_error: float
    level: float = LEVEL
    message: str = SAID
    error_of: ClassVar[str] = "throughput, from client counts left out"
    model: ClassVar[str] = NETWORK

    @property
    def estimates(self) -> dict[str, ParameterEstimate]:
        """By configuration and time, s."""
        return {
            f"{name_of(one.factors)}: {what}": e for one in self.configurations for what, e in one.estimates.items()
        }

    @cached_property
    def _by_name(self) -> dict[str, FittedConfiguration]:
        return {name_of(one.factors): one for one in self.configurations}

    def predict(self, vary: Mapping[str, Any], level: float) -> Metrics:
        """Throughput, response time and utilisations at a point; nothing of a configuration that was not fitted."""
        one = self._by_name.get(name_of(dict(vary)))
        if one is None:
            return Metrics.of([])
        found = one.predict(int(vary["clients"]))
        wide = math.exp(float(ndtri((1 + level) / 2)) * self.model_error)
        known = {"throughput": found.throughput_per_s, "response_time": found.cycle_s}
        rows = [
            {"metric": metric, "value": v}
            | ({"low": v / wide, "high": v * wide, "level": level} if wide > 1 else {"status": "no_interval"})
            for metric, v in known.items()
        ]
        used = [{"metric": "utilisation", "station": s, "value": u} for s, u in found.utilisation.items()]
        return Metrics.of([*rows, *used], self.model)

    def write(self, path: Path) -> None:
        """`[fit]`, a configuration a line."""
        head = {"model": self.model, "level": self.level, "model_error": self.model_error, "message": self.message,
                "configurations": [json.dumps(asdict(one)) for one in self.configurations]}  # fmt: skip
        write_output(path, tomli_w.dumps({"fit": head}))


def fit_network(rows: pl.DataFrame) -> FittedQueueNetwork | None:
    """None where no configuration has two client counts."""
    parts = [own for _, own in configurations(rows) if own["clients"].n_unique() >= LEAST]
    parts = [own for own in parts if own["workload"][0] != "mixed"]
    return FittedQueueNetwork(tuple(map(_fit, parts)), _error(parts)) if parts else None


def _fit(own: pl.DataFrame) -> FittedConfiguration:
    return FittedConfiguration(own.select(*CONFIGURATION).row(0, named=True), fit_times(own))


def _error(parts: list[pl.DataFrame]) -> float:
    """Root mean square of the logarithms of predicted over measured throughput at client counts left out; 0 where none was."""
    found = []
    for own in parts:
        for clients in own["clients"].unique().sort().to_list()[1:-1]:
            here = pl.col("clients") == clients
            predicted = _fit(own.filter(~here)).predict(clients).throughput_per_s
            found.append(math.log(predicted / float(own.filter(here)["throughput_per_s"].mean())))  # type: ignore[arg-type]
    return float(np.sqrt(np.mean(np.square(found)))) if found else 0.0


def read_network(table: Mapping[str, Any]) -> FittedQueueNetwork:
    """From `[fit]` of what `write` wrote."""
    found = tuple(_read(parse_json(line)) for line in table["configurations"])
    return FittedQueueNetwork(found, table["model_error"], table["level"], table["message"])


def _read(one: dict[str, Any]) -> FittedConfiguration:
    given = one["times"]
    times = InstrumentedTimes(**given | {
        "network_s": ParameterEstimate(*given["network_s"]), "light_service_s": ParameterEstimate(*given["light_service_s"]),
        "means": {name: ParameterEstimate(*values) for name, values in given["means"].items()},
        "held_s": ParameterEstimate(*given["held_s"]) if given["held_s"] else None,
    })  # fmt: skip
    return FittedConfiguration(one["factors"], times)
