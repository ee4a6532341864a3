"""The models of the memcached middleware as a template of `[fit]`: by configuration, from the client counts that were fitted.

Rivals: a closed network of queues with constant times, and the same machine as a network of cores (of cores that all threads
share, where processes keep to none). A configuration needs two client counts at least; mixed loads have no model. Response
time is a client's cycle N/X less what the client takes to read, which is measured. Intervals: each fitted client count between
the fewest and the most is left out once and predicted; the root mean square of those errors is `model_error`, and an interval is
the value times exp(± z error). None where there was nothing to leave out.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import tomli_w
from scipy.special import ndtri

from sojourn.errors import FitError, InputError, StudyError
from sojourn.fit.fitted import Estimate
from sojourn.measure.folder import RunFolder
from sojourn.study.engine.templates import Rivals
from sojourn.study.kv.models import (
    Limits,
    Prediction,
    Shape,
    Times,
    closed_network,
    fit_times,
    limits_of,
    placed_cores,
    shared_cores,
)
from sojourn.system.kv import CONFIGURATION, configurations, frame, name_of
from sojourn.system.kv.affinity import assigned
from sojourn.table import Metrics

NETWORK, SHARED, PLACED = "network of queues", "with shared cores", "with cores as placed"
LEVEL = 0.95
LEAST = 2  # client counts
WHY = {
    PLACED: "taken for the best because it knows which processes share a core",
    SHARED: "taken for the best because it knows that threads share the cores",
}
SAID = (
    "Times are means for an operation: network and worker at the fewest clients, the others over all fitted runs, each client "
    "count a stratum; no interval where there is one run."
)


@dataclass(frozen=True)
class FittedConfiguration:
    """One configuration: its factors, its times, what limits its hosts, the cores that it ran on."""

    factors: dict[str, Any]
    times: Times
    limits: Limits
    cores: tuple[int, ...]

    def predict(self, model: str, clients: int) -> Prediction:
        """Throughput with so many clients, within the limits of the hosts."""
        shape, times = shape_of(self.factors), self.times
        if model == NETWORK:
            free = closed_network(times, shape, clients)
        elif model == SHARED:
            free = shared_cores(times, shape, clients, len(self.cores))
        else:
            free = placed_cores(times, shape, clients, assigned(self.cores, shape.servers, shape.proxies))
        return self.limits.on(free, times)


@dataclass(frozen=True)
class FittedKv:
    """One rival."""

    model: str
    configurations: tuple[FittedConfiguration, ...]
    model_error: float
    level: float = LEVEL
    message: str = SAID
    error_of: ClassVar[str] = "throughput, from client counts left out"

    @property
    def estimates(self) -> dict[str, Estimate]:
        """By configuration and time, s: those that this model takes."""
        return {
            f"{name_of(one.factors)}: {what}": e
            for one in self.configurations
            for what, e in times_of(self.model, one.times).items()
        }

    @cached_property
    def _by_name(self) -> dict[str, FittedConfiguration]:
        return {name_of(one.factors): one for one in self.configurations}

    def predict(self, vary: Mapping[str, Any], level: float) -> Metrics:
        """Throughput, response time and utilisations at a point; nothing of a configuration that was not fitted."""
        one = self._by_name.get(name_of(dict(vary)))
        if one is None:
            return Metrics.of([])
        clients = int(vary["clients"])
        found = one.predict(self.model, clients)
        wide = math.exp(float(ndtri((1 + level) / 2)) * self.model_error)
        own_s = min(one.times.at("own_s", clients), found.cycle_s)
        values = {"throughput": [found.throughput_per_s * f for f in (1, 1 / wide, wide)],
                  "response_time": [max(found.cycle_s * f - own_s, 0.0) for f in (1, 1 / wide, wide)]}  # fmt: skip
        rows = [
            {
                "metric": metric,
                "value": v,
                **({"low": low, "high": high, "level": level} if wide > 1 else {"status": "no_interval"}),
            }
            for metric, (v, low, high) in values.items()
        ]
        used = [{"metric": "utilisation", "station": s, "value": u} for s, u in found.utilisation.items()]
        return Metrics.of([*rows, *used], self.model)

    def write(self, path: Path) -> None:
        """`[fit]`, a configuration a line."""
        head = {"model": self.model, "level": self.level, "model_error": self.model_error, "message": self.message,
                "configurations": [json.dumps(asdict(one)) for one in self.configurations]}  # fmt: skip
        path.write_text(tomli_w.dumps({"fit": head}), encoding="utf-8")


class KvTemplate:
    """`[fit] model = "kv"`; it has no options."""

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> Rivals:
        """
        Raises:
            FitError: no configuration has two client counts.
        """
        if options:
            raise StudyError(f"fit.options: {next(iter(options))}", "[fit]", "leave it out: this template has none")
        rows = frame(runs).filter("valid")
        cores = tuple(next((run.manifest["kv"]["cores"] for run in runs if "cores" in run.manifest["kv"]), (0,)))
        parts = [own for _, own in configurations(rows) if _is_enough(own)]
        if not parts:
            remedy = "give a section two clients at least that are not held out"
            raise FitError("no configuration with two client counts", "kv", remedy)
        best = PLACED if all(own["pinned"].all() for own in parts) else SHARED
        found = tuple(_fit(own, cores) for own in parts)
        names = (best, NETWORK)
        fitted = {name: FittedKv(name, found, _error(name, parts, cores)) for name in names}
        return Rivals(fitted, best, WHY[best])

    def read(self, path: Path) -> FittedKv:
        """
        Raises:
            InputError: it is none.
        """
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))["fit"]
            found = tuple(_read(json.loads(line)) for line in table["configurations"])
            return FittedKv(table["model"], found, table["model_error"], table["level"], table["message"])
        except (OSError, tomllib.TOMLDecodeError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"not a fitted model ({error})", path, "fit again; the file was changed by hand?"
            ) from None


TEMPLATE = KvTemplate()


def shape_of(factors: Mapping[str, Any]) -> Shape:
    """Sets go to every server where there is a middleware."""
    to_all = factors["workload"] == "set" and factors["proxies"] > 0
    return Shape(factors["servers"], factors["proxies"], factors["workers"], to_all)


NAMED = {"net_s": "net thread", "server_cpu_s": "server"}
CPU = {
    "client_cpu_s": "client, CPU",
    "net_cpu_s": "net thread, CPU",
    "worker_cpu_s": "workers, CPU",
    "server_cpu_s": "server, CPU",
}


def times_of(model: str, times: Times) -> dict[str, Estimate]:
    """The times that a model takes, by what they are of."""
    if model != NETWORK:
        return {what: times.means[name] for name, what in CPU.items() if name in times.means}
    found = {"network": times.network_s, **{what: times.means[n] for n, what in NAMED.items() if n in times.means}}
    return found | ({"held": times.held_s} if times.held_s is not None else {})


def _is_enough(own: pl.DataFrame) -> bool:
    return own["clients"].n_unique() >= LEAST and own["workload"][0] != "mixed"


def _fit(own: pl.DataFrame, cores: tuple[int, ...]) -> FittedConfiguration:
    return FittedConfiguration(own.select(*CONFIGURATION).row(0, named=True), fit_times(own), limits_of(own), cores)


def _error(model: str, parts: list[pl.DataFrame], cores: tuple[int, ...]) -> float:
    """Root mean square of the logarithms of predicted over measured throughput at client counts left out; 0 where none was."""
    found = []
    for own in parts:
        for clients in own["clients"].unique().sort().to_list()[1:-1]:
            here = pl.col("clients") == clients
            predicted = _fit(own.filter(~here), cores).predict(model, clients).throughput_per_s
            found.append(math.log(predicted / float(own.filter(here)["throughput_per_s"].mean())))  # type: ignore[arg-type]
    return float(np.sqrt(np.mean(np.square(found)))) if found else 0.0


def _read(one: dict[str, Any]) -> FittedConfiguration:
    def mean(values: list[float]) -> Estimate:
        return Estimate(*values)

    given = one["times"]
    times = Times(**given | {
        "network_s": mean(given["network_s"]), "light_service_s": mean(given["light_service_s"]),
        "means": {name: mean(values) for name, values in given["means"].items()},
        "curves": {name: (tuple(x), tuple(y)) for name, (x, y) in given["curves"].items()},
        "held_s": mean(given["held_s"]) if given["held_s"] else None,
    })  # fmt: skip
    return FittedConfiguration(one["factors"], times, Limits(**one["limits"]), tuple(one["cores"]))
