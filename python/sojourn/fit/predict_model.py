"""A fitted model in configurations that nobody has run, with intervals for a new run.

Draws of each quantity (`drawn_point`) make its interval; of a model with alternatives these are the draws of all of them
(`model_averaging`), so that all numbers of one configuration come from the same mixture. Where part of the draws saturates there
is no upper end (`open_above`). A column `in_validated_range` says whether a configuration lies among those that were measured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from sojourn.errors import MethodRefused
from sojourn.fit.drawn_quantiles import METRIC as QUANTILE
from sojourn.fit.fitted_model_data import FIT_SAID, FittedModelData
from sojourn.fit.model_averaging import ModelMixture
from sojourn.fit.parameter_estimate import check_level
from sojourn.model import Model
from sojourn.model.checked_values import quantile_levels
from sojourn.model.unknown_parameters import Unknown, replaced
from sojourn.solve import status
from sojourn.table import Metrics
from sojourn.units import USUAL_LEVEL

Row = dict[str, Any]
ABOUT = "intervals are for a new run: they include the unknowns, the model's own error and the variation between runs"
ABOUT_LESS = (
    "intervals include the unknowns and the variation between "
    "runs; they do not include the model's own error, which is not known: vary more settings"
)
TAIL = "quantiles are those of the model, which was fitted to means"
OUTSIDE = "outside what was measured"
BEYOND = f"{OUTSIDE} a model can be further off"


def predict(
    fitted: FittedModelData,
    vary: Mapping[str, Sequence[Any] | Any],
    level: float = USUAL_LEVEL,
    quantiles: Sequence[float] = (),
) -> Metrics:
    """Response time, throughput, utilisation by station and the saturation rate at all combinations of `vary`; `quantiles` of the response
    time, each in (0, 1), where the model's method tells them.

    Keys are factors of the runs (rate_per_s, users, workers …) or paths of the model; they become columns. `value`: at the values
    found, or the median of the mixture of a model with alternatives; none where it saturates, and `low` alone where only part of the
    interval does. Raises InputError for a level outside (0, 1), FitError and ModelError for what the model does not have.
    """
    check_level(level)
    quantile_levels(quantiles)
    lists = {
        k: list(v) if isinstance(v, Sequence | np.ndarray) and not isinstance(v, str) else [v] for k, v in vary.items()
    }
    points = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
    mixtures: dict[int, ModelMixture] = {}
    rows: list[Row] = []
    names: set[str] = set()
    refused: list[str] = []
    untold: set[str] = set()
    for point in points:
        own = fitted.at(point)
        mixture = mixtures.setdefault(id(own.template), ModelMixture(own))
        try:
            told = mixture.rows(point, level, quantiles)
        except MethodRefused as error:
            refused.append(f"{', '.join(f'{k} = {v}' for k, v in point.items())}: {error.value}")
            told = [{"metric": "response_time", "value": None, "status": "not_answered", "in_validated_range": False}]
        if quantiles and not any(row["metric"] == QUANTILE for row in told):
            untold.add(fitted.solve_method)
        rows += [row | point for row in told]
        names |= {row["status"] for row in told}
    asked = list(mixtures.values())
    own_error = all(model.model_error is not None for mixture in asked for _, model in mixture.models)
    notes = [note for mixture in asked for note in mixture.notes]
    cautions = dict.fromkeys(said for mixture in asked for said in mixture.models[0][1].cautions)
    lines = [
        *(f"{FIT_SAID}: {said}" for said in cautions),
        *_without_effect([model for mixture in asked for _, model in mixture.models], lists),
        status.message(_shown(names, rows)),
        *refused,
        ABOUT if own_error else ABOUT_LESS,
        _outside(rows),
        _tail(rows, untold),
        *notes,
    ]
    return Metrics.of(rows, f"{fitted.solve_method}, fitted", status.worst(names), "\n".join(filter(None, lines)))


def _shown(names: Collection[str], rows: Sequence[Row]) -> set[str]:
    """Statuses worth a text: where a rate is too high for part of the draws, its response time says so, and its throughput adds nothing."""
    told = {row["status"] for row in rows if row["metric"] != "throughput"}
    return told if "open_above" in told else set(names)


def _without_effect(models: Sequence[FittedModelData], lists: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Factors of the runs that are given another value, and that no model has."""
    for name, values in lists.items():
        seen = list(dict.fromkeys(repr(run[name]) for model in models for run in model.configurations if name in run))
        if not any(model.has(name) for model in models) and any(repr(value) not in seen for value in values):
            yield f"{name} changes nothing in this model: it was {', '.join(seen)} in the runs"


def _outside(rows: Sequence[Row]) -> str:
    return "" if all(row["in_validated_range"] for row in rows) else BEYOND


def _tail(rows: Sequence[Row], untold: Collection[str]) -> str:
    if untold:
        return f"no quantiles: {', '.join(sorted(untold))} gives none for the whole system; use `sojourn simulate` with the fitted file"
    return TAIL if any(row["metric"] == QUANTILE for row in rows) else ""


def template_of(model: Model, paths: Sequence[str], values: Sequence[float]) -> Model:
    """The model with unknowns again, as a fitted file has lost them."""
    return replaced(model, {path: Unknown(value, 0.0) for path, value in zip(paths, values, strict=True)})
