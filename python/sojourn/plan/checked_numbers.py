"""What is varied in a plan, and its load, checked against the model and the runs that it was fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sojourn.errors import InputError, ModelError
from sojourn.fit.factor_mapping import FactorMapping
from sojourn.fit.fitted_model import FittedModel
from sojourn.model import Distribution
from sojourn.model.parameters import NumberByFactor
from sojourn.model.unknown_parameters import WHOLE


def all_said(fitted: FittedModel, said: set[str]) -> None:
    """Raises InputError for a factor of the model that varied between the runs and is not varied; the load may be."""
    for name, given in fitted.model.factors.items():
        known = {repr(run[name]) for run in fitted.configurations if name in run}
        paths = {text.partition("=")[0].strip() for text in ((given,) if isinstance(given, str) else given)}
        if len(known) > 1 and name not in said and not paths & said and name not in ("rate_per_s", "users"):
            raise _not_said(name)
    parameters = {v.factor if isinstance(v, NumberByFactor) else name for name, v in fitted.model.parameters.items()}
    for name in sorted(parameters):
        known = {repr(run[name]) for run in fitted.configurations if name in run}
        if len(known) > 1 and not {name, f"parameters.{name}"} & said:
            raise _not_said(name)


def _not_said(name: str) -> InputError:
    return InputError(f"no {name}", "--vary", f"say it, as in {name}=4: it varied between the runs")


def check_whole(mapping: FactorMapping, values: Sequence[Any]) -> None:
    """Raises InputError for a part of a server that is given as it is: what is computed from a factor is rounded."""
    if mapping.path.rpartition(".")[2] in WHOLE and set(mapping.value.names) == {mapping.name}:
        for value in values:
            if isinstance(value, float) and value != round(value) and mapping.result({mapping.name: value}) == value:
                raise InputError(f"{mapping.name} = {value:g}", "--vary", "give whole numbers, as 1..16")


def check_scaled(arrivals: Any) -> None:
    """Raises InputError for arrivals that are no distribution of times."""
    if arrivals is not None and not isinstance(arrivals, Distribution):
        remedy = "leave --load out, or give rate_per_s in the model and no arrivals"
        raise InputError(f"arrivals {type(arrivals).__name__}", "--load", remedy)


def check_told(fitted: FittedModel, varied: Iterable[str]) -> None:
    """Raises ModelError for a factor of the runs that changes nothing in the fitted model, nor in any that it is averaged with."""
    for name in varied:
        if any(model.has(name) or name in model.model.where for _, model in fitted.weighted):
            continue
        values = list(dict.fromkeys(str(run[name]) for run in fitted.configurations if name in run))
        were = f"{values[0]} in all runs" if len(values) == 1 else f"{', '.join(values)} in the runs"
        remedy = f'it was {were}; say what it changes in a model file, as [factors] {name} = "stations.NAME.servers", and fit that'
        raise ModelError(f"{name} changes nothing in the fitted model", "--vary", remedy)
