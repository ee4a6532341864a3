"""How far a configuration lies beyond those that were fitted, factor by factor: 0 among them.

What a model lacks may go with the logarithm of a number (a time that is a power of the threads) or with the number itself (contention: each
core slows all others). Nobody knows which, so the distance is by the square root, which lies between: 2 (√z - √m)/√m beyond the largest
level m. It is 0.45 at half as much again, 0.83 at twice, and 2 at four times of it. A text that no run had is as far as twice. The load of
an open model is its share of the saturation rate, because twice the rate at twice the cores is no more load than before.

Limits: factors are taken by themselves, so that a combination of levels that was not run is no distance; nor is a mix of several open
classes that differs in their rates alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.model import Model
from sojourn.model.parameters import LOADS

Array = NDArray[np.float64]
LOAD = "load"  # the name of the share of the saturation rate among factors
DOUBLED = 2 * (np.sqrt(2.0) - 1)
OF_CLASS = ("rate_per_s", "population", "think_s")  # what of a class is load
SIZES = ("stations.", "parameters.")  # numbers of a model that change the service, and are no statement of its times


def distances(
    model: Model, configurations: Sequence[Mapping[str, Any]], by_share: bool, point: Mapping[str, Any]
) -> dict[str, float]:
    """Factor → distance, of those that lie beyond. `point`: factors and paths of the model → values; `by_share`: whether load is a share
    of the saturation rate, which is not among them."""
    found: dict[str, float] = {}
    for said, value in point.items():
        name = _factor(model, configurations, said)
        if by_share and is_load(model, name):
            continue
        levels = [one[name] for one in configurations if name in one]
        path = model.factors.get(name, name)
        if not levels and isinstance(path, str) and (path in model.parameters or path.startswith(SIZES)):
            levels = [standing(model, path)]
        far = _beyond(value, levels) if levels and levels[0] is not None else 0.0
        if far > 0:
            found[name] = max(far, found.get(name, 0.0))
    return found


def beyond(value: Array | float, levels: Array, unit: float) -> Array:
    """How far numbers lie outside of those in `levels`, 0 or more, of the shape of `value`; `unit`: the largest that was fitted."""
    at, low, high, whole = (
        np.sign(v) * np.sqrt(np.abs(v)) for v in (np.asarray(value), levels.min(), levels.max(), unit)
    )
    return np.asarray(2 * np.maximum(np.maximum(at - high, low - at), 0.0) / (np.abs(whole) or 1.0))


def is_load(model: Model, name: str) -> bool:
    """Whether a factor is how many requests come, and nothing of the service."""
    if name in LOADS or (name.startswith("classes.") and name.endswith(OF_CLASS)):
        return True
    given = model.factors.get(name, ())
    paths = [text.partition("=")[0].strip() for text in ((given,) if isinstance(given, str) else given)]
    return bool(paths) and all(path.startswith("classes.") and path.endswith(OF_CLASS) for path in paths)


def standing(model: Model, path: str) -> Any:
    """What the model has at a path now; None where there is nothing."""
    part, _, rest = path.partition(".")
    name, _, key = rest.rpartition(".")
    if path in model.parameters or part == "parameters":
        return model.parameters.get(rest or path)
    items = getattr(model, part, None)
    if isinstance(items, Mapping):
        return items.get(name, {}).get(key)
    return next((getattr(i, key, None) for i in items or () if i.name == name), None)


def _factor(model: Model, configurations: Sequence[Mapping[str, Any]], said: str) -> str:
    """The factor of the runs that is meant by its name, by the path that it has in the model, or as a parameter."""
    name = said.removeprefix("parameters.")
    if name in model.parameters or any(name in one for one in configurations):
        return name
    known = (
        factor for factor, path in model.factors.items() if path == said and any(factor in c for c in configurations)
    )
    return next(known, said)


def _beyond(value: Any, levels: Sequence[Any]) -> float:
    numbers = np.array([float(v) for v in levels if _number(v)])
    if _number(value) and len(numbers):
        return float(beyond(float(value), numbers, float(numbers.max())))
    texts = [v for v in levels if isinstance(v, str)]
    return DOUBLED if isinstance(value, str) and texts and value not in texts else 0.0


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
