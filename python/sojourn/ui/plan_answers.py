"""What the page of a model shows of `sojourn plan`: the cheapest configuration that meets an objective, and the front as points of a
figure. For a worker process, as `model_answers`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.errors import InputError
from sojourn.model.unknown_parameters import replaced
from sojourn.plan import Plan, PlannedConfiguration, plan
from sojourn.plan.plan_report import first_value, front_figure
from sojourn.ui.model_answers import factor_of, is_fitted, read_fitted, read_model, typed
from sojourn.ui.model_figures import drawn
from sojourn.units import percent

MOST_CONFIGURATIONS = 400
ABOUT = (
    "Intervals at {} are of the mean over a long time. Those of the figures above are of a new run, which varies more, so that values "
    "differ a little."
)
LOADS = ("rate_per_s", "users")
Vary = Mapping[str, Sequence[float]]


def planned(
    text: str, name: str, settings: Mapping[str, float], vary: Vary, objective: str, cost: str, width_px: int
) -> dict[str, Any]:
    """`vary`: path → values, of which all combinations are solved; the other numbers, the load among them, are those of the settings. SI
    units. InputError, QueryError, ModelError for what cannot be planned."""
    count = math.prod(len(values) for values in vary.values())
    if count > MOST_CONFIGURATIONS:
        raise InputError(f"{count} configurations", "plan", f"ask for at most {MOST_CONFIGURATIONS}")
    found = _plan(text, name, settings, vary, objective, cost)
    chosen = found.first or found.cheapest_outside_validated_range or found.nearest
    front = list(found.pareto_front)
    if chosen is not None and chosen not in front:
        front.append(chosen)
    figure = front_figure(front)
    lines = [line for line in found.lines() if not line.startswith("one step: ")]
    return {
        "lines": lines, "steps": [line for line in found.lines() if line.startswith("one step: ")], "notes": list(found.notes),
        "about": "" if not found.draws else ABOUT.format(percent(found.level, 0)), "configurations": found.configurations,
        "chosen": None if chosen is None else front.index(chosen),
        "front": [_point(one, vary) for one in front],
        "figures": drawn([figure], width_px),
    }  # fmt: skip


def _plan(text: str, name: str, settings: Mapping[str, float], vary: Vary, objective: str, cost: str) -> Plan:
    model = read_model(text, name)
    lists = {path: [typed(model, {path: value})[path] for value in values] for path, values in vary.items()}
    fixed = {path: value for path, value in typed(model, settings).items() if path not in lists}
    if not is_fitted(text):
        return plan(replaced(model, fixed) if fixed else model, lists, objective, cost)
    given = {factor_of(model, path): value for path, value in fixed.items()}
    load = next((given.pop(key) for key in LOADS if key in given), None)
    return plan(
        read_fitted(text, name), {**{key: [value] for key, value in given.items()}, **lists}, objective, cost, load=load
    )


def _point(one: PlannedConfiguration, vary: Vary) -> dict[str, Any]:
    settings = {path: one.settings[path] for path in vary}
    return {
        "settings": settings, "cost": one.cost, "terms": [str(term) for term in one.terms], "met": one.objective_met,
        "share_of_draws": one.share_of_draws_that_meet_it, "inside": one.in_validated_range, "y": first_value(one)[0],
    }  # fmt: skip
