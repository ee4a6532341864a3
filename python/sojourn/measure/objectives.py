"""Objectives of a run, such as `p99 < 50ms`, `errors < 1%`, `rate > 190/s`: read, judged, told.

Response times run from the moment a request was due. A mean is of successes; of a quantile those that failed count as later
than all (`quantiles.py`), and one that lies among them has no value, and is missed. A whole run is judged by the generator's own
account to the end of reading (`load` prints the same), a measured one by the Metrics of its window (as `measure` prints).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sojourn.errors import InputError, ObjectiveMissed
from sojourn.measure.measurement_window import in_window, responses
from sojourn.measure.quantiles import KEPT, quantile
from sojourn.measure.run_folder import RunFolder
from sojourn.units import duration_s, per_second, percent, seconds

FORM = re.compile(r"\s*(mean|p[0-9.]+|errors|rate)\s*(<=|>=|<|>)\s*(\S.*?)\s*")
REMEDY = "write mean, p50, p99, p99.9, errors or rate, then < or >, then 50ms, 1% or 190/s"


@dataclass(frozen=True)
class Objective:
    """`figure` (`mean`, `pQ`, `errors`, `rate`) must be in `relation` to `limit` (s, share, 1/s)."""

    text: str
    figure: str
    relation: str
    limit: float

    def met(self, value: float | None) -> bool:
        """Whether the value is as it must be; one that does not exist is not."""
        if value is None or math.isnan(value):
            return False
        return {
            "<": value < self.limit, "<=": value <= self.limit, ">": value > self.limit, ">=": value >= self.limit,
        }[self.relation]  # fmt: skip

    @property
    def q(self) -> float:
        """Of a quantile, in [0, 1]."""
        return round(float(self.figure[1:]) / 100, 9)

    def show(self, value: float | None) -> str:
        """The value in the figure's unit."""
        if self.figure == "errors":
            return percent(value)
        return per_second(value) if self.figure == "rate" else seconds(value)


def read_objective(text: str, place: str = "--objective") -> Objective:
    """
    Raises:
        InputError: not a figure that is known, a relation and a limit in its unit.
    """
    match = FORM.fullmatch(text)
    if match is None:
        raise InputError(repr(text), place, REMEDY)
    figure, relation, limit = match.groups()
    try:
        if figure == "errors":
            value = float(limit.removesuffix("%")) / (100 if limit.endswith("%") else 1)
        elif figure == "rate":
            value = float(limit.removesuffix("/s"))
        else:
            value = duration_s(limit, place)
    except ValueError:
        raise InputError(repr(text), place, REMEDY) from None
    known = not figure.startswith("p") or re.fullmatch(r"p\d{1,2}(\.\d+)?", figure)
    if not known or not math.isfinite(value) or value < 0:
        raise InputError(repr(text), place, REMEDY)
    return Objective(text.strip(), figure, relation, value)


def judge(folder: RunFolder, objectives: Sequence[Objective], *, whole: bool) -> list[dict[str, Any]]:
    """What came of each objective: objective, value (s, share, 1/s; null where there is none), shown, met. Also in the
    manifest. `whole`: the whole run, else its window."""
    found = []
    for one in objectives:
        value = _whole(folder, one) if whole else _windowed(folder, one)
        found.append({"objective": one.text, "value": value, "shown": one.show(value), "met": one.met(value)})
    if objectives:
        folder.manifest["objectives"] = found
        folder.save()
    return found


def _whole(folder: RunFolder, one: Objective) -> float | None:
    summary = folder.manifest["generator"]
    times = summary["latency"]["from_intended"]["to_done"]
    if one.figure == "errors":
        ended = summary["ok"] + summary["failed"]
        return float(summary["failed"] / ended) if ended else None
    if one.figure == "rate":
        return float(summary["achieved_per_s"])
    if one.figure == "mean" or one.q in KEPT:
        value = times["mean_s" if one.figure == "mean" else KEPT[one.q]]
        return None if value is None else float(value)
    requests = folder.frame("requests")
    if requests is None:
        return None
    good = requests.filter(pl.col("failure") == 0)
    return quantile(good["done_s"] - good["intended_s"], requests.height - good.height, one.q)


def _windowed(folder: RunFolder, one: Objective) -> float | None:
    requests = folder.frame("requests")
    if requests is None or requests.is_empty():
        return None
    start_s, end_s = folder.manifest["window_s"]
    requests = responses(requests)
    inside = in_window(requests, (start_s, end_s))
    good = inside.filter(pl.col("failure") == 0)
    if one.figure == "errors":
        return 1 - good.height / inside.height if inside.height else None
    if one.figure == "rate":
        answers = requests.filter((pl.col("failure") == 0) & pl.col("end_s").is_between(start_s, end_s)).height
        return answers * folder.sample_every / max(end_s - start_s, 1e-9)
    if one.figure == "mean":
        return float(good["response_s"].mean()) if good.height else None  # type: ignore[arg-type]
    return quantile(good["response_s"], inside.height - good.height, one.q)


def lines(found: Sequence[dict[str, Any]]) -> list[str]:
    """One line an objective, for a person."""
    return [f"{one['objective']}: {one['shown']}, {'met' if one['met'] else 'MISSED'}" for one in found]


def demand_met(found: Sequence[dict[str, Any]], verb: str) -> None:
    """
    Raises:
        ObjectiveMissed: at least one was missed.
    """
    missed = [f"{one['objective']}: {one['shown']}" for one in found if not one["met"]]
    if missed:
        raise ObjectiveMissed(f"objective missed, {'; '.join(missed)}", verb, "the figures above say by how much")
