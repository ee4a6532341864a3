"""What the runs of a search say so far: a model of them, the rate that meets the objective by it, and where it is full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sojourn.capacity.capacity_result import CapacityRun
from sojourn.capacity.capacity_run import figures
from sojourn.capacity.objective_limit import limit_of
from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.short_run_error import as_modelled, with_their_errors
from sojourn.errors import SojournError
from sojourn.fit import FittedModel, observe_runs
from sojourn.fit.model_selection import choose_model
from sojourn.query.objectives import Objective
from sojourn.runs.run_folder import RunFolder

LEAST_RATES = 3  # that there must be for a model


@dataclass(frozen=True)
class SearchState:
    """`fitted`: the model, `words`: its name; `rate`: the largest that meets the objective; `why`: what is missing, or doubtful."""

    fitted: FittedModel | None = None
    rate: RateInterval | None = None
    saturation: RateInterval | None = None
    why: str = ""
    words: str = ""


def state_of(
    folders: Sequence[RunFolder],
    runs: Sequence[CapacityRun],
    objectives: Sequence[Objective],
    level: float,
    before: SearchState,
) -> SearchState:
    """By a model that is fitted to `folders`; `before` where they are too few for one. `objectives`: of response times."""
    if len({one.rate_per_s for one in runs}) < LEAST_RATES:
        return before
    runs = as_modelled(runs, before.fitted)
    try:
        chosen = choose_model(with_their_errors(observe_runs(folders), runs))
    except SojournError as error:
        return replace(before, why=f"no model: {error.value}; {error.remedy}")
    fitted = chosen.best
    saturation = _saturation(fitted, max(one.rate_per_s for one in runs), level)
    try:
        runs = as_modelled(runs, fitted)
        rate = limit_of(fitted, objectives, figures(runs), saturation, level)
    except SojournError as error:
        return SearchState(fitted, None, saturation, f"the model does not answer: {error.value}; {error.remedy}")
    if not rate.value > 0:
        text = " and ".join(one.text for one in objectives)
        return SearchState(fitted, None, saturation, f"no rate meets {text}, as far as these runs tell", chosen.name)
    return SearchState(fitted, rate, saturation, "" if chosen.good else "no model fits these runs well", chosen.name)


def _saturation(fitted: FittedModel, rate_per_s: float, level: float) -> RateInterval | None:
    """The rate at which the model is full."""
    frame = fitted.predict({"rate_per_s": rate_per_s}, level).frame.filter(metric="saturation_rate", station="")
    row = next((one for one in frame.to_dicts() if one["class"] == "" and one["value"] is not None), None)
    if row is None:
        return None
    low = row["value"] if row["low"] is None else row["low"]
    return RateInterval(row["value"], low, row["high"])
