"""Which points are fitted, and how far the predictions of the others are off."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from sojourn.study.judged import Held, Judgement
from sojourn.study.kv.models.network import Prediction
from sojourn.study.kv.models.times import Times, fit_times

Point = Held[Prediction]


def split(clients: Sequence[int]) -> tuple[list[int], list[int]]:
    """Fitted and held-out client counts: every second one is fitted, from the fewest, and the most always."""
    order = sorted(set(clients))
    fitted = sorted({*order[::2], order[-1]}) if len(order) > 2 else order[:1]
    return fitted, [n for n in order if n not in fitted]


def judge(
    model: str, name: str, rows: pl.DataFrame, predict: Callable[[Times, int], Prediction]
) -> tuple[Times, list[Point]]:
    """Fits one configuration on its part of the points and predicts the others."""
    fitted, held = split(rows["clients"].to_list())
    times = fit_times(rows.filter(pl.col("clients").is_in(fitted)))
    points = []
    for n in held:
        here = rows.filter(pl.col("clients") == n)
        x, r = (float(here[c].mean()) for c in ("throughput_per_s", "response_s"))  # type: ignore[arg-type]
        points.append(Point(name, n, predict(times, n), x, r))
    return times, points


__all__ = ["Judgement", "Point", "judge", "split"]
