"""`fit_assuming`: a fit of a model of which the runs do not determine two unknowns separately, instead of a refusal.

One of them is given several values, far apart, the rest is fitted with each, and the fits are averaged by what they say of
configurations that were left out (`model_weights`): where the runs hardly tell the values apart, predictions are as wide as all of them.
What is assumed is said. A squared coefficient of variation is a ninth to nine times its start, or 0.1 to 30 where none is given; a time
that may be 0 is a part of the response time of the lightest run. Unknowns that no run of this kind could tell stay refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sojourn.errors import FitError, Undetermined
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.left_out_errors import squares_left_out
from sojourn.fit.model_fit import fit
from sojourn.fit.model_weights import ranked
from sojourn.former_keyword import former_keyword
from sojourn.model import Model
from sojourn.model.unknown_parameters import Unknown, replaced, unknowns
from sojourn.parallel import On
from sojourn.units import USUAL_LEVEL

SCV = ".scv"
SPREADS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # of service, where no start is given
AROUND = (1 / 9, 1 / 3, 1.0, 3.0, 9.0)  # times a start
PARTS = (0.05, 0.2, 0.4, 0.6, 0.8)  # of the response time of the lightest run


@former_keyword(on="parallel")
def fit_assuming(
    runs: FitRuns, model: Model, level: float = USUAL_LEVEL, seed: int = 1, *, parallel: On = None
) -> FittedModel:
    """As `fit`, of a model of which the runs determine at least all unknowns but one. Raises what `fit` raises where that does not help."""
    try:
        return fit(runs, model, level, seed, parallel=parallel)
    except Undetermined as error:
        refused = error
    path = _assumed(refused.unknowns, model)
    if path is None:
        raise refused
    fits: dict[str, FittedModel] = {}
    for value in _values(path, unknowns(model)[path], runs.of(model)):
        name = f"{model.name or 'the model'}, {path} = {value:.3g}"
        try:
            fits[name] = fit(runs, replace(replaced(model, {path: value}), name=name), level, seed, parallel=parallel)
        except FitError:
            continue
    if not fits:
        raise refused
    found = ranked(fits, squares_left_out(fits, runs.of(model)))
    chosen = found.averaged(fits[found.chosen], fits)
    told = ", ".join(f"{name.rpartition(' = ')[2]} ({share:.2f})" for name, share in found.share.items())
    said = f"{refused.value}: {path} is assumed, and predictions are averaged over its values (weights): {told}"
    return replace(chosen, message=f"{said}\n{chosen.message}")


def _assumed(names: Sequence[str], model: Model) -> str | None:
    """The unknown that is given values: a variance, else a time that may be 0."""
    free = unknowns(model)
    spreads = [name for name in names if name.endswith(SCV)]
    nothing = [name for name in names if name in free and free[name].low == 0 and "demands_s." in name]
    return next(iter(spreads + nothing), None)


def _values(path: str, given: Unknown, runs: FitRuns) -> list[float]:
    if path.endswith(SCV):
        wanted = [by * float(given) for by in AROUND] if given.given else list(SPREADS)
    else:
        times = [run.means["", "response_time"][0] for run in runs.runs if ("", "response_time") in run.means]
        wanted = [part * min(times) for part in PARTS] if times else []
    return [value for value in wanted if max(given.low, 0.0) <= value <= given.high]
