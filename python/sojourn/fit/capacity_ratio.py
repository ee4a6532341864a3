"""`capacity_ratio`: the saturation rate of one configuration over that of another, as a fitted model has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sojourn.errors import InputError
from sojourn.fit.drawn_point import DrawnQuantity, drawn_point
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.model_averaging import LIMIT, mixed
from sojourn.fit.parameter_estimate import ParameterEstimate, check_level
from sojourn.former_keyword import former_keyword
from sojourn.units import USUAL_LEVEL


@former_keyword(from_="from_settings", to="to_settings")
def capacity_ratio(
    fitted: FittedModelData,
    from_settings: Mapping[str, Any],
    to_settings: Mapping[str, Any],
    level: float = USUAL_LEVEL,
) -> ParameterEstimate:
    """Saturation rate of configuration `to_settings` divided by that of `from_settings`, with an interval. Both are factors of the runs and
    paths of the model, as in `predict`.

    Both rates use the same draws of the unknowns. The model's own error differs between the configurations. A mixture of models gives
    the ratio of the mixture.

    Raises:
        InputError: one of them has no saturation rate, or `level` is outside of (0, 1). What `predict` raises.
    """
    check_level(level)
    row = mixed(
        [(weight, _ratio(model, from_settings, to_settings)) for weight, model in fitted.at(to_settings).weighted],
        level,
    )
    return ParameterEstimate(row["value"], row.get("low") or row["value"], row.get("high") or row["value"])


def _ratio(model: FittedModelData, from_: Mapping[str, Any], to: Mapping[str, Any]) -> DrawnQuantity:
    below, above = (drawn_point(model, point).quantities.get(LIMIT) for point in (from_, to))
    if below is None or above is None:
        raise InputError("no saturation rate", "capacity_ratio", "give a model with arrivals from outside")
    draws = above.draws / below.draws
    if below.spread and above.spread:  # one factor is in both draws: of another configuration it is another one
        own = model.longer[: len(draws)]
        draws = draws * own / np.random.default_rng(model.seed).permutation(own)
    return DrawnQuantity(above.value / below.value, draws, below.spread and above.spread)
