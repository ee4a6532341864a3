"""`FittedModelData`: a fitted model as data; `FittedModel` is the same with what is done with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError
from sojourn.fit.factor_distance import LOAD, beyond, distances
from sojourn.fit.model_error import factor_of
from sojourn.fit.parameter_estimate import ParameterEstimate
from sojourn.fit.run_mean_error import MISFIT, ErrorGrowth
from sojourn.former_keyword import former_field
from sojourn.model import Model
from sojourn.model.parameters import LOADS, NumberByFactor

Array = NDArray[np.float64]
FIT_SAID = "the fit said"  # how a caution begins wherever predictions are shown


@former_field(
    elsewhere="models_of_other_runs", method="solve_method", factors="demand_error_draws", growth="demand_error_growth",
    loads="fitted_saturation_shares", length_s="run_length_s", until_s="observed_until_unix_s", degrees="degrees_of_freedom",
)  # fmt: skip
@dataclass(frozen=True)
class FittedModelData:
    """See `FittedModel`."""

    model: Model  # with the values found
    template: Model  # with unknowns
    paths: tuple[str, ...]
    estimates: Mapping[str, ParameterEstimate]
    draws: Array
    model_error: float | None
    noise: Mapping[str, float]
    degrees_of_freedom: int
    held_out: tuple[Mapping[str, object], ...]
    configurations: tuple[Mapping[str, object], ...]
    level: float
    seed: int
    solve_method: str
    message: str
    alternatives: tuple[tuple[float, FittedModelData], ...] = ()
    demand_error_draws: tuple[float, ...] | None = None
    noise_degrees: Mapping[str, float] = field(default_factory=dict)
    models_of_other_runs: tuple[FittedModelData, ...] = ()
    demand_error_growth: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    fitted_saturation_shares: tuple[float, float] | None = None
    noise_growth: ErrorGrowth = field(default_factory=ErrorGrowth)
    run_length_s: float = 0.0
    observed_until_unix_s: float = 0.0
    held_out_variance: tuple[Mapping[str, float], ...] = ()
    warnings: tuple[str, ...] = ()

    def at(self, factors: Mapping[str, Any]) -> FittedModelData:
        """The one of a run with these factors. Raises FitError where none is."""
        every = (self, *self.models_of_other_runs)
        names = {name: None for one in every for name in one.model.where}
        found = [one for one in every if one.model.is_of(factors)]
        if len(found) != 1:
            said = ", ".join(f"{name} = {factors[name]!r}" for name in names if name in factors)
            value = f"no model describes runs with {said}" if said else f"no {' and no '.join(names)}"
            raise FitError(value, "predict", f"say {' or '.join(_where(one.model) for one in every)}")
        return replace(found[0], models_of_other_runs=())

    @property
    def longer(self) -> Array:
        """By draw: how many times as long all demands are as the model has them, by its own error; 1 where nothing is known of that. A
        file of an earlier version has one number, of `degrees`."""
        if self.demand_error_draws is not None:
            return np.array(self.demand_error_draws)
        drawn = np.random.default_rng(self.seed).standard_t(self.degrees_of_freedom, len(self.draws))
        return factor_of((self.model_error or 0.0) * drawn)

    def longer_at(self, point: Mapping[str, Any], share: Array | float | None = None) -> Array:
        """The same in a configuration: beyond what was fitted the model's error grows with the distance, factor by factor. `point`: factors
        and paths → values; `share`: of its saturation rate, one or by draw, None where nothing saturates."""
        said = {name: value for name, value in point.items() if not {name, f"parameters.{name}"} & set(self.paths)}
        far: dict[str, Array | float] = dict(
            distances(self.model, self.configurations, self.fitted_saturation_shares is not None, said)
        )
        if self.fitted_saturation_shares is not None and share is not None:
            far[LOAD] = beyond(
                np.minimum(share, 1.0), np.array(self.fitted_saturation_shares), self.fitted_saturation_shares[1]
            )
        found = self.longer
        for number, (name, by) in enumerate(far.items()):
            slopes = np.array(self.demand_error_growth.get(name, self.demand_error_growth.get("", (0.0,) * len(found))))
            found = found * factor_of(
                by * np.roll(slopes, number)
            )  # factors that share their draws do not move together
        return np.asarray(found)

    @property
    def could_hold_out(self) -> bool:
        """Whether there were configurations enough to leave one out: else each model goes through all of them, whatever it is worth."""
        return self.model_error is not None or len(self.configurations) > len(self.paths)

    @property
    def cautions(self) -> list[str]:
        """What the fit said against trust in predictions; predictions and plans repeat it."""
        return [*self.warnings, *(line for line in self.message.splitlines() if line.startswith(MISFIT))]

    @property
    def alone(self) -> FittedModelData:
        """Without its alternatives."""
        return replace(self, alternatives=(), models_of_other_runs=())

    @property
    def weighted(self) -> tuple[tuple[float, FittedModelData], ...]:
        """Itself and its alternatives, each with its weight in predictions; sum 1."""
        return ((1 - sum(weight for weight, _ in self.alternatives), self.alone), *self.alternatives)

    def averaged_with(self, alternatives: Sequence[tuple[float, FittedModelData]]) -> FittedModelData:
        """With some of its alternatives, in the proportions that they have to it and to each other."""
        own = self.weighted[0][0]
        whole = own + sum(weight for weight, _ in alternatives)
        return replace(self, alternatives=tuple((weight / whole, model) for weight, model in alternatives))

    def has(self, name: str) -> bool:
        """Whether something of this name is looked for in the model: a factor of the runs that it has no path for changes nothing."""
        parameters = {v.factor if isinstance(v, NumberByFactor) else name for name, v in self.model.parameters.items()}
        known = "." in name or name in LOADS or name in self.model.factors or name in parameters
        return known or not any(name in one for one in self.configurations)


def _where(model: Model) -> str:
    return " and ".join(f"{name} = {value!r}" for name, value in model.where.items())
