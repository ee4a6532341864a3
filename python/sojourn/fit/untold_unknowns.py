"""Unknowns that runs do not tell, made or planned: the refusal names them, and what would tell them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError, Undetermined
from sojourn.fit.model_evaluation import Key
from sojourn.fit.what_would_tell import SAME, WhatWouldTell, to_watch
from sojourn.model import Closed, Model, Open
from sojourn.model.parameters import NumberByFactor

Array = NDArray[np.float64]
MADE, PLANNED = "the runs do", "the planned runs would"


def told_ever(
    model: Model, points: Sequence[Mapping[str, Any]], keys: Sequence[Key], paths: Sequence[str], slopes: Array,
    at: Array, whose: str = MADE,
) -> None:  # fmt: skip
    """Raises FitError for unknowns (`paths`) that such runs never tell apart. `slopes`: of the logarithms of what is measured (`keys`)
    by the unknowns, weighted, n x p, where the search begins (`at`, values)."""
    _, sizes, directions = np.linalg.svd(slopes, full_matrices=len(slopes) < len(paths))
    if len(sizes) == len(paths) and sizes[-1] > SAME * sizes[0]:
        return
    would = WhatWouldTell(model, points, keys, at)
    fixed = not_varied(model, points)
    vary, watch = would.factors(fixed), would.resources()
    further = [] if vary else would.further([name for name in _known(model, points) if name not in fixed])
    told = to_watch(watch)
    told += [f"vary {' or '.join(vary)} too"] if vary else []
    told += [f"vary {' or '.join(further)} further"] if further else []
    none = ": neither another load nor another measured resource determines them"
    raise refusal(names_of(paths, slopes, directions[-1]), told, none, whose)


def names_of(paths: Sequence[str], slopes: Array, direction: Array) -> list[str]:
    """The unknowns whose changes cancel along this direction; `slopes` n x p, weighted."""
    part = np.abs(direction) * np.linalg.norm(slopes, axis=0)  # what cancels, whatever the scales
    part = part if part.max() > 1e-6 * np.linalg.norm(slopes) else np.abs(direction)
    return [p for p, d in zip(paths, part, strict=True) if d > 0.3 * part.max()]


def refusal(names: Sequence[str], remedies: Sequence[str], none: str = "", whose: str = MADE) -> FitError:
    """`none`: what is said where there is no other remedy than to give one of them."""
    what = f"{whose} not determine {' and '.join(names)}" + (" separately" if len(names) > 1 else "")
    *first, last = [f"give {'one of them' if len(names) > 1 else 'it'}", *remedies]
    told = (what, "fit", f"{', '.join(first)}, or {last}" if first else last + none)
    return Undetermined(*told, tuple(names)) if not none and whose == MADE else FitError(*told)


def not_varied(model: Model, points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Factors that the model has and the runs have at one value."""
    varied = {n for n in points[0] if len({repr(point.get(n)) for point in points}) > 1}
    return [n for n in _known(model, points) if n not in varied]


def _known(model: Model, points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Factors that the model has: its loads, those of the runs, and what was measured of each."""
    kinds = (("rate_per_s", Open), ("users", Closed))
    loads = [n for n, kind in kinds if any(isinstance(c, kind) for c in model.classes)]
    own = [v.factor if isinstance(v, NumberByFactor) else n for n, v in model.parameters.items()]
    had = [n for n in dict.fromkeys(own) if n in points[0]]
    return list(dict.fromkeys([*loads, *model.factors, *had]))
