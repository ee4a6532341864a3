"""`fit_rivals`: models that a user holds for possible, each fitted to the same runs, and averaged where these cannot tell them apart.

`auto` may be one of them: it counts as one model, whatever it is an average of (`model_selection`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from sojourn.errors import FitError, InputError, MethodRefused
from sojourn.fit.chosen_model import ChosenModel
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.left_out_errors import squares_left_out
from sojourn.fit.model_fit import fit
from sojourn.fit.model_selection import AUTO, choose_model
from sojourn.fit.model_weights import ranked
from sojourn.former_keyword import former_keyword
from sojourn.model import Model
from sojourn.parallel import On, open_workers
from sojourn.units import USUAL_LEVEL

AVERAGED = "averaged"  # the name of what is averaged, beside its rivals


def rival_names(names: Sequence[str]) -> dict[str, str]:
    """Of model files and "auto": its name without the ending → as it was given. Raises InputError where these do not differ."""
    found: dict[str, str] = {}
    for name in names:
        stem = Path(name).stem
        if stem in found or stem == AVERAGED or (stem == AUTO and name != AUTO):
            raise InputError(
                repr(name), "model", f"give files with names that differ, other than {AUTO} and {AVERAGED}"
            )
        found[stem] = name
    if not found:
        raise InputError("no model", "model", "give a model file, several, or auto")
    return found


def read_rivals(names: Sequence[str], folder: Path) -> dict[str, Model | str]:
    """The models of `rival_names`, of files in `folder`. Raises InputError or ModelError for a file."""
    return {stem: AUTO if name == AUTO else Model.read(folder / name) for stem, name in rival_names(names).items()}


@former_keyword(on="parallel")
def fit_rivals(
    runs: FitRuns,
    models: Mapping[str, Model | str],
    level: float = USUAL_LEVEL,
    seed: int = 1,
    *,
    prior: Mapping[str, float] | None = None,
    parallel: On = None,
) -> ChosenModel:
    """Fits each of `models` (name → a model with unknowns, or "auto"), and averages those that predict about as well where a
    configuration is left out: the simplest is named, the others are its alternatives. Models of different runs (`Model.where`) are no
    rivals: each answers where it is the one.

    `prior`: name → what is believed of it before the runs, relative, 1 where nothing is said; above 0. `parallel`: workers, as of
    `fit`. What cannot be fitted to the runs is left out, and `why` says so. Raises FitError or MethodRefused where that is so of all of
    them, or of those that more is believed of than of the others; InputError for what is no model.
    """
    if not models:
        raise InputError("no model", "models", "give two or more, by name")
    for name, belief in (prior or {}).items():
        if name not in models or not (belief > 0 and belief < inf):
            raise InputError(f"{name} = {belief}", "prior", f"give numbers above 0, for {', '.join(models)}")
    groups = by_runs(models)
    with nullcontext() if parallel is None else open_workers(parallel) as workers:
        found = [_fitted(runs, own, level, seed, prior, workers) for own in groups]
    return found[0] if len(found) == 1 else _together(found)


def by_runs(models: Mapping[str, Model | str]) -> list[dict[str, Model | str]]:
    """Rivals are models of the same runs (`Model.where`). Raises InputError for two of which a run could be of both."""
    groups: list[tuple[Mapping[str, Any], dict[str, Model | str]]] = []
    for name, model in models.items():
        where = model.where if isinstance(model, Model) else {}
        own = next((group for known, group in groups if known == where), None)
        if own is not None:
            own[name] = model
            continue
        for known, group in groups:
            if all(known[factor] == where[factor] for factor in known.keys() & where.keys()):
                value = f"{name} and {next(iter(group))} are models of different runs, but some runs may belong to both"
                raise InputError(value, "where", "give [where] of the same factors in each")
        groups.append((where, {name: model}))
    return [group for _, group in groups]


def _together(parts: Sequence[ChosenModel]) -> ChosenModel:
    """Models of different runs as one, each of which answers where it is the one."""
    first, *others = parts
    best = replace(first.best, models_of_other_runs=tuple(part.best for part in others))
    fits = {name: fitted for part in parts for name, fitted in part.fits.items()}
    why = "\n".join(map(_said, parts))
    return ChosenModel(best, ", ".join(part.name for part in parts), fits, why, all(part.good for part in parts))


def _said(part: ChosenModel) -> str:
    """Why it was taken; of one that has no rival how far it is off."""
    _, *beside = part.why.splitlines()
    if len(part.fits) > 1 or not beside:
        return part.why
    told, *notes = beside
    return "\n".join([told.strip().removesuffix(", weight 1.00"), *notes])


def _fitted(
    runs: FitRuns,
    models: Mapping[str, Model | str],
    level: float,
    seed: int,
    prior: Mapping[str, float] | None,
    parallel: On,
) -> ChosenModel:
    fits: dict[str, FittedModel] = {}
    notes: list[str] = []
    refusals: dict[str, FitError | MethodRefused] = {}
    for name, model in models.items():
        try:
            if isinstance(model, Model):
                fits[name] = fit(runs, replace(model, name=name), level, seed, parallel=parallel)
            elif model == AUTO:
                chosen = choose_model(runs, level, seed, parallel=parallel)
                fits[name] = chosen.best
                notes.append(f"{name}: {chosen.why}")
            else:
                raise InputError(repr(model), f"models.{name}", 'give a Model, or "auto"')
        except (FitError, MethodRefused) as error:
            refusals[name] = error
            notes.append(f"{name} is left out because it cannot be fitted to these runs: {error.value}; {error.remedy}")
    if not fits:
        raise next(iter(refusals.values()))
    _believed_enough(fits, refusals, prior)
    found = ranked(fits, squares_left_out(fits, runs), prior)
    return ChosenModel.of(fits, found, fits[found.chosen], notes)


def _believed_enough(
    fits: Mapping[str, FittedModel],
    refusals: Mapping[str, FitError | MethodRefused],
    prior: Mapping[str, float] | None,
) -> None:
    """An interval of the models that are left holds less than half of what is believed where the others have the greater part."""
    belief = {name: (prior or {}).get(name, 1.0) for name in (*fits, *refusals)}
    if prior is None or sum(belief[name] for name in refusals) <= sum(belief[name] for name in fits):
        return
    name = max(refusals, key=lambda one: belief[one])
    error = refusals[name]
    value = f"{name}, the model that is believed most before the runs, cannot be fitted to these runs: {error.value}"
    raise FitError(value, error.place, f"{error.remedy}; repeat runs that were not valid")
