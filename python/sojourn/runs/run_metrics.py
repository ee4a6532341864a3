"""A run's records as Metrics.

Stations: `""` the whole system as the user sees it (from intended), `service` from sent, `client` the time a
request waited to be sent, `core K` the cores, `app` what the service says of itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from sojourn.runs.core_speed import METRIC, core_work_s
from sojourn.runs.core_utilisation import busy_shares, softirq_shares
from sojourn.runs.freed_memory import give_back
from sojourn.runs.host_samples import cache_miss_rates
from sojourn.runs.request_times import ascending, in_window, lateness_s, response_s, service_response_s, succeeded
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.schedule_check import AT_ONCE, late_row
from sojourn.runs.service_phases import service_phases
from sojourn.stats.batch_means import batch_interval, rate_interval
from sojourn.stats.quantiles import FAILED, quantile
from sojourn.stats.share_interval import clustered_share
from sojourn.table import Metrics
from sojourn.units import USUAL_LEVEL

QUANTILES = (0.5, 0.9, 0.99, 0.999)
Row = dict[str, Any]


def run_metrics(
    folder: RunFolder,
    requests: pl.DataFrame,
    host: pl.DataFrame | None,
    window: tuple[float, float],
    touched: float = 0.0,
) -> Metrics:
    """Metrics of the window of a run. `requests` as from `responses`, times in s; source is `measured`, or `simulated`
    where the manifest says so. `touched`: share of the requests that a late generator touched (`schedule_check`)."""
    good = succeeded(in_window(requests, window))
    length_s = max(window[1] - window[0], 1e-9)
    rows = [
        *_user(folder, requests, good, window, length_s, touched),
        *_classes(folder, requests, good, window, length_s, touched),
    ]
    if host is not None:
        rows += _cores(folder, host, window)
    app = folder.frame("app")
    if app is not None:
        rows += _app(service_phases(app, folder.manifest), window)
    factors = {f"{name}": value for name, value in folder.manifest.get("factors", {}).items()}
    source = "simulated" if folder.manifest.get("simulated") else "measured"
    rows = [row | {"source": source} for row in rows]
    return Metrics.of(rows, method=source).with_factors(run=folder.path.name, **factors)


def metrics_row(
    metric: str, value: float | None, *, station: str = "", cls: str = "", q: float | None = None,
    low: float | None = None, high: float | None = None, unit: str = "s", status: str = "ok",
) -> Row:  # fmt: skip
    level = USUAL_LEVEL if low is not None and not np.isnan(low) else None
    low, high = (low, high) if level else (None, None)
    return {
        "station": station, "class": cls, "metric": metric, "q": q, "n": None, "value": None if value is None else float(value), "low": low,
        "high": high, "level": level, "unit": unit, "source": "measured", "status": status,
    }  # fmt: skip


def _mean(metric: str, values: pl.Series, station: str = "", cls: str = "") -> Row:
    mean, low, high = batch_interval(values.to_numpy().astype(np.float64, copy=False), USUAL_LEVEL)
    return metrics_row(metric, mean, station=station, cls=cls, low=low, high=high)


def _user(
    folder: RunFolder,
    requests: pl.DataFrame,
    good: pl.DataFrame,
    window: tuple[float, float],
    length_s: float,
    touched: float,
) -> list[Row]:
    every = folder.sample_every
    arrived = in_window(requests, window)
    failed = arrived.height - good.height
    rows = [
        _rate("arrival_rate", arrived["intended_s"], every, window),
        _rate("throughput", _answers(requests), every, window),
        _lost(arrived),
        metrics_row("queue_length", every * _present(requests, window, length_s), unit="1"),
    ]
    give_back()
    if good.is_empty():
        return rows
    rows += [
        _mean("response_time", response_s(good)),
        _mean("response_time", service_response_s(good), station="service"),
        _mean("waiting_time", lateness_s(good), station="client"),
    ]
    for station, begin in (("", "intended_s"), ("service", "sent_s")):
        times = ascending(good["end_s"], good[begin])
        own = [quantile_row(times, failed, q, station=station) for q in QUANTILES]
        rows += own if station else [late_row(row, times, row["q"], touched) for row in own]
        del times  # before the next: of a million requests 8 MB
    give_back()
    return rows


def _lost(arrived: pl.DataFrame) -> Row:
    """The share that failed of those that were due in the window."""
    told = arrived.select("intended_s", "failure")
    ordered = told if told["intended_s"].flags["SORTED_ASC"] else told.sort("intended_s")
    failed = ordered["failure"].to_numpy() > 0
    low, high = clustered_share(failed) if len(failed) else (None, None)
    return metrics_row("loss_probability", float(failed.mean()) if len(failed) else 0.0, low=low, high=high, unit="1")


def quantile_row(times: pl.Series, failed: int, q: float, station: str = "", cls: str = "") -> Row:
    """A quantile of all requests, those that failed later than all; without a value where it lies among them."""
    value = quantile(times, failed, q)
    status = "ok" if value is not None else FAILED
    return metrics_row("response_time_quantile", value, station=station, cls=cls, q=q, status=status)


def _answers(requests: pl.DataFrame) -> pl.Series:
    return succeeded(requests.select("end_s", "failure"))["end_s"]


def _rate(metric: str, times: pl.Series, every: int, window: tuple[float, float], cls: str = "") -> Row:
    """How many a second, by batch means: what a closed loop completes is no Poisson process."""
    value, low, high = (every * x for x in rate_interval(times.to_numpy(), *window, USUAL_LEVEL))
    return metrics_row(metric, value, cls=cls, unit="1/s", low=low, high=high)


def _present(requests: pl.DataFrame, window: tuple[float, float], length_s: float) -> float:
    """Time average of the number of requests present. By the same time stamps as throughput and response time: that Little's
    law holds between the three is an identity, and no check (`in_flight` has one)."""
    end = requests["end_s"].to_numpy().copy()
    end[np.isnan(end)] = window[1]
    np.clip(end, *window, out=end)
    due = requests["intended_s"].to_numpy()
    for at in range(0, len(due), AT_ONCE):
        end[at : at + AT_ONCE] -= np.clip(due[at : at + AT_ONCE], *window)
    return float(pl.Series(end).sum()) / length_s


def _classes(
    folder: RunFolder,
    requests: pl.DataFrame,
    good: pl.DataFrame,
    window: tuple[float, float],
    length_s: float,
    touched: float,
) -> list[Row]:
    """The same by class, where there are several."""
    names = folder.manifest.get("records", {}).get("requests", {}).get("classes", [])
    if len(names) < 2:
        return []
    rows = []
    for number, name in enumerate(names):
        own = requests.filter(pl.col("class") == number)
        if (part := good.filter(pl.col("class") == number)).is_empty():
            continue
        ordered = ascending(part["end_s"], part["intended_s"])
        failed = in_window(own, window).height - part.height
        rows += [
            _rate("throughput", _answers(own), folder.sample_every, window, name),
            metrics_row("queue_length", _present(own, window, length_s) * folder.sample_every, cls=name, unit="1"),
            _mean("response_time", response_s(part), cls=name),
            *(late_row(quantile_row(ordered, failed, q, cls=name), ordered, q, touched) for q in QUANTILES),
        ]
    return rows


def _cores(folder: RunFolder, host: pl.DataFrame, window: tuple[float, float]) -> list[Row]:
    """Busy with the service and its load (see core_utilisation.py), and in interrupts, by ticks."""
    edges = np.array(window)
    rows = [
        metrics_row("utilisation", float(busy[0]), station=f"core {core}", unit="1")
        for core, busy in sorted(busy_shares(host, folder.manifest, edges).items())
    ]
    rows += [
        metrics_row("softirq_utilisation", float(soft[0]), station=f"core {core}", unit="1")
        for core, soft in sorted(softirq_shares(host, edges).items())
    ]
    rows += [
        metrics_row("cache_miss_rate", per_s, station=f"core {core}", unit="1/s")
        for core, per_s in sorted(cache_miss_rates(host, *window).items())
    ]
    rows += [
        metrics_row(METRIC, seconds, station=f"core {core}")
        for core, seconds in sorted(core_work_s(host, *window).items())
    ]
    return rows


def _app(phases: pl.DataFrame, window: tuple[float, float]) -> list[Row]:
    inside = phases.filter(pl.col("begin_s").is_between(*window))
    if inside.is_empty():
        return []
    waiting = (pl.col("begin_s") - pl.col("came_s")).alias("waiting")
    return [
        _mean("service_time", inside.select(pl.col("end_s") - pl.col("begin_s")).to_series(), station="app"),
        _mean("waiting_time", inside.select(waiting).to_series().drop_nans(), station="app"),
    ]
