"""What the runs of a search say so far: a model of them, the rate that meets the objective by it, and where it is full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sojourn.capacity.capacity_result import CapacityRun
from sojourn.capacity.capacity_run import figures
from sojourn.capacity.objective_limit import limit_of
from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.short_run_error import as_modelled, with_their_errors
from sojourn.capacity.users_evidence import UsersEvidence
from sojourn.errors import SojournError
from sojourn.fit import FitRuns, FittedModel, observe_runs
from sojourn.fit.model_selection import choose_model
from sojourn.query.objectives import Objective
from sojourn.runs.run_folder import RunFolder

LEAST_RATES = 3  # that there must be for a model


@dataclass(frozen=True)
class SearchState:
    """`fitted`: the model, `words`: its name; `rate`: the largest that meets the objective; `why`: what is missing, or doubtful; `runs`:
    with errors no smaller than the model's; `evidence`: what a few users say of its draws."""

    fitted: FittedModel | None = None
    rate: RateInterval | None = None
    saturation: RateInterval | None = None
    why: str = ""
    words: str = ""
    runs: Sequence[CapacityRun] = ()
    evidence: UsersEvidence | None = None


def state_of(
    folders: Sequence[RunFolder] | FitRuns,
    runs: Sequence[CapacityRun],
    objectives: Sequence[Objective],
    level: float,
    before: SearchState,
    few: RateInterval | None = None,
) -> SearchState:
    """By a model that is fitted to `folders`; `before` where they are too few for one. `objectives`: of response times. `few`: where the
    service is full, as a few users say."""
    if len({one.rate_per_s for one in runs}) < LEAST_RATES:
        return before
    seen = as_modelled(runs, before.fitted)
    try:
        own = folders if isinstance(folders, FitRuns) else observe_runs(folders, slow_seconds=False)
        chosen = choose_model(with_their_errors(own, seen))
    except SojournError as error:
        return replace(before, why=f"no model: {error.value}; {error.remedy}")
    fitted = chosen.best
    evidence = UsersEvidence.of(fitted, few, level) if few is not None else None
    saturation = evidence.saturation if evidence else _saturation(fitted, max(one.rate_per_s for one in runs), level)
    runs = as_modelled(runs, fitted)
    known = SearchState(fitted, None, saturation, "", chosen.name, runs, evidence)
    try:
        rate = limit_of(
            fitted, objectives, figures(runs), saturation, level, weights=evidence.weights if evidence else None
        )
    except SojournError as error:
        return replace(known, why=f"the model does not answer: {error.value}; {error.remedy}", words="")
    if not rate.value > 0:
        text = " and ".join(one.text for one in objectives)
        return replace(known, why=f"no rate meets {text}, as far as these runs tell")
    return replace(known, rate=rate, why="" if chosen.good else "no model fits these runs well")


def _saturation(fitted: FittedModel, rate_per_s: float, level: float) -> RateInterval | None:
    """The rate at which the model is full."""
    frame = fitted.predict({"rate_per_s": rate_per_s}, level).frame.filter(metric="saturation_rate", station="")
    row = next((one for one in frame.to_dicts() if one["class"] == "" and one["value"] is not None), None)
    if row is None:
        return None
    low = row["value"] if row["low"] is None else row["low"]
    return RateInterval(row["value"], low, row["high"])
