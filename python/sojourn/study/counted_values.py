"""How many predicted values there are, could be checked, and lie in their intervals: one count for verdict, report and workbench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sojourn.fit.chosen_model import NO_EXTRAPOLATION
from sojourn.fit.run_mean_error import MISFIT
from sojourn.study.evaluation import is_prediction
from sojourn.units import percent

INSIDE, OUTSIDE, NO_UPPER_LIMIT = "inside", "outside", "no upper limit"


@dataclass(frozen=True)
class CountedValues:
    """`asked`: values that say more than what was given; `judged` of them: those of valid runs that have an interval. Of these `inside`
    lie in it; `open_above` of the ones inside lie in an interval that has no upper limit, above which nothing can be measured."""

    asked: int
    judged: int
    inside: int
    open_above: int

    @staticmethod
    def of(asked: pl.DataFrame) -> CountedValues:
        """`asked`: rows of evaluation.SCHEMA, as `asked_rows` leaves them."""
        known = asked.filter(pl.col("inside").is_not_null())
        inside = known.filter(pl.col("inside"))
        return CountedValues(asked.height, known.height, inside.height, inside.filter(pl.col("high").is_null()).height)

    def text(self, level: float) -> str:
        """As a sentence without its full stop; empty where nothing could be checked."""
        if not self.judged:
            return ""
        intervals = f"the {percent(level, 0)} intervals that were written before they were run"
        said = f"{self.inside} of {self.judged} measured values lie in {intervals}"
        if self.judged < self.asked:
            said = f"{self.judged} of {self.asked} predicted values could be checked, {self.inside} inside {intervals}"
        return f"{said} ({self.open_above} of them with no upper limit)" if self.open_above else said

    def to_dict(self) -> dict[str, int]:
        """For JSON."""
        return dict(vars(self))


def asked_rows(rows: pl.DataFrame, factors: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
    """Of rows of evaluation.SCHEMA those that say more than what was given: each is judged, or could not be. `factors`: of each run."""
    keep = [
        is_prediction({**row, "value": row["predicted"]}, factors.get(row["run"], {}))
        and (row["metric"], row["predicted"]) != ("throughput", None)  # saturated: its response time says so
        for row in rows.iter_rows(named=True)
    ]
    return rows.filter(pl.Series(keep, dtype=pl.Boolean))


def judged_text(row: Mapping[str, Any]) -> str:
    """What a row came to, in a word or a few."""
    if not row["valid"]:
        return "not judged: the run is not valid"
    if row["inside"] is None:
        return "–"
    if not row["inside"]:
        return OUTSIDE
    return INSIDE if row["high"] is not None else f"{INSIDE} ({NO_UPPER_LIMIT})"


def misses_first(lines: Sequence[str]) -> list[str]:
    """A verdict that begins with the lines that say that no model fits."""
    found = sorted(
        (line for line in lines if is_misfit(line)), key=lambda line: line.startswith(MISFIT)
    )  # the answer, then why
    return [*found, *(line for line in lines if line not in found)]


def is_misfit(line: str) -> bool:
    """Whether it says that a model, or each of several, does not fit."""
    head = line.partition("\n")[0].partition(";")[0]
    return line.startswith(MISFIT) or (NO_EXTRAPOLATION in head and not head.startswith(" "))
