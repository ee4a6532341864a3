"""Plain interpolation, the rival that a model must beat: what a spreadsheet draws through the same runs.

1/X is straight in 1/N (one over the throughput is the time of an operation on the core that is full, and a waking is shared by
those that come at once), and straight in the other factors: servers, middlewares, workers, keys, KiB, split or not. Ordinary least
squares for each design, gets and sets each by themselves, half and half their mean. Of eight such interpolations (1/X or its
logarithm, factors or their logarithms, sets by themselves or as a factor) the one with the least error where whole configurations
are left out. It has the same knowledge of the speed of cores as the model has: of the middlewares' (without any, the servers').
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from sojourn_cases.kv.models.component_speeds import ComponentSpeeds, fitted_speeds, usual_speeds
from sojourn_cases.kv.models.operation_work import NET, SERVER, OperationWork

FACTORS = ("1", "1/clients", "servers", "middlewares", "workers", "keys", "KiB", "split")
ROUNDS = 3
Lines = Mapping[str, tuple[float, ...]]  # "get" and "set" → coefficients of FACTORS, s; least: the smallest fitted 1/X


def fit_lines(rows: pl.DataFrame) -> tuple[dict[str, tuple[float, ...]], ComponentSpeeds]:
    """From the runs of one design (`system.kv.frame`), by least squares; at the usual speed, and how the speed changes it."""
    inverse, speeds, where = 1 / rows["throughput_per_s"].to_numpy(), usual_speeds(rows), _cores_of(rows)
    for _ in range(ROUNDS if speeds.usual_s else 0):
        lines = _lines(rows, inverse / speeds.slower(where, rows))
        speeds = fitted_speeds(rows, {where: np.log(inverse / per_operation_s(lines, ComponentSpeeds(), rows))}, speeds)
    return _lines(rows, inverse / speeds.slower(where, rows)), speeds


def _cores_of(rows: pl.DataFrame) -> str:
    return SERVER if rows["design"][0] == "none" else NET


def _lines(rows: pl.DataFrame, inverse: np.ndarray) -> dict[str, tuple[float, ...]]:
    columns, stores = _columns(rows), OperationWork(rows).stores
    found: dict[str, tuple[float, ...]] = {"least": (float(inverse.min()),)}
    for name, share in (("get", 0.0), ("set", 1.0)):
        own = stores == share
        if own.any():
            scale = np.maximum(np.abs(columns[own]).max(axis=0), 1e-12)
            coefficients = np.linalg.lstsq(columns[own] / scale, inverse[own], rcond=1e-9)[0] / scale
            found[name] = tuple(float(c) for c in coefficients)
    return found


def per_operation_s(lines: Lines, speeds: ComponentSpeeds, rows: pl.DataFrame) -> np.ndarray:
    """1/X of rows of the same design, no less than the smallest that was fitted (at the usual speed); NaN where nothing alike was."""
    columns, stores = _columns(rows), OperationWork(rows).stores
    missing = np.full(rows.height, np.nan)
    of = {name: columns @ np.array(lines[name]) if name in lines else missing for name in ("get", "set")}
    value = np.where(
        stores == 0, of["get"], np.where(stores == 1, of["set"], stores * of["set"] + (1 - stores) * of["get"])
    )
    return np.maximum(value, lines["least"][0]) * speeds.slower(_cores_of(rows), rows)


def _columns(rows: pl.DataFrame) -> np.ndarray:
    work = OperationWork(rows)
    split = rows["sharded"].to_numpy().astype(float) * (work.keys > 1)
    kib = work.read_kib + work.sent_kib
    one = np.ones(rows.height)
    of = (one, 1 / work.clients, work.servers, work.proxies, work.workers, work.keys, kib, split)
    return np.stack(of, axis=1)
