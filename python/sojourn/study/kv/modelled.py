"""Both models on every configuration that has enough client counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl

from sojourn.study.kv.analysis import disturbed
from sojourn.study.kv.models import (
    Judgement,
    Limits,
    Prediction,
    Times,
    closed_network,
    judge,
    limits_of,
    placed_cores,
    shared_cores,
    split,
)
from sojourn.study.kv.models.judge import Point
from sojourn.study.kv.models.network import Shape
from sojourn.study.kv.seen import configurations, name_of
from sojourn.system.kv.affinity import assigned

LEAST = 3
NETWORK, SHARED, PLACED = "network of queues", "with shared cores", "with cores as placed"


def shape_of(configuration: dict[str, Any]) -> Shape:
    """Sets go to every server where there is a middleware."""
    to_all = configuration["workload"] == "set" and configuration["proxies"] > 0
    return Shape(configuration["servers"], configuration["proxies"], configuration["workers"], to_all)


def judged(seen: pl.DataFrame, cores: int) -> list[Judgement]:
    """The two models on all configurations with at least three client counts, a judgement a model and design.

    Runs that others disturbed are left out: neither fitted nor judged. Where processes kept to their cores the second
    model knows them.
    """
    seen = seen.filter(~disturbed(cores))
    found: dict[tuple[str, str], list[Point]] = {}
    fits: dict[tuple[str, str], list[tuple[str, Times]]] = {}
    for configuration, rows in configurations(seen):
        shape = shape_of(configuration)
        if rows["clients"].n_unique() < LEAST or configuration["workload"] == "mixed":
            continue
        fitted, _ = split(rows["clients"].to_list())
        limits = limits_of(rows.filter(pl.col("clients").is_in(fitted)))
        best = (
            (PLACED, partial(_placed, shape, cores))
            if rows["pinned"].all()
            else (SHARED, partial(_cores, shape, left(rows, cores)))
        )
        for model, predict in ((NETWORK, partial(_network, shape)), best):
            times, points = judge(model, name_of(configuration), rows, partial(_within, limits, predict))
            key = (model, str(configuration["design"]))
            found.setdefault(key, []).extend(points)
            fits.setdefault(key, []).append((name_of(configuration), times))
    return [
        Judgement(f"{model}, {design}", tuple(points), tuple(fits[model, design]))
        for (model, design), points in found.items()
    ]


def _within(limits: Limits, predict: Callable[[Times, int], Prediction], times: Times, clients: int) -> Prediction:
    return limits.on(predict(times, clients), times)


def _network(shape: Shape, times: Times, clients: int) -> Prediction:
    return closed_network(times, shape, clients)


def _cores(shape: Shape, cores: dict[int, float], times: Times, clients: int) -> Prediction:
    return shared_cores(times, shape, clients, cores[clients], cores[times.fewest])


def _placed(shape: Shape, cores: int, times: Times, clients: int) -> Prediction:
    return placed_cores(times, shape, clients, assigned(range(cores), shape.servers, shape.proxies))


def left(rows: pl.DataFrame, cores: int) -> dict[int, float]:
    """Cores that other processes of the machine left at each client count, half a core at least."""
    used = rows.group_by("clients").agg(pl.col("others_cores").fill_nan(0.0).mean())
    return {row["clients"]: max(cores - (row["others_cores"] or 0.0), 0.5) for row in used.to_dicts()}
