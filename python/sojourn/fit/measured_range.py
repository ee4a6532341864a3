"""Whether a configuration lies among those that were measured: each factor between the least and the most of the runs, and each
number of the model that no factor of the runs changed as the model has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sojourn.errors import FitError
from sojourn.fit.factor_distance import standing
from sojourn.fit.factor_mapping import FactorMapping, factors_of
from sojourn.fit.fitted_model_data import FittedModelData


def is_inside(fitted: FittedModelData, settings: Mapping[str, Any]) -> bool:
    """`settings`: factor of the runs, or path of the model → value."""
    known = {name: value for run in fitted.configurations for name, value in run.items()}
    short = {name: value for name, value in settings.items() if "." not in name}
    mapped = factors_of(fitted.model, [{**known, **short}])
    return all(_seen(fitted, mapped, name, value) for name, value in settings.items())


def _seen(fitted: FittedModelData, mapped: Iterable[FactorMapping], name: str, value: Any) -> bool:
    there = [run[name] for run in fitted.configurations if name in run]
    if there:
        return _among(there, value)
    if "." in name:
        by_factors = [one for one in mapped if one.path == name]
        there = [v for one in by_factors for run in fitted.configurations for v in _results(one, run)]
        return _among(there or [standing(fitted.model, name)], value)
    own = [one for one in mapped if one.name == name]  # a factor that no run had
    put = [(standing(fitted.model, one.path), _results(one, {name: value})) for one in own]
    return bool(put) and all(_among([now], v) for now, values in put for v in values)


def _results(mapping: FactorMapping, run: Mapping[str, Any]) -> list[Any]:
    """What the factors of a run put there; nothing where it has not all of them."""
    try:
        return [mapping.result(run)]
    except FitError:
        return []


def _among(there: list[Any], value: Any) -> bool:
    numbers = [v for v in there if isinstance(v, int | float)]
    if len(numbers) == len(there) and isinstance(value, int | float):
        return min(numbers) <= value <= max(numbers)
    return value in there
