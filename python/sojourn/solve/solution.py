"""`Solution`: what every method answers, as arrays, and the `Metrics` made from it.

P points of a sweep, K stations, C classes. Throughput and system response are per pass of the class; utilisation is the
mean busy fraction of one server; residence is the total over the visits of a pass; NaN where there is no number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from sojourn.model.network import Array, Network
from sojourn.solve import status as outcomes
from sojourn.table import UNITS, Metrics


@dataclass
class Solution:
    throughput: Array  # P x C, passes/s that are completed
    queue_length: Array  # P x K x C, mean number present
    utilisation: Array  # P x K x C, NaN for delays
    status: list[str] = field(default_factory=list)  # P names of `status.TEXT`; empty: all ok
    residence_s: Array | None = None  # P x K x C; default: Little's law
    waiting_s: Array | None = (
        None  # P x K x C per visit; default: residence/visits - service where servers serve one each
    )
    visit_rate: Array | None = None  # P x K x C, visits/s that are served; default: throughput of the chain · visits
    loss: Array | None = None  # P x K x C, share of the visits that are lost
    outside: Array | None = None  # P x C, mean number that wait outside the stations, for a pool or a region
    low: Mapping[str, Array] = field(default_factory=dict)  # bounds, by the names of the fields above
    high: Mapping[str, Array] = field(default_factory=dict)
    more: list[dict[str, Any]] = field(default_factory=list)  # further rows, `point` says of which point
    message: str = ""


def metrics(
    networks: Sequence[Network], solution: Solution, method: str, factors: Mapping[str, Sequence[Any]] | None = None
) -> Metrics:
    """The table of a solution; `factors` name what was varied, a value a point. Rows are made when first asked for."""
    names = set(solution.status) or {"ok"}
    text = "\n".join(filter(None, (solution.message, outcomes.message(names))))
    return Metrics.later(lambda: _frame(networks, solution, factors or {}), method, outcomes.worst(names), text)


def _frame(networks: Sequence[Network], s: Solution, factors: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    n = networks[0]
    points, count = len(networks), (len(n.stations), len(n.classes))
    visits = np.stack([x.visits for x in networks])
    service = np.stack([x.service_s for x in networks])
    chain = n.chain[:, None] == n.chain[None, :]
    chain_rate = s.throughput @ chain
    rate = s.visit_rate if s.visit_rate is not None else chain_rate[:, None, :] * visits
    with np.errstate(divide="ignore", invalid="ignore"):
        residence = s.residence_s if s.residence_s is not None else s.queue_length / chain_rate[:, None, :]
        response = np.where(visits > 0, residence / visits, np.nan)
        waiting = s.waiting_s if s.waiting_s is not None else np.where(visits > 0, response - service, np.nan)
    single = np.array([kind in ("queue", "delay") for kind in n.kind])
    waiting = np.where(single[None, :, None], np.where(np.abs(waiting) < 1e-12 * service, 0.0, waiting), np.nan)
    used = np.broadcast_to((visits > 0).any(axis=0), visits.shape[1:])
    columns = [
        *_station_rows(n, used, points, {
            "throughput": rate, "utilisation": s.utilisation, "queue_length": s.queue_length,
            "residence_time": residence, "response_time": response, "waiting_time": waiting,
            "service_time": np.broadcast_to(service, rate.shape), "loss_probability": s.loss,
        }),
        *_class_rows(n, s, points, residence),
    ]  # fmt: skip
    frame = pl.concat(columns) if columns else pl.DataFrame()
    names = np.array(s.status or ["ok"] * points)
    frame = frame.with_columns(
        status=pl.when(pl.col("value").is_finite()).then(pl.lit("ok")).otherwise(pl.Series(names[frame["point"]]))
        if s.status else pl.lit("ok")
    )  # fmt: skip
    if s.more:
        extra = pl.DataFrame(s.more, infer_schema_length=None)
        extra = extra.with_columns(unit=pl.col("metric").replace_strict(UNITS))
        extra = extra.with_columns(
            pl.col("point").cast(pl.Int64) if "point" in extra.columns else pl.lit(0).alias("point")
        )
        frame = pl.concat([frame, extra], how="diagonal_relaxed").with_columns(pl.col("status").fill_null("ok"))
    for name, values in factors.items():
        frame = frame.with_columns(pl.Series(name, values)[frame["point"]].alias(name))
    return frame.drop("point").with_columns(source=pl.lit("analytic"))


def _station_rows(n: Network, used: Array, points: int, tables: Mapping[str, Array | None]) -> list[pl.DataFrame]:
    """Rows a station and class, and a station over all classes where more than one visits it."""
    found = []
    for metric, table in tables.items():
        if table is None:
            continue
        for k, station in enumerate(n.stations):
            own = np.flatnonzero(used[k])
            for c in own:
                found.append(_rows(station, n.classes[c], metric, table[:, k, c]))
            if len(own) and metric in ("throughput", "utilisation", "queue_length"):
                found.append(_rows(station, "", metric, table[:, k, own].sum(axis=1)))
            if len(own) and metric in ("response_time", "waiting_time", "service_time"):
                weights = tables["throughput"]
                assert weights is not None
                with np.errstate(divide="ignore", invalid="ignore"):
                    mean = (table[:, k, own] * weights[:, k, own]).sum(axis=1) / weights[:, k, own].sum(axis=1)
                found.append(_rows(station, "", metric, mean))
    return [f for f in found if not _is_absent(f)]


def _is_absent(frame: pl.DataFrame) -> bool:
    """All NaN and of a metric that a station may not have (no utilisation of a delay, no wait of a shared server)."""
    metric = frame["metric"][0]
    return metric in ("utilisation", "waiting_time", "loss_probability") and bool(frame["value"].is_nan().all())


def _class_rows(n: Network, s: Solution, points: int, residence: Array) -> list[pl.DataFrame]:
    number = s.queue_length.sum(axis=1)
    there = np.isfinite(residence)
    response = np.where(there.any(axis=1), residence.sum(axis=1, where=there), np.nan)
    if s.outside is not None:
        number = number + s.outside
        with np.errstate(divide="ignore", invalid="ignore"):
            response = response + s.outside / (s.throughput @ (n.chain[:, None] == n.chain[None, :]))
    found = []
    for c, name in enumerate(n.classes):
        found += [_rows("", name, "throughput", s.throughput[:, c]), _rows("", name, "response_time", response[:, c]),
                  _rows("", name, "queue_length", number[:, c])]  # fmt: skip
        if not n.closed[c]:
            found.append(_rows("", name, "arrival_rate", np.full(points, n.rate_per_s[c])))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (response * s.throughput).sum(axis=1) / s.throughput.sum(axis=1)
    found += [_rows("", "", "throughput", s.throughput.sum(axis=1)), _rows("", "", "response_time", mean),
              _rows("", "", "queue_length", number.sum(axis=1))]  # fmt: skip
    return found


def _rows(station: str, cls: str, metric: str, values: Array) -> pl.DataFrame:
    return pl.DataFrame(
        {"station": station, "class": cls, "metric": metric, "value": np.ascontiguousarray(values, float),
         "unit": UNITS[metric], "point": np.arange(len(values))}
    )  # fmt: skip
