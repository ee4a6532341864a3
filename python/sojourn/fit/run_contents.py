"""What a fit reads of a run folder beside its means: how long it was, what its resources did, and how its responses vary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from sojourn.fit.meter_errors import INTERRUPTS
from sojourn.runs.request_times import answered_s
from sojourn.runs.run_folder import RunFolder

LEAST_REQUESTS = 100  # for a variance
CPU = ("cpu", "processes", "process", "cgroup", "cores")  # resources that tell CPU time, the first that is there


def load_levels(manifest: Mapping[str, Any]) -> dict[str, float]:
    """The level of a load that was not made as one of several (`sojourn load`): its rate, 1/s, or its users and their mean think time, s,
    over all its threads. {} where threads differ in more than that, or a think time has no mean."""
    lanes = (manifest.get("load") or {}).get("lanes") or []
    rates = [(lane.get("arrivals") or {}).get("rate_per_s") for lane in lanes]
    if lanes and None not in rates:
        return {"rate_per_s": sum(float(rate) for rate in rates if rate is not None)}
    closed = [lane.get("closed") or {} for lane in lanes]
    thinks = [lane.get("think") or {"mean": 0.0} for lane in closed]
    if (
        not lanes
        or not all("users" in lane for lane in closed)
        or thinks[0].get("mean") is None
        or thinks != thinks[:1] * len(lanes)
    ):
        return {}
    think_s = float(thinks[0]["mean"])
    return {"users": sum(int(lane["users"]) for lane in closed)} | ({"think_s": think_s} if think_s else {})


def cpu_resource(names: Iterable[str]) -> str:
    """The first that tells CPU time; "" where none does."""
    told = list(names)
    return next((r for start in CPU for r in told if r == start or r.startswith(f"{start} ")), "")


def cores_told(resources: Mapping[str, Any]) -> int:
    """The cores of a window that was observed, by the capacity of what tells CPU time; 0 where nobody said: 1 is what is taken then."""
    capacity = float((resources.get(cpu_resource(resources)) or {}).get("capacity", 0.0))
    return int(capacity) if capacity > 1 and capacity.is_integer() else 0


def length_s_of(manifest: Mapping[str, Any]) -> float:
    """From the start; as the load, the simulation or the conditions of a study's system have it."""
    said = [manifest.get(part) or {} for part in ("load", "conditions")]
    return float(next((one["duration_s"] for one in (manifest, *said) if one.get("duration_s")), 0.0))


def scv_of_responses(folder: RunFolder) -> float | None:
    """Of the response times in the window; the longest hundredth counts as its shortest, so that one hiccup is not it all."""
    start_s, end_s = folder.manifest.get("window_s") or (0.0, 0.0)  # of a run that was cut off there is none
    times = answered_s(folder, (start_s, end_s))
    if times is None or len(times) < LEAST_REQUESTS:
        return None
    np.minimum(times, np.quantile(times, 0.99), out=times)
    return float(times.var() / times.mean() ** 2)


def busy_by_resource(frame: pl.DataFrame | None, resources: Mapping[str, Any]) -> dict[str, float]:
    if frame is None:
        return {}
    own = frame.filter(pl.col("station").is_in(list(resources)), pl.col("value") > 0)
    return {
        name + suffix: value * resources[name]["capacity"]
        for metric, suffix in (("utilisation", ""), ("softirq_utilisation", INTERRUPTS))
        for name, value in own.filter(pl.col("metric") == metric).select("station", "value").iter_rows()
    }
