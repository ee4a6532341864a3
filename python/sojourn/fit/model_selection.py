"""`choose_model`: models that a service could be, fitted one by one, ranked by configurations that were left out.

Candidates (`candidate_models`) are one queue, alone or beside a delay or the cores. The simplest is taken whose squared
errors on configurations left out, and on the spread of responses (`response_spread`), are within one standard error of the
least (L. Breiman et al., Classification and Regression Trees (1984), 3.4.3). What predicts about as well is said, and is in
the predictions too (`averaged`), so that these are as wide as what the runs leave open; where none is good, that is said.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

from sojourn.errors import FitError, SojournError
from sojourn.fit.candidate_models import candidates, shares_of, whole_factors
from sojourn.fit.chosen_model import ChosenModel
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.left_out_errors import squares_left_out
from sojourn.fit.model_fit import FitToRank, fit, fit_to_rank
from sojourn.fit.model_weights import ranked
from sojourn.fit.response_spread import runs_of_spread, spread_square
from sojourn.former_keyword import former_keyword
from sojourn.model import Model
from sojourn.model.unknown_parameters import replaced
from sojourn.parallel import On, open_workers
from sojourn.units import USUAL_LEVEL

AUTO = "auto"
DRAWS_TO_RANK = 60


@former_keyword(on="parallel")
def choose_model(runs: FitRuns, level: float = USUAL_LEVEL, seed: int = 1, *, parallel: On = None) -> ChosenModel:
    """Fits all candidates and takes the simplest that predicts as well as the best; the others are its alternatives.

    `parallel`: workers, as of `fit`. Raises FitError where none can be fitted: it says why the first cannot.
    """
    with nullcontext() if parallel is None else open_workers(parallel) as workers:
        return _chosen(runs, level, seed, workers)


def _chosen(runs: FitRuns, level: float, seed: int, parallel: On) -> ChosenModel:
    fits: dict[str, FittedModel] = {}
    refused: list[str] = []
    models = {name: replace(model, name=name) for name, model in candidates(runs).items()}
    keys = {name: _same_here(model, runs) for name, model in models.items()}
    found: dict[str, FitToRank | SojournError] = {}
    for name, model in models.items():
        if keys[name] not in found:
            try:
                found[keys[name]] = fit_to_rank(runs, model, level, seed, DRAWS_TO_RANK, parallel)
            except SojournError as error:
                found[keys[name]] = error
        one = found[keys[name]]
        if isinstance(one, SojournError):
            refused.append(f"{name}: {one.value}")
        else:
            fits[name] = one.fitted if one.fitted.template is model else _as(one.fitted, model)
    if not fits:
        raise FitError("; ".join(refused[:1]), "model auto", "give a model file, or measure at more levels")
    first = next(iter(fits.values()))
    told = runs_of_spread(runs)
    spreads = {name: [spread_square(fitted, run) for run in told] for name, fitted in fits.items()}
    squares = squares_left_out(fits, runs).with_more(spreads, [first.configurations.index(run.factors) for run in told])
    found_best = ranked(fits, squares, shares=shares_of(models))
    best = fit(runs, models[found_best.chosen], level, seed, parallel=parallel)
    for name in found_best.beside:  # whose intervals are shown
        one = found[keys[name]]
        assert isinstance(one, FitToRank), "it was ranked"
        fits[name] = one.whole(fits[name])
    return ChosenModel.of(fits, found_best, best, _not_varied(runs))


def _same_here(model: Model, runs: FitRuns) -> str:
    """Equal for models that say the same of these runs: a number of servers, and a factor that was this number in all."""
    changed = {name for name, values in whole_factors(runs).items() if len(values) > 1}
    return replace(model, name="", factors={n: p for n, p in model.factors.items() if n in changed}).to_toml()


def _as(fitted: FittedModel, model: Model) -> FittedModel:
    """The fit of a model that says the same of these runs."""
    told = replaced(model, {path: estimate.value for path, estimate in fitted.estimates.items()})
    return replace(fitted, model=told, template=model)


def _not_varied(runs: FitRuns) -> list[str]:
    return [
        f"  {name} was {values.pop()} in all runs, so they do not show whether it limits the service; vary it, or give a model"
        for name, values in whole_factors(runs).items()
        if len(values) == 1
    ]
