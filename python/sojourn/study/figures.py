"""The document's figures on our data: what was measured as points with intervals, models as curves."""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.fit import Fitted
from sojourn.predict import predict
from sojourn.report import Figure, Series
from sojourn.report.document import Style
from sojourn.study.phases import Findings, Prediction
from sojourn.table import Metrics
from sojourn.validate import measured_metrics

RATE = "requests per second"
CURVE_POINTS = 60
RESPONSE = "mean response time, ms"


def series(
    name: str,
    metrics: Metrics,
    metric: str,
    station: str = "",
    *,
    style: Style = "points",
    scale: float = 1.0,
    band: bool = True,
) -> Series:
    """One metric against the rate, scaled to the unit of the axis; with its interval where `band`."""
    rows = metrics.frame.filter((pl.col("metric") == metric) & (pl.col("station") == station)).sort("rate_per_s")
    value, low, high = ([None if v is None else v * scale for v in rows[k]] for k in ("value", "low", "high"))
    known = band and any(v is not None for v in low)
    return Series(
        name, rows["rate_per_s"].to_list(), value, low if known else None, high if known else None, style, name
    )


def models(found: Findings, observations: pl.DataFrame, prefix: str = "") -> list[Series]:
    """Each fitted model as a curve for the configuration of `observations`; the best one with its band."""
    row = observations.row(0, named=True)
    most = float(observations["rate_per_s"].max() or 1.0) * 1.05  # type: ignore[arg-type]
    rates = np.linspace(most / CURVE_POINTS, most, CURVE_POINTS)

    def curve(name: str, fitted: Fitted) -> Series:
        metrics = predict(fitted, rates, cores=row["cores"], nics=row["nics"])
        best = name == found.best
        style: Style = "line" if best else "dashed"
        return series(prefix + name, metrics, "response_time", style=style, scale=1e3, band=best)

    return [curve(name, fitted) for name, fitted in found.fits.items()]


def blind(found: Findings, prediction: Prediction) -> Figure:
    """What was predicted for a configuration and what was then measured."""
    name = prediction.configuration.name
    note = f"The predictions were written to disk at {prediction.written}, before this configuration was run."
    return _compared(
        found, prediction.observations, f"Blind prediction against measurement: {name}", "predicted, ", note
    )


def fitted(found: Findings) -> Figure:
    """The models at the rates they were fitted to."""
    return _compared(found, found.observations, f"Model against measurement: {found.baseline.name}", "", "")


def _compared(found: Findings, observations: pl.DataFrame, title: str, prefix: str, note: str) -> Figure:
    seen = series("measured", measured_metrics(observations), "response_time", scale=1e3)
    highest = max((v for v in (seen.high or seen.y) if v is not None), default=1.0)
    lines = (*models(found, observations, prefix), seen)
    return Figure(title, title, RATE, RESPONSE, lines, note=note, y_limits=(0.0, 1.4 * highest))


def measured(found: Findings) -> tuple[Figure, ...]:
    """Utilisation per kind of core and share of soft interrupts, response time, throughput, each against the rate."""
    parts = [(found.baseline.name, found.observations)]
    parts += [(p.configuration.name, p.observations) for p in found.predictions]
    observed = [(name, measured_metrics(o)) for name, o in parts if o.filter(pl.col("valid")).height]
    busy = [series(f"{name}: leading cores", m, "utilisation", "leading") for name, m in observed]
    busy += [s for name, m in observed if (s := series(f"{name}: trailing cores", m, "utilisation", "trailing")).x]
    soft = [series(f"{name}: interrupts, leading", m, "softirq_utilisation", "leading") for name, m in observed]
    response = tuple(series(name, m, "response_time", scale=1e3) for name, m in observed)
    throughput = tuple(series(name, m, "throughput") for name, m in observed)
    return (
        Figure(
            "utilisation",
            "Utilisation of the cores and share of soft interrupts",
            RATE,
            "busy share of a core",
            tuple(busy + soft),
            y_limits=(0.0, 1.0),
        ),
        Figure("response", "Response time", RATE, RESPONSE, response),
        Figure("throughput", "Throughput", RATE, "answers per second", throughput),
    )
