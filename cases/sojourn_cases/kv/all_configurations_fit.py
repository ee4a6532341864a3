"""Fits the models of all configurations together, and finds how wrong they are where whole configurations are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import polars as pl

from sojourn_cases.kv.fitted_models import (
    Errors,
    FittedCoreNetwork,
    FittedDesign,
    FittedInterpolation,
    FittedLines,
    predictions,
    response_s,
    spread,
)
from sojourn_cases.kv.middleware import CONFIGURATION, configurations
from sojourn_cases.kv.middleware.run_table import WORK
from sojourn_cases.kv.models import DemandRegression, fit_costs, fit_sent
from sojourn_cases.kv.models.component_speeds import ComponentSpeeds
from sojourn_cases.kv.models.leave_one_out import LeaveOneOutErrors, left_out
from sojourn_cases.kv.models.operation_costs import Parts, fit_all, fit_reads
from sojourn_cases.kv.models.plain_interpolation import fit_lines

DRAWS = 200
FEWEST = 3  # configurations, of which one is left out and many are drawn
M = TypeVar("M")
Cycles = tuple[np.ndarray, np.ndarray]  # of clients, and what of them they take to read, s
BySpeed = tuple[list[Cycles], list[Cycles]]  # for cores as fast as usual; as fast as they were
ErrorsOfDesign = tuple[str, tuple[LeaveOneOutErrors, ...], tuple[LeaveOneOutErrors, ...]]


def fit_cores(rows: pl.DataFrame, cores: tuple[int, ...], placed: bool, seed: int) -> FittedCoreNetwork:
    """The network of cores, from the runs that are fitted (`system.kv.frame`)."""
    sent = fit_sent(rows)
    own_cores = cores if placed else None

    def cycles(costs: DemandRegression, at: pl.DataFrame) -> Cycles:
        found, own = predictions(costs, at, cores, sent, placed)
        return np.array([one.cycle_s for one in found]), own

    designs: list[FittedDesign] = []
    errors: list[ErrorsOfDesign] = []
    for own in by_design(rows):
        design = str(own["design"][0])
        parts = [part for _, part in configurations(own)]
        costs = fit_costs(own, own_cores)
        drawn = _drawn(parts, costs.speeds, seed)
        designs.append(FittedDesign(costs, tuple(of for _, of in drawn)))
        off = errors_left_out(parts, lambda part: fit_costs(part, own_cores), cycles)
        others = [tuple(of for chosen, of in drawn if k not in chosen) for k in range(len(parts))]
        doubts = [spread(design, of, part) for of, part in zip(others, parts, strict=True)] if drawn else []
        errors.append(_judged(design, off, doubts))
    return FittedCoreNetwork(tuple(designs), sent, cores, placed, *_by_speed(errors))


def fit_plain(rows: pl.DataFrame) -> FittedInterpolation:
    """Plain interpolation, from the same runs; what clients take to read is as straight as in the other model."""

    def fit(own: pl.DataFrame) -> FittedLines:
        return FittedLines(*fit_lines(own), fit_reads(own, np.zeros(own.height)))

    def cycles(fitted: FittedLines, at: pl.DataFrame) -> Cycles:
        clients = at["clients"].to_numpy()
        return fitted.per_operation_s(at) * clients, fitted.own_s(at)

    found: dict[str, FittedLines] = {}
    errors: list[ErrorsOfDesign] = []
    for own in by_design(rows):
        parts, design = [part for _, part in configurations(own)], str(own["design"][0])
        found[design] = fit(own)
        errors.append(_judged(design, errors_left_out(parts, fit, cycles), [np.zeros(part.height) for part in parts]))
    return FittedInterpolation(found, *_by_speed(errors))


def by_design(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """In the order of their names."""
    return rows.sort("design", *CONFIGURATION, "clients", "repetition").partition_by("design", maintain_order=True)


def errors_left_out(
    parts: list[pl.DataFrame], fit: Callable[[pl.DataFrame], M], cycles: Callable[[M, pl.DataFrame], Cycles]
) -> BySpeed:
    """Errors of the logarithms of throughput and response time of each configuration, predicted by a fit of all others: for cores as
    fast as usual, and as fast as they were in the run."""
    if len(parts) < FEWEST:
        return [], []
    usual: list[Cycles] = []
    at_speed: list[Cycles] = []
    for k, part in enumerate(parts):
        fitted = fit(pl.concat([*parts[:k], *parts[k + 1 :]]))
        measured = part["clients"].to_numpy() / part["throughput_per_s"].to_numpy()
        for rows, found in ((part.drop(WORK), usual), (part, at_speed)):
            cycle, own = cycles(fitted, rows)
            response = np.array([response_s(c, o) for c, o in zip(cycle, own, strict=True)])
            found.append((np.log(measured / cycle), np.log(response / part["response_s"].to_numpy())))
    return usual, at_speed


def _judged(design: str, errors: BySpeed, doubts: list[np.ndarray]) -> ErrorsOfDesign:
    usual, at_speed = errors
    return design, _errors_of(usual, doubts), _errors_of(at_speed, doubts)


def _errors_of(off: list[Cycles], doubts: list[np.ndarray]) -> tuple[LeaveOneOutErrors, ...]:
    if not off:
        return ()
    doubt = np.concatenate(doubts)
    each = [np.concatenate([pair[k] for pair in off]) for k in (0, 1)]
    return tuple(left_out(of[np.isfinite(of)], doubt[np.isfinite(of)]) for of in each)


def _by_speed(errors: Sequence[ErrorsOfDesign]) -> tuple[Errors, Errors]:
    return {name: usual for name, usual, _ in errors if usual}, {name: at for name, _, at in errors if at}


def _drawn(parts: list[pl.DataFrame], speeds: ComponentSpeeds, seed: int) -> list[tuple[set[int], Parts]]:
    """Which configurations were drawn with replacement, and the parts fitted on them."""
    if len(parts) < FEWEST:
        return []
    random = np.random.default_rng(seed)
    found: list[tuple[set[int], Parts]] = []
    for _ in range(DRAWS):
        chosen = random.integers(0, len(parts), len(parts))
        found.append((set(chosen.tolist()), fit_all(pl.concat([parts[k] for k in chosen]), speeds)))
    return found
