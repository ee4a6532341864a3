"""What each tier of a site demanded in a run, and whether that depends on the load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import FitError
from sojourn.runs import Resource, RunFolder, busy_per_s, shares_by_ticks
from sojourn.units import percent
from sojourn_cases.ntier.load_dependence import LoadDependence, load_dependence

CLIENT, CORES, BACKGROUND = "client", "cpu", "background"
SIGNIFICANT = 0.05
LOAD = ("users", "think_s")


@dataclass(frozen=True)
class TierDemands:
    """`demands_s`: CPU time a request, of each tier and of the client; `utilisation` of the cores that the tiers share;
    `background_cores`: busy with neither, on the whole machine."""

    factors: Mapping[str, Any]
    per_s: float
    utilisation: float
    demands_s: Mapping[str, float]
    background_cores: float = 0.0

    @property
    def page_work_s(self) -> float:
        return float(self.factors["page_work_s"])

    @property
    def layout(self) -> str:
        """All factors but those of the load."""
        return repr({name: value for name, value in self.factors.items() if name not in LOAD})

    @property
    def path_s(self) -> float:
        """Of all tiers together, without the client."""
        return sum(value for name, value in self.demands_s.items() if name != CLIENT)


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
            "no CPU time of its tiers", str(run.path), "measure a system that tells it, such as kind bulletin"
        )
    return TierDemands(
        run.manifest["factors"], told["", "throughput"], told[CORES, "utilisation"],
        {name: told[name, "service_demand"] for name in names}, _background(run, names),
    )  # fmt: skip


def _background(run: RunFolder, names: Sequence[str]) -> float:
    """What the cores were busy with beside the tiers and the client in `names`; 0 where nothing tells it."""
    return background_cores(run, [Resource(**run.manifest["resources"][name]) for name in names]) or 0.0


def background_cores(run: RunFolder, resources: Iterable[Resource]) -> float | None:
    """How many cores the machine was busy with beside these, in the run's window: the recorder, the study itself, the kernel. None
    where nothing tells it, as in a simulated run."""
    host, window_s = run.frame("host"), run.manifest.get("window_s")
    if host is None or window_s is None or run.manifest.get("simulated"):
        return None
    busy = sum(float(share[0]) for share in shares_by_ticks(host, np.array(window_s)).values())
    counters = {key for one in resources for key in one.counters()}
    return max(0.0, busy - sum(value for key, value in busy_per_s(run).items() if key in counters))


def dependence(seen: Sequence[TierDemands], tier: str | None = None, seed: int = 1) -> LoadDependence:
    """Of the demand of a tier, or of all tiers together, on how busy the cores are.

    Raises:
        FitError: the runs are all as busy.
    """
    same: dict[str, list[float]] = {}
    for one in seen:
        same.setdefault(repr(one.factors), []).append(one.utilisation)
    values = [one.path_s if tier is None else one.demands_s[tier] for one in seen]
    return load_dependence(
        [one.layout for one in seen], [fmean(same[repr(one.factors)]) for one in seen], values, seed=seed
    )


def falls(told: LoadDependence) -> str:
    """In words."""
    change = told.change
    ends = f"{percent(change.low, 0, sign=True)} … {percent(change.high, 0, sign=True)}"
    how = f"{percent(change.value, 0, sign=True)} ({ends}) from idle cores to full ones"
    how += f", permutation test p = {told.p_value:.2g}, {told.runs} runs"
    if told.p_value < SIGNIFICANT and change.value < 0:
        return f"fixed demands do not hold: what a request takes of the tiers changes by {how}"
    return f"fixed demands are not refuted: what a request takes of the tiers changes by {how}"
