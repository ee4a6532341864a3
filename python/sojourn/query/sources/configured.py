"""A model at another load or size: factors and paths with their values, as `predict --set` takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn.errors import InputError
from sojourn.file_errors import meant
from sojourn.fit.factor_mapping import applied, factors_of, path_example
from sojourn.model import Model

USUAL = ("rate_per_s", "users", "think_s")  # meant without saying, of a model with one class of that kind


def configured(model: Model, values: Mapping[str, Any]) -> Model:
    """The model with each factor of its `[factors]` (or rate_per_s, users, think_s), and each path, at its value.

    Raises InputError for a name that is neither, ModelError for a path or value that the model cannot have.
    """
    factors = {name: value for name, value in values.items() if "." not in name}
    mapped = factors_of(model, [factors])
    for name in factors:
        if name not in model.where and not any(one.name == name for one in mapped):
            raise InputError(
                f"no factor {name!r}",
                "--set",
                f"{meant(name, [*model.factors, *USUAL])}; or a path: {path_example(model, name)}",
            )
    return applied(model, mapped, factors, {name: value for name, value in values.items() if name not in factors})
