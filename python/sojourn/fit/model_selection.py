"""`choose_model`: models that a service could be, fitted one by one, ranked by configurations that were left out.

Candidates (`candidate_models`) are one queue, alone or beside a delay or the cores. The simplest is taken whose squared
errors on configurations left out, and on the spread of the lightest run (`lightest`), are within one standard error of the
least (L. Breiman et al., Classification and Regression Trees (1984), 3.4.3). What predicts about as well is said, and is in
the predictions too (`averaged`), so that these are as wide as what the runs leave open; where none is good, that is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError, SojournError
from sojourn.fit.candidate_models import candidates, whole_factors
from sojourn.fit.fit_problem import FLOOR
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.lightest_run import spread_square
from sojourn.fit.model_averaging import weights
from sojourn.fit.model_evaluation import ModelEvaluator
from sojourn.fit.model_fit import fit_model
from sojourn.model import Model
from sojourn.model.unknown_parameters import replaced
from sojourn.parallel import On, open_workers
from sojourn.units import percent

FAR = 1.3  # rates of saturation whose ratio is more are far apart
POOR = 0.15  # median error of response times left out, beyond which no model is called good
DRAWS_TO_RANK = 60
LEAST_WEIGHT = 0.02  # of a model in the predictions

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ChosenModel:
    """The model that was taken, with its alternatives; its name, all that were fitted (name → model), why, and whether it is
    any good."""

    best: FittedModel
    name: str
    fits: Mapping[str, FittedModel]
    why: str
    good: bool


def choose_model(runs: FitRuns, level: float = 0.95, seed: int = 1, *, on: On = None) -> ChosenModel:
    """Fits all candidates and takes the simplest that predicts as well as the best; the others are its alternatives.

    `on`: workers, as of `fit_model`. Raises FitError where none can be fitted: it says why the first cannot.
    """
    with nullcontext() if on is None else open_workers(on) as workers:
        return _chosen(runs, level, seed, workers)


def _chosen(runs: FitRuns, level: float, seed: int, on: On) -> ChosenModel:
    fits: dict[str, FittedModel] = {}
    refused: list[str] = []
    models = candidates(runs)
    found: dict[str, FittedModel | SojournError] = {}
    for name, model in models.items():
        key = _same_here(model, runs)
        if key not in found:
            try:
                found[key] = fit_model(runs, model, level, seed, draws=DRAWS_TO_RANK, on=on)
            except SojournError as error:
                found[key] = error
        one = found[key]
        if isinstance(one, SojournError):
            refused.append(f"{name}: {one.value}")
        else:
            fits[name] = one if one.template is model else _as(one, model)
    if not fits:
        raise FitError("; ".join(refused[:1]), "model auto", "give a model file, or measure at more levels")
    squares = {name: _with_spread(_squares(fitted, runs), spread_square(fitted, runs)) for name, fitted in fits.items()}
    alike = _alike(squares)
    chosen = min(alike, key=lambda name: (len(fits[name].paths), squares[name].mean()))
    share = dict(zip(fits, weights([s.sum() for s in squares.values()]), strict=True))
    beside = [name for name in fits if share[name] >= LEAST_WEIGHT and name != chosen]
    whole = share[chosen] + sum(share[name] for name in beside)
    best = replace(
        fit_model(runs, models[chosen], level, seed, on=on),
        alternatives=tuple((float(share[name] / whole), fits[name]) for name in beside),
    )
    errors = {name: _errors(fitted) for name, fitted in fits.items()}
    good = float(np.median(np.abs(errors[chosen]))) <= POOR
    open_questions = [*_apart(fits, [chosen, *beside]), *_not_varied(runs)]
    why = [*_words(errors, chosen, beside, good), *open_questions]
    return ChosenModel(best, chosen, fits, "\n".join(why), good)


def _same_here(model: Model, runs: FitRuns) -> str:
    """Equal for models that say the same of these runs: a number of servers, and a factor that was this number in all."""
    changed = {name for name, values in whole_factors(runs).items() if len(values) > 1}
    return replace(model, factors={n: p for n, p in model.factors.items() if n in changed}).to_toml()


def _as(fitted: FittedModel, model: Model) -> FittedModel:
    """The fit of a model that says the same of these runs."""
    told = replaced(model, {path: estimate.value for path, estimate in fitted.estimates.items()})
    return replace(fitted, model=told, template=model)


def _alike(squares: Mapping[str, Array]) -> list[str]:
    """Those within one standard error of the least mean square. Noise alone has one of sqrt(2/n) (chi²), however equal the
    errors of the best happen to be."""
    least = min(squares.values(), key=lambda s: float(s.mean()))
    error = max(least.std(ddof=1), np.sqrt(2) * min(1.0, float(least.mean()))) if len(least) > 1 else least.mean()
    limit = least.mean() + error / np.sqrt(len(least))
    return [name for name, values in squares.items() if values.mean() <= limit]


def _errors(fitted: FittedModel) -> Array:
    """Logarithms of predicted by measured, a configuration left out each: of response times, else of throughputs."""
    rows = [row.get("response_time", row.get("throughput")) for row in fitted.held_out]
    errors = np.array([float(str(value)) for value in rows if value is not None])
    return np.asarray(np.log1p(np.maximum(errors, -0.99)))


def _squares(fitted: FittedModel, runs: FitRuns) -> Array:
    """The same, squared and in units of what runs of such a length are known by."""
    known = []
    for row, configuration in zip(fitted.held_out, fitted.configurations, strict=True):
        metric = next((m for m in ("response_time", "throughput") if m in row), None)
        if metric is None:
            continue
        same = [run for run in runs.runs if run.factors == configuration and ("", metric) in run.means]
        within = np.array([run.means["", metric][1] for run in same])
        known.append(FLOOR[metric] ** 2 + float((within**2).mean()) / len(within))
    return np.asarray(_errors(fitted) ** 2 / np.array(known))


def _with_spread(squares: Array, spread: float | None) -> Array:
    return squares if spread is None else np.append(squares, spread)


def _apart(fits: Mapping[str, FittedModel], names: Sequence[str]) -> list[str]:
    """Where models that predict as well saturate at rates that are far apart."""
    found = [
        float(ModelEvaluator(fits[n].template, [fits[n].configurations[0]]).at(_best(fits[n])).saturation[0])
        for n in names
    ]
    ends = [rate for rate in found if np.isfinite(rate)]
    if not ends or max(ends) < FAR * min(ends):
        return []
    return [
        f"  those that predict as well saturate between {min(ends):.3g}/s and {max(ends):.3g}/s: do not extrapolate; measure at "
        "higher rates, or give a model of your own"
    ]


def _best(fitted: FittedModel) -> Array:
    return np.array([[fitted.estimates[path].value for path in fitted.paths]])


def _not_varied(runs: FitRuns) -> list[str]:
    return [
        f"  {name} was {values.pop()} in all runs: whether it limits the service they do not tell; vary it, or give a model"
        for name, values in whole_factors(runs).items()
        if len(values) == 1
    ]


def _words(errors: Mapping[str, Array], chosen: str, beside: Sequence[str], good: bool) -> list[str]:
    size = {name: float(np.sqrt((e**2).mean())) for name, e in errors.items()}
    lines = [f"  {name}: {percent(size[name])} off where left out" for name in sorted(size, key=lambda n: size[n])[:4]]
    tie = f"; {len(beside)} more predict as well, and these runs cannot tell them apart" if beside else ""
    head = f"{chosen}: taken of {len(errors)} models{tie}"
    if not good:
        head = f"none of {len(errors)} models fits, do not extrapolate; the nearest is {chosen}"
    return [head, *lines]
