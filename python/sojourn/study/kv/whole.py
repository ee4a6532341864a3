"""Fits the models of all configurations together, and finds how wrong they are where whole configurations are left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import polars as pl

from sojourn.study.kv.fitted import (
    FittedCoreNetwork,
    FittedDesign,
    FittedInterpolation,
    predictions,
    response_s,
    spread,
)
from sojourn.study.kv.models import DemandRegression, fit_costs, fit_sent
from sojourn.study.kv.models.costs import Parts, fit_all, fit_reads
from sojourn.study.kv.models.left_out import LeaveOneOutErrors, left_out
from sojourn.study.kv.models.plain import Lines, fit_lines, per_operation_s
from sojourn.system.kv import CONFIGURATION, configurations

DRAWS = 200
FEWEST = 3  # configurations, of which one is left out and many are drawn
M = TypeVar("M")
Cycles = tuple[np.ndarray, np.ndarray]  # of clients, and what of them they take to read, s


def fit_cores(rows: pl.DataFrame, cores: tuple[int, ...], placed: bool, seed: int) -> FittedCoreNetwork:
    """The network of cores, from the runs that are fitted (`system.kv.frame`)."""
    sent = fit_sent(rows)
    own_cores = cores if placed else None

    def cycles(costs: DemandRegression, at: pl.DataFrame) -> Cycles:
        found, own = predictions(costs, at, cores, sent, placed)
        return np.array([one.cycle_s for one in found]), own

    designs: list[FittedDesign] = []
    errors: dict[str, tuple[LeaveOneOutErrors, ...]] = {}
    for own in by_design(rows):
        design = str(own["design"][0])
        parts = [part for _, part in configurations(own)]
        drawn = _drawn(parts, seed)
        designs.append(FittedDesign(fit_costs(own, own_cores), tuple(of for _, of in drawn)))
        off = errors_left_out(parts, lambda part: fit_costs(part, own_cores), cycles)
        others = [tuple(of for chosen, of in drawn if k not in chosen) for k in range(len(off))]
        errors |= _judged(design, off, [spread(design, of, part) for of, part in zip(others, parts, strict=False)])
    return FittedCoreNetwork(tuple(designs), sent, cores, placed, errors)


def fit_plain(rows: pl.DataFrame) -> FittedInterpolation:
    """Plain interpolation, from the same runs; what clients take to read is as straight as in the other model."""

    def fit(own: pl.DataFrame) -> tuple[Lines, tuple[float, ...]]:
        return fit_lines(own), fit_reads(own, np.zeros(own.height))

    def cycles(fitted: tuple[Lines, tuple[float, ...]], at: pl.DataFrame) -> Cycles:
        clients = at["clients"].to_numpy()
        return per_operation_s(fitted[0], at) * clients, fitted[1][0] + fitted[1][1] * clients

    found: dict[str, tuple[Lines, tuple[float, ...]]] = {}
    errors: dict[str, tuple[LeaveOneOutErrors, ...]] = {}
    for own in by_design(rows):
        parts, design = [part for _, part in configurations(own)], str(own["design"][0])
        found[design] = fit(own)
        off = errors_left_out(parts, fit, cycles)
        errors |= _judged(design, off, [np.zeros(len(x)) for x, _ in off])
    lines = {design: of for design, (of, _) in found.items()}
    return FittedInterpolation(lines, {design: own for design, (_, own) in found.items()}, errors)


def by_design(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """In the order of their names."""
    return rows.sort("design", *CONFIGURATION, "clients", "repetition").partition_by("design", maintain_order=True)


def errors_left_out(
    parts: list[pl.DataFrame], fit: Callable[[pl.DataFrame], M], cycles: Callable[[M, pl.DataFrame], Cycles]
) -> list[Cycles]:
    """Errors of the logarithms of throughput and response time of each configuration, predicted by a fit of all others."""
    if len(parts) < FEWEST:
        return []
    found = []
    for k, part in enumerate(parts):
        cycle, own = cycles(fit(pl.concat([*parts[:k], *parts[k + 1 :]])), part)
        measured = part["clients"].to_numpy() / part["throughput_per_s"].to_numpy()
        response = np.array([response_s(c, o) for c, o in zip(cycle, own, strict=True)])
        found.append((np.log(measured / cycle), np.log(response / part["response_s"].to_numpy())))
    return found


def _judged(design: str, errors: list[Cycles], doubts: list[np.ndarray]) -> dict[str, tuple[LeaveOneOutErrors, ...]]:
    if not errors:
        return {}
    doubt = np.concatenate(doubts)
    each = [np.concatenate([pair[k] for pair in errors]) for k in (0, 1)]
    return {design: tuple(left_out(of[np.isfinite(of)], doubt[np.isfinite(of)]) for of in each)}


def _drawn(parts: list[pl.DataFrame], seed: int) -> list[tuple[set[int], Parts]]:
    """Which configurations were drawn with replacement, and the parts fitted on them."""
    if len(parts) < FEWEST:
        return []
    random = np.random.default_rng(seed)
    found: list[tuple[set[int], Parts]] = []
    for _ in range(DRAWS):
        chosen = random.integers(0, len(parts), len(parts))
        found.append((set(chosen.tolist()), fit_all(pl.concat([parts[k] for k in chosen]))))
    return found
