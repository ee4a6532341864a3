"""Before any run is made: whether planned runs can tell the unknowns of a model, by its own slopes at its start values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError
from sojourn.fit import nonlinear_least_squares
from sojourn.fit.formula_values import PART
from sojourn.fit.model_evaluation import Key, ModelEvaluator, loads
from sojourn.fit.untold_unknowns import PLANNED, told_ever
from sojourn.model import Model
from sojourn.model.parameters import ParameterFromRuns

Array = NDArray[np.float64]
SHARES = (
    0.9,
    0.6,
    0.2,
)  # of what the busiest open station can do at the highest planned load: what is told nowhere is refused
TIMES = ("demands_s.", "service_s.", PART)  # paths of unknowns that are times, or parts of them


def check_planned(model: Model, configurations: Sequence[Mapping[str, Any]]) -> None:
    """Runs in these configurations (factor → value), each with its response times and throughput and what the model observes.

    Nothing is said of a model that takes parameters from the runs, which have none yet. Raises FitError for fewer configurations than
    unknowns, and for unknowns that no such run moves, or that all of them move alike: it names them, and what would tell them.
    """
    points = list({repr(sorted(point.items())): point for point in configurations}.values())
    if any(isinstance(one, ParameterFromRuns) for one in model.parameters.values()) or not points:
        return
    evaluator = ModelEvaluator(model, points)
    paths = evaluator.paths
    if len(points) < len(paths):
        value = f"{len(points)} configurations are planned for {len(paths)} unknowns"
        raise FitError(value, "fit", "plan more levels, or give some of the unknowns")
    refused: FitError | None = None
    for begun in _starts(evaluator) if paths else ():
        scale = nonlinear_least_squares.ParameterScale.of(list(evaluator.unknowns.values()), begun)
        keys = _seen(model, list(evaluator.at(begun[None]).values))
        slopes = nonlinear_least_squares.slopes(_Logarithms(evaluator, keys), scale, scale.begun(begun))
        try:
            return told_ever(model, points, keys, paths, slopes, begun, PLANNED)
        except FitError as error:
            refused = refused or error
    if refused is not None:
        raise refused


class _Logarithms:
    def __init__(self, evaluator: ModelEvaluator, keys: Sequence[Key]) -> None:
        self.evaluator, self.keys = evaluator, keys

    def __call__(self, values: Array) -> Array:
        """B x n, of what is measured at `values`, B x unknowns."""
        found, size = self.evaluator.at(values).values, len(self.evaluator.configurations)
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = np.log(np.concatenate([np.reshape(found[key], (-1, size)) for key in self.keys], axis=1))
        return np.asarray(np.nan_to_num(rows, nan=50.0, posinf=50.0, neginf=-50.0))


def _seen(model: Model, keys: Sequence[Key]) -> list[Key]:
    """What such a run measures at most."""
    return [key for key in keys if key[0] == "" or key[2] == "parameter" or key[0].split(".")[0] in model.observed]


def _starts(evaluator: ModelEvaluator) -> list[Array]:
    """Start values, with those of times that nobody gave so long that the highest load is one of SHARES."""
    unknown = evaluator.unknowns
    begun = np.maximum([float(one) for one in unknown.values()], 1e-12)
    free = np.array([path.startswith(TIMES) and not one.given for path, one in unknown.items()])
    low, high = (np.array([getattr(one, end) for one in unknown.values()]) for end in ("low", "high"))

    def times(by: float) -> Array:
        return np.asarray(np.clip(np.where(free, begun * by, begun), np.maximum(low, 1e-12), high))

    def busiest(by: float) -> float:
        return float(loads(evaluator.networks_at(times(by)[None]))[0].max())

    found = []
    for share in SHARES:
        least, most = 1e-6, 1e6
        for _ in range(40):
            middle = np.sqrt(least * most)
            least, most = (middle, most) if busiest(middle) < share else (least, middle)
        # Of a closed class nothing is ever too much: as it was given.
        found.append(times(1.0 if busiest(most) < share else least))
    return found
