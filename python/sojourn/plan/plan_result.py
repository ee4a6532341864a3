"""`Plan`: what a plan answers; as a table of values and as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.fit.fitted_model_data import FIT_SAID
from sojourn.former_keyword import former_field
from sojourn.notebook import ShownInNotebook
from sojourn.units import interval, percent

OUTSIDE = "OUTSIDE what was measured"
SURE = 0.9  # of the draws: below it the cheapest that meets the objective so often is named as well


@dataclass(frozen=True)
class TermValue:
    """One comparison of the objective at the worst load: its left side `shown`, value in SI units (NaN: none), interval over draws."""

    text: str
    shown: str
    dimension: float  # power of the second
    value: float
    low: float | None
    high: float | None

    def __str__(self) -> str:
        unit = {1.0: "s", -1.0: "1/s"}.get(self.dimension, "1")
        if math.isnan(self.value):
            return f"{self.shown}: none, it cannot take the load"
        high = None if self.high is None or math.isinf(self.high) else self.high
        told = interval(self.value, self.low, high, unit)
        return f"{self.shown} {told.replace('–)', '∞)') if self.low is not None else told}"


@former_field(
    chance="share_of_draws_that_meet_it",
    most_regret="max_regret",
    met="objective_met",
    inside="in_validated_range",
    share_of_time="share_of_time_that_meets_it",
)
@dataclass(frozen=True)
class PlannedConfiguration:
    """One configuration: factor or path → value, its cost (None where none was given), whether the model says that it meets the objective
    at all loads (`objective_met`), and by how much not (`violation`, relative to the limit; below 0 there is room).
    `share_of_draws_that_meet_it`, and regrets in the unit of the cost; None without draws. `in_validated_range`: None where there is
    none. `share_of_time_that_meets_it`: of a trace."""

    settings: Mapping[str, Any]
    cost: float | None
    objective_met: bool
    violation: float
    terms: tuple[TermValue, ...]
    share_of_draws_that_meet_it: float | None
    mean_regret: float | None
    max_regret: float | None
    in_validated_range: bool | None
    share_of_time_that_meets_it: float | None = None

    @property
    def name(self) -> str:
        """`cores = 4, nics = 2`."""
        return settings_text(self.settings) or "the model unchanged"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        terms = [{k: v for k, v in vars(t).items() if k != "shown"} for t in self.terms]
        return {**vars(self), "settings": dict(self.settings), "terms": terms}

    def __str__(self) -> str:
        cost = [] if self.cost is None else [f"cost {self.cost:.4g}"]
        parts = [self.name, *cost, *map(str, self.terms)]
        if self.share_of_draws_that_meet_it is not None:
            parts.append(f"meets the objective in {percent(self.share_of_draws_that_meet_it)} of the draws")
        if self.mean_regret is not None and self.max_regret is not None:
            parts.append(f"regret {self.mean_regret:.3g} on average, at most {self.max_regret:.3g}")
        if self.share_of_time_that_meets_it is not None:
            parts.append(f"meets the objective in {percent(self.share_of_time_that_meets_it)} of the trace's time")
        if not self.objective_met:
            parts.append("misses the objective")
        if self.in_validated_range is False:
            parts.append(OUTSIDE)
        return "; ".join(parts)


@former_field(from_="from_value", to="to_value", choice="configuration_after_step")
@dataclass(frozen=True)
class Step:
    """A choice with one factor a level higher or lower."""

    factor: str
    from_value: Any
    to_value: Any
    configuration_after_step: PlannedConfiguration

    def told(self, base: PlannedConfiguration) -> str:
        """What it costs and brings beside `base`."""
        change = ""
        if self.configuration_after_step.cost is not None and base.cost is not None:
            less = self.configuration_after_step.cost < base.cost
            change = f" {'saves' if less else 'costs'} {abs(self.configuration_after_step.cost - base.cost):.3g}"
        parts = [*map(str, self.configuration_after_step.terms)]
        before, after = base.share_of_draws_that_meet_it, self.configuration_after_step.share_of_draws_that_meet_it
        if before is not None and after is not None:
            parts.append(f"{percent(before)} → {percent(after)} of the draws meet the objective")
        if not self.configuration_after_step.objective_met:
            parts.append("misses the objective")
        if self.configuration_after_step.in_validated_range is False:
            parts.append(OUTSIDE)
        return f"{self.factor} {shown(self.from_value)} → {shown(self.to_value)}{change}: {'; '.join(parts)}"


@dataclass(frozen=True)
class CheapestAtLoad:
    """The cheapest settings that meet the objective at one load (without a cost: the first); None where there are none."""

    load: float
    settings: Mapping[str, Any] | None
    cost: float | None


@former_field(
    least_regret="least_mean_regret",
    least_most_regret="least_max_regret",
    front="pareto_front",
    binds="limiting_term",
    price="miss_price",
    cheapest_outside="cheapest_outside_validated_range",
    priced="cost_given",
)
@dataclass(frozen=True)
class Plan(ShownInNotebook):
    """`cheapest` that meets the objective inside the validated range; `cheapest_outside_validated_range`: cheaper still, or the only one,
    but nothing like it was measured; `nearest`: where none meets it. `least_mean_regret` over the draws, `least_max_regret`.
    `pareto_front`: not beaten in cost, violation and robustness (share of draws; without draws: room). Where no cost was given
    (`cost_given`) `cheapest` is the first in the order given, and `pareto_front` has all. `steps`, `limiting_term` of the
    `first` choice, or of what stands for it. `miss_price`: of a missed objective in regret. `by_load`: the cheapest at each load.
    `warnings`: what the fit said against trust in its predictions."""

    _REPORT = "plan.plan_report:plan_document"

    objective: str
    load: str | None
    load_name: str
    configurations: int
    cheapest: PlannedConfiguration | None
    cheapest_outside_validated_range: PlannedConfiguration | None
    nearest: PlannedConfiguration | None
    least_mean_regret: PlannedConfiguration | None
    least_max_regret: PlannedConfiguration | None
    pareto_front: tuple[PlannedConfiguration, ...]
    steps: tuple[Step, ...]
    limiting_term: str
    by_load: tuple[CheapestAtLoad, ...]
    miss_price: float | None
    draws: int
    level: float
    notes: tuple[str, ...]
    cost_given: bool = True
    warnings: tuple[str, ...] = ()

    @property
    def first(self) -> PlannedConfiguration | None:
        """What to choose: least mean regret where there are draws, else the cheapest; None where nothing inside the validated range meets
        the objective at the fitted values."""
        return None if self.cheapest is None else self.least_mean_regret or self.cheapest

    def to_dict(self) -> dict[str, Any]:
        """For JSON; choices as tables."""
        found = {}
        for name, value in vars(self).items():
            if isinstance(value, PlannedConfiguration):
                value = value.to_dict()
            elif name == "pareto_front":
                value = [one.to_dict() for one in value]
            elif name == "steps":
                value = [
                    {**vars(one), "configuration_after_step": one.configuration_after_step.to_dict()} for one in value
                ]
            elif name == "by_load":
                value = [vars(one) for one in value]
            found[name] = value
        return found

    def __str__(self) -> str:
        return "\n".join(self.lines())

    @property
    def cheapest_sure(self) -> PlannedConfiguration | None:
        """Of the front, the cheapest that meets the objective in `SURE` of the draws; None where none does or no cost is known."""
        enough = [
            one
            for one in self.pareto_front
            if one.cost is not None and (one.share_of_draws_that_meet_it or 0.0) >= SURE
        ]
        return min(enough, key=lambda one: one.cost or 0.0, default=None)

    def lines(self) -> list[str]:
        """The answer in lines, the front not among them."""
        cheapest = "cheapest" if self.cost_given else "first that meets it"
        titles: dict[str, list[str]] = {}
        choices: dict[str, PlannedConfiguration] = {}
        for title, one in (
            ("least regret", self.first and self.least_mean_regret), ("least maximum regret", self.first and self.least_max_regret),
            (cheapest, self.cheapest),
            (f"{'cheaper' if self.cheapest and self.cost_given else cheapest}, but outside the validated range",
             self.cheapest_outside_validated_range),
            ("nearest", self.nearest),
        ):  # fmt: skip
            if one is not None:
                titles.setdefault(one.name, []).append(title)
                choices[one.name] = one
        found = [f"{' and '.join(names)}: {choices[name]}" for name, names in titles.items()]
        if self.first is not None:
            found[0] = f"choose, {found[0]}" if self.cost_given else found[0]
        elif self.cheapest_outside_validated_range is not None:
            found.insert(
                0, "no configuration within the measured range meets the objective: first measure near the one below"
            )
        else:
            found.insert(0, "nothing meets the objective")
        base = self.first or self.cheapest_outside_validated_range or self.nearest
        if (
            self.cost_given
            and base is not None
            and base.objective_met
            and (base.share_of_draws_that_meet_it or 1.0) < SURE
        ):
            sure = self.cheapest_sure
            found.append(
                f"to be {percent(SURE, 0)} sure, {'nothing of the front is enough' if sure is None else f'cheapest: {sure}'}"
            )
        if self.limiting_term:
            found.append(f"binds: {self.limiting_term}")
        found += [f"one step: {step.told(base)}" for step in self.steps if base is not None]
        return [*(f"{FIT_SAID}: {said}" for said in self.warnings), *found]


def settings_text(settings: Mapping[str, Any]) -> str:
    """`cores = 4, nics = 2`."""
    return ", ".join(f"{name} = {shown(value)}" for name, value in settings.items())


def shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
