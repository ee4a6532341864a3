"""What each tier of a site demanded in a run, and what the machine was busy with beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import FitError
from sojourn.runs import MeasuredResource, RunFolder, busy_per_s, shares_by_ticks

CLIENT, CORES, BACKGROUND = "client", "cpu", "background"
LOAD = ("users", "think_s")


@dataclass(frozen=True)
class TierDemands:
    """`demands_s`: CPU time a request, of each tier and of the client; `utilisation` of the cores that the tiers share."""

    factors: Mapping[str, Any]
    per_s: float
    utilisation: float
    demands_s: Mapping[str, float]

    @property
    def page_work_s(self) -> float:
        return float(self.factors["page_work_s"])

    @property
    def layout(self) -> str:
        """All factors but those of the load."""
        return repr({name: value for name, value in self.factors.items() if name not in LOAD})


def tier_demands(run: RunFolder) -> TierDemands:
    """Of a valid run.

    Raises:
        FitError: a run in which no CPU time of the tiers was measured.
    """
    frame = run.frame("metrics")
    assert frame is not None  # a valid run has them
    rows = frame.filter(pl.col("class") == "", pl.col("q").is_null()).select("station", "metric", "value")
    told = {(station, metric): value for station, metric, value in rows.iter_rows()}
    resources = run.manifest["resources"]
    names = [
        name
        for name in resources
        if name != CORES and (name, "service_demand") in told and "disk" not in (resources[name] or ())
    ]
    if (CORES, "utilisation") not in told or not set(names) - {CLIENT}:
        raise FitError(
            "no CPU time of its tiers", str(run.path), "measure a system that reports it, such as kind bulletin"
        )
    return TierDemands(
        run.manifest["factors"], told["", "throughput"], told[CORES, "utilisation"],
        {name: told[name, "service_demand"] for name in names},
    )  # fmt: skip


def background_cores(run: RunFolder, resources: Iterable[MeasuredResource]) -> float | None:
    """How many cores the machine was busy with beside these, in the run's window: the recorder, the study itself, the kernel. None
    where nothing tells it, as in a simulated run."""
    host, window_s = run.frame("host"), run.manifest.get("window_s")
    if host is None or window_s is None or run.manifest.get("simulated"):
        return None
    busy = sum(float(share[0]) for share in shares_by_ticks(host, np.array(window_s)).values())
    counters = {key for one in resources for key in one.counters()}
    return max(0.0, busy - sum(value for key, value in busy_per_s(run).items() if key in counters))
