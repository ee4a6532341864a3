"""A run's records as Metrics.

Stations: `""` the whole system as the user sees it (from intended), `service` from sent, `client` the time a
request waited to be sent, `core K` the cores, `app` what the service says of itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from sojourn.measure.busy import busy_shares, softirq_shares
from sojourn.measure.folder import RunFolder
from sojourn.measure.stationary import batch_interval
from sojourn.measure.window import in_window
from sojourn.table import Metrics

LEVEL = 0.95
QUANTILES = (0.5, 0.9, 0.99, 0.999)
Row = dict[str, Any]


def run_metrics(
    folder: RunFolder, requests: pl.DataFrame, host: pl.DataFrame | None, window: tuple[float, float]
) -> Metrics:
    """Metrics of the window of a run. `requests` as from `responses`, times in s; source is `measured`, or `simulated`
    where the manifest says so."""
    good = in_window(requests, window).filter(pl.col("failure") == 0)
    length_s = max(window[1] - window[0], 1e-9)
    rows = [*_user(folder, requests, good, window, length_s), *_classes(folder, requests, good, window, length_s)]
    if host is not None:
        rows += _cores(folder, host, window)
    app = folder.frame("app")
    if app is not None:
        rows += _app(app, window)
    factors = {f"{name}": value for name, value in folder.manifest.get("factors", {}).items()}
    source = "simulated" if folder.manifest.get("simulated") else "measured"
    rows = [row | {"source": source} for row in rows]
    return Metrics.of(rows, method=source).with_factors(run=folder.path.name, **factors)


def row(
    metric: str, value: float, *, station: str = "", cls: str = "", q: float | None = None,
    low: float | None = None, high: float | None = None, unit: str = "s",
) -> Row:  # fmt: skip
    level = LEVEL if low is not None and not np.isnan(low) else None
    low, high = (low, high) if level else (None, None)
    return {
        "station": station, "class": cls, "metric": metric, "q": q, "n": None, "value": float(value), "low": low,
        "high": high, "level": level, "unit": unit, "source": "measured", "status": "ok",
    }  # fmt: skip


def _mean(metric: str, values: pl.Series, station: str = "", cls: str = "") -> Row:
    mean, low, high = batch_interval(values.to_numpy().astype(np.float64), LEVEL)
    return row(metric, mean, station=station, cls=cls, low=low, high=high)


def _user(
    folder: RunFolder, requests: pl.DataFrame, good: pl.DataFrame, window: tuple[float, float], length_s: float
) -> list[Row]:
    every = folder.sample_every
    arrivals = in_window(requests, window).height
    answers = requests.filter((pl.col("failure") == 0) & pl.col("end_s").is_between(*window)).height
    rows = [
        _count("arrival_rate", arrivals * every, length_s),
        _count("throughput", answers * every, length_s),
        row("loss_probability", 1 - good.height / arrivals if arrivals else 0.0, unit="1"),
        row("queue_length", every * _present(requests, window, length_s), unit="1"),
    ]
    if good.is_empty():
        return rows
    rows += [
        _mean("response_time", good["response_s"]),
        _mean("response_time", good["service_response_s"], station="service"),
        _mean("waiting_time", good["lateness_s"], station="client"),
    ]
    for station, column in (("", "response_s"), ("service", "service_response_s")):
        for q in QUANTILES:
            value = float(good[column].quantile(q, "linear") or 0.0)
            rows.append(row("response_time_quantile", value, station=station, q=q))
    return rows


def _count(metric: str, count: int, length_s: float) -> Row:
    """A rate with the interval of a Poisson count."""
    half = 1.96 * max(count, 1) ** 0.5
    return row(metric, count / length_s, unit="1/s", low=(count - half) / length_s, high=(count + half) / length_s)


def _present(requests: pl.DataFrame, window: tuple[float, float], length_s: float) -> float:
    """Time average of the number of requests present: independent of Little's law."""
    start = requests["intended_s"].clip(*window)
    end = requests["end_s"].fill_nan(window[1]).clip(*window)
    return float((end - start).sum()) / length_s


def _classes(
    folder: RunFolder, requests: pl.DataFrame, good: pl.DataFrame, window: tuple[float, float], length_s: float
) -> list[Row]:
    """The same by class, where there are several."""
    names = folder.manifest.get("records", {}).get("requests", {}).get("classes", [])
    if len(names) < 2:
        return []
    rows = []
    for number, name in enumerate(names):
        own = pl.col("class") == number
        if (part := good.filter(own)).is_empty():
            continue
        present = _present(requests.filter(own), window, length_s) * folder.sample_every
        rows += [
            _count("throughput", part.height * folder.sample_every, length_s) | {"class": name},
            row("queue_length", present, cls=name, unit="1"),
            _mean("response_time", part["response_s"], cls=name),
        ]
        for q in QUANTILES:
            rows.append(
                row("response_time_quantile", float(part["response_s"].quantile(q, "linear") or 0.0), cls=name, q=q)
            )
    return rows


def _cores(folder: RunFolder, host: pl.DataFrame, window: tuple[float, float]) -> list[Row]:
    """Busy with the service and its load (see busy.py), and in interrupts, by ticks."""
    edges = np.array(window)
    rows = [
        row("utilisation", float(busy[0]), station=f"core {core}", unit="1")
        for core, busy in sorted(busy_shares(host, folder.manifest, edges).items())
    ]
    rows += [
        row("softirq_utilisation", float(soft[0]), station=f"core {core}", unit="1")
        for core, soft in sorted(softirq_shares(host, edges).items())
    ]
    return rows


def _app(app: pl.DataFrame, window: tuple[float, float]) -> list[Row]:
    inside = app.filter(pl.col("start_s").is_between(*window)).sort("start_s")
    if inside.is_empty():
        return []
    waiting = (pl.col("start_s") - pl.col("received_s")).alias("waiting")
    return [
        _mean("service_time", inside.select(pl.col("end_s") - pl.col("start_s")).to_series(), station="app"),
        _mean("waiting_time", inside.select(waiting).to_series().drop_nans(), station="app"),
    ]
