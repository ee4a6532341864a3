"""Chen et al.'s figures on our data: what was measured as points with intervals, models as curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from sojourn import Metrics
from sojourn.report import Figure, Series, Style
from sojourn.study import BLIND
from sojourn_cases.web.fitted_web import FittedWeb
from sojourn_cases.web.web_configurations import WebConfiguration

RATE = "requests per second"
CURVE_POINTS = 24


def models_against(part: WebConfiguration, rivals: Mapping[str, FittedWeb], best: str, written: str) -> Figure:
    """Each model as a curve, the best with its band, and what was measured."""
    seen = _series("measured", part.measured, "response_time", scale=1e3)
    highest = max((v for v in (seen.high or seen.y) if v is not None), default=1.0)
    most = 1.05 * float(part.measured.frame["rate_per_s"].max() or 1.0)  # type: ignore[arg-type]
    rates = np.linspace(most / CURVE_POINTS, most, CURVE_POINTS).tolist()
    blind = part.kind == BLIND
    curves = [
        _series(
            "predicted, " * blind + name, model.predict({**part.factors, "rate_per_s": rates}, model.level), "response_time",
            style="line" if name == best else "dashed", scale=1e3, band=name == best,
        )
        for name, model in rivals.items()
    ]  # fmt: skip
    title = f"{'Blind prediction' if blind else 'Model'} against measurement: {part.name}"
    note = f"The predictions were written to disk at {written}, before this configuration was run." if blind else ""
    lines = (*curves, seen)
    return Figure(title, title, RATE, "mean response time, ms", lines, note=note, y_limits=(0.0, 1.4 * highest))


def measured(parts: Sequence[WebConfiguration]) -> tuple[Figure, Figure]:
    """Utilisation by kind of core with the share of soft interrupts, and throughput, each against the rate."""
    observed = [(part.name, part.measured) for part in parts if part.seen]
    busy = [_series(f"{name}: leading cores", m, "utilisation", "leading") for name, m in observed]
    busy += [_series(f"{name}: trailing cores", m, "utilisation", "trailing") for name, m in observed]
    soft = [_series(f"{name}: interrupts, leading", m, "softirq_utilisation", "leading") for name, m in observed]
    title = "Utilisation of the cores and share of soft interrupts"
    shown = tuple(s for s in (*busy, *soft) if s.x)
    throughput = tuple(_series(name, m, "throughput") for name, m in observed)
    return (
        Figure("utilisation", title, RATE, "busy share of a core", shown, y_limits=(0.0, 1.0)),
        Figure("throughput", "Throughput", RATE, "answers per second", throughput),
    )


def _series(
    name: str, metrics: Metrics, metric: str, station: str = "", *, style: Style = "points", scale: float = 1.0,
    band: bool = True,
) -> Series:  # fmt: skip
    """One metric against the rate, scaled to the unit of the axis; with its interval where `band`."""
    rows = metrics.frame.filter((pl.col("metric") == metric) & (pl.col("station") == station)).sort("rate_per_s")
    value, low, high = ([None if v is None else v * scale for v in rows[k]] for k in ("value", "low", "high"))
    known = band and any(v is not None for v in low)
    return Series(
        name, rows["rate_per_s"].to_list(), value, low if known else None, high if known else None, style, name
    )
