"""A plan as a report: the answer, and the configurations that nothing beats as a figure and a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sojourn.plan.plan_result import SURE, Plan, PlannedConfiguration
from sojourn.report.document import Document, Figure, Section, Series, Table
from sojourn.report.markup import unmarked
from sojourn.units import percent

SHOWN = 20  # configurations
FRONT = ("meets the objective", "meets it, but not for sure", "misses it")


def plan_document(found: Plan) -> Document:
    """Verdict, front, notes."""
    front = found.pareto_front
    drawn = (front_figure(front),) if front and found.cost_given else ()
    share = "draws that meet it" if found.draws else "meets the objective"
    columns = (
        "configuration",
        *(("cost",) if found.cost_given else ()),
        "objective",
        share,
        "outside what was measured",
    )
    rows = tuple(_row(one, found.cost_given) for one in front[:SHOWN])
    left = f"{len(front) - SHOWN} more are not shown" if len(front) > SHOWN else ""
    table = (Table("Configurations that no other beats", columns, rows, note=left),) if rows else ()
    met = found.first is not None
    return Document(
        title=f"Plan for {found.objective}", subtitle=found.load_name if found.load is None else f"{found.load_name} {found.load}",
        verdict=[*map(unmarked, found.lines()), *map(unmarked, found.notes)], status="ok" if met else "warn",
        sections=(Section("Cost and objective", "", (*drawn, *table)),) if rows else (),
    )  # fmt: skip


def _row(one: PlannedConfiguration, cost_given: bool) -> tuple[str | float | None, ...]:
    share = one.share_of_draws_that_meet_it
    met = ("yes" if one.objective_met else "no") if share is None else percent(share)
    outside = "yes" if one.in_validated_range is False else ""
    return (one.name, *((one.cost,) if cost_given else ()), "; ".join(map(str, one.terms)), met, outside)


def front_figure(front: Sequence[PlannedConfiguration]) -> Figure:
    """Cost against the first comparison of the objective: what meets it, and what does not; the limit as a line."""
    unit = {1.0: "ms", -1.0: "1/s"}.get(front[0].terms[0].dimension, "") if front else ""
    series = []
    for name in FRONT:
        own = [one for one in front if _how_sure(one) == name and first_value(one)[0] is not None]
        if own:
            ys, low, high = zip(*(first_value(one) for one in own), strict=True)
            told = any(end is not None for end in low)
            xs = [one.cost for one in own]
            series.append(Series(name, xs, ys, low if told else None, high if told else None, style="points"))
    limit = _limit(front)
    if limit is not None and series:
        costs = [one.cost for one in front if one.cost is not None]
        series.append(Series("objective", [min(costs), max(costs)], [limit] * 2, style="dashed"))
    first = front[0].terms[0].shown if front else "objective"
    return Figure(
        "front",
        "Cost and objective",
        "cost",
        f"{first} ({unit})".removesuffix(" ()"),
        tuple(series),
        y_limits=(0.0, None),
    )


def _how_sure(one: PlannedConfiguration) -> str:
    if not one.objective_met:
        return FRONT[2]
    return FRONT[0] if (one.share_of_draws_that_meet_it or 1.0) >= SURE else FRONT[1]


def first_value(one: PlannedConfiguration) -> tuple[float | None, float | None, float | None]:
    """Value and ends of the first comparison, seconds as milliseconds; None for what does not exist or has no end."""
    term = one.terms[0]
    scale = 1e3 if term.dimension == 1.0 else 1.0
    return tuple(  # type: ignore[return-value]
        None if value is None or not math.isfinite(value) else value * scale
        for value in (term.value, term.low, term.high)
    )


def _limit(front: Sequence[PlannedConfiguration]) -> float | None:
    """The upper limit of an objective that is one comparison: violation is (value - limit) / limit."""
    for one in front:
        value = first_value(one)[0]
        if len(one.terms) == 1 and "<" in one.terms[0].text and value is not None and math.isfinite(one.violation):
            return value / (1 + one.violation) if one.violation > -1 else None
    return None
