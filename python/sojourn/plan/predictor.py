"""What a plan asks of a model, and which object answers for which kind of model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import InputError, SojournError
from sojourn.file_kind import FIT, MODEL, expect, kind_of
from sojourn.fit import FittedModel
from sojourn.model import Model
from sojourn.parallel import Workers
from sojourn.plan.objective import Quantity

Array = NDArray[np.float64]
Settings = Mapping[str, Any]


class Predictor(Protocol):
    """A model whose numbers are varied; `workers` solve, None: this process."""

    workers: Workers | None
    averages: bool  # whether draws are those of several models

    def affordable(self, wanted: Sequence[Quantity]) -> int:
        """How many points it answers in a few seconds."""

    @property
    def load_name(self) -> str:
        """`rate_per_s` or `users`."""

    @property
    def draws(self) -> int:
        """How many draws of the fitted parameters there are; 0 without a fit."""

    @property
    def cautions(self) -> list[str]:
        """What the fit said against trust in predictions."""

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the numbers."""

    def current_load(self) -> float | None:
        """The load that the model has by itself; None where it has none."""

    def impossible(self, settings: Settings) -> SojournError | None:
        """Why no such configuration can exist; None where it can."""

    def inside(self, settings: Settings, load: float | None) -> bool | None:
        """Whether it lies in the range that was measured; None where nothing was."""

    def values(
        self, configurations: Sequence[Settings], levels: Array, wanted: Sequence[Quantity], draws: int = 0
    ) -> dict[Quantity, Array]:
        """Each quantity: draws (1 without) x configurations x levels (1 where there are none)."""

    def busiest(self, settings: Settings, level: float | None) -> list[tuple[str, float, int]]:
        """(station, utilisation, servers), the busiest first."""


def predictor_of(model: Any, vary: Mapping[str, Sequence[Any]]) -> Predictor:
    """Of a Model, a FittedModel, or the path of a file of one. Raises InputError, ModelError."""
    from sojourn.plan.averaged_predictor import AveragedPredictor
    from sojourn.plan.model_predictor import ModelPredictor

    if isinstance(model, str | Path):
        expect(model, MODEL, FIT)
        reader: Any = FittedModel if kind_of(model) == FIT else Model
        model = reader.read(model)
    if isinstance(model, FittedModel):
        model = model.at({name: values[0] for name, values in vary.items() if len(values) == 1})
    if isinstance(model, FittedModel) and model.alternatives:
        return AveragedPredictor(model, vary)
    if isinstance(model, Model | FittedModel):
        return ModelPredictor(model, vary)
    raise InputError(f"a {type(model).__name__}", "plan", "give a model, a fitted model, or the path of a file of one")
