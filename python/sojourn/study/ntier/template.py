"""The tiers of a site as one station, the cores that they share, with what each tier demands of them, measured at saturation.

Closed network: users think, then are served by `cores` servers in processor sharing (exact MVA of a multi-server station; E. D.
Lazowska et al., Quantitative System Performance (1984), chapters 6 and 8). The demand of a request is the CPU time of all tiers over
the requests; that of the client belongs to it where the client has no core of its own. Demands fall with the load, because hand-overs
between sleeping processes cost; so only the runs whose cores are nearly full are taken. Predictions have no interval: one from how
much the demands of those runs differ held 17 of 32 values at 95 %, because a layout with more cores errs beyond that.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import tomli_w

import sojourn as sj
from sojourn.errors import FitError
from sojourn.fit.fitted import ParameterEstimate
from sojourn.measure.run_folder import RunFolder
from sojourn.study.engine.fit_templates import RivalModels
from sojourn.study.mean_of_runs import estimate
from sojourn.system.bulletin_board import split_cores
from sojourn.table import Metrics

TIERS, CLIENT, CORES = ("nginx", "application"), "client", "cpu"
SATURATED = 0.95  # of the cores' time
FEWEST = 3
LEVEL = 0.95
NAME = "ntier"


def fit(runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
    """From the saturated ones among the runs.

    Raises:
        FitError: fewer than three of them are, or an option: it has none.
    """
    if options:
        raise FitError(f"fit.options: {next(iter(options))}", "[fit]", "leave it out: this template has none")
    seen = [found for run in runs if run.manifest["valid"] and (found := _demands_s(run))]
    if len(seen) < FEWEST:
        raise FitError(
            f"{len(seen)} valid runs with cores that are {SATURATED:.0%} busy", "[fit]", f"have {FEWEST} at least: more users"
        )  # fmt: skip
    return RivalModels({NAME: NtierModel({name: tuple(one[name] for one in seen) for name in (*TIERS, CLIENT)})}, NAME)


def read(path: Path) -> NtierModel:
    """From `write`."""
    return NtierModel({name: tuple(values) for name, values in tomllib.loads(path.read_text())["demands_s"].items()})


def _demands_s(run: RunFolder) -> dict[str, float] | None:
    """CPU time a request by tier, where the cores were full."""
    frame = run.frame("metrics")
    assert frame is not None  # a valid run has them
    rows = frame.filter(pl.col("class") == "", pl.col("metric").is_in(["utilisation", "service_demand"]))
    told = {
        (station, metric): value for station, metric, value in rows.select("station", "metric", "value").iter_rows()
    }
    if told.get((CORES, "utilisation"), 0.0) < SATURATED:
        return None
    return {name: told[name, "service_demand"] for name in (*TIERS, CLIENT)}


@dataclass(frozen=True)
class NtierModel:
    """`demands_s`: of each tier and of the client, a value a run."""

    demands_s: Mapping[str, Sequence[float]]
    level: float = LEVEL
    message: str = ""
    name: ClassVar[str] = NAME
    model_error: ClassVar[None] = None  # no configuration was left out: all runs have the same demands

    @property
    def estimates(self) -> dict[str, ParameterEstimate]:
        """Mean demands with the intervals of the means."""
        return {name: estimate(np.array(values), self.level) for name, values in self.demands_s.items()}

    def predict(self, vary: Mapping[str, Any], level: float = LEVEL) -> Metrics:
        """Throughput, response time, utilisation of the cores, and what they can complete at most; without intervals (see above)."""
        cores = int(vary["cores"])
        tiers, client = map(set, split_cores(cores))
        parts = [np.array(self.demands_s[name]) for name in (*TIERS, *((CLIENT,) if tiers & client else ()))]
        demand_s = float(np.sum(parts, axis=0).mean())
        x, r, u = _solved(demand_s, cores, vary)
        told = {"throughput": x, "response_time": r, "saturation_rate": cores / demand_s}
        rows = [{"metric": metric, "value": value, "status": "no_interval"} for metric, value in told.items()]
        return Metrics.of(
            [*rows, {"metric": "utilisation", "station": CORES, "value": u, "status": "no_interval"}], NAME
        )

    def write(self, path: Path) -> None:
        """A TOML file."""
        path.write_text(tomli_w.dumps({"model": NAME, "demands_s": {k: list(v) for k, v in self.demands_s.items()}}))


def _solved(demand_s: float, cores: int, factors: Mapping[str, Any]) -> tuple[float, float, float]:
    users = sj.Closed("user", int(factors["users"]), think_s=float(factors["think_s"]))
    model = sj.Model([sj.Queue(CORES, cores, discipline="ps")], [users], {CORES: {"user": demand_s}})
    found = sj.solve(model)
    return found.value("throughput"), found.value("response_time"), found.value("utilisation", CORES)
