"""`FittedModel`: a model with its unknowns found; predicts, is validated, is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sojourn.files.writing import write_output
from sojourn.fit import fitted_file
from sojourn.fit.drawn_point import value_at
from sojourn.fit.factor_mapping import is_known
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.fitted_defaults import FittedDefaults
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.model_averaging import quantiles
from sojourn.fit.predict_model import predict
from sojourn.fit.validate_model import validate
from sojourn.former_keyword import former_field, former_keyword
from sojourn.notebook import ShownInNotebook
from sojourn.table import Metrics
from sojourn.units import USUAL_LEVEL

if TYPE_CHECKING:
    from altair import LayerChart


@former_field(
    elsewhere="models_of_other_runs", method="solve_method", factors="demand_error_draws", growth="demand_error_growth",
    loads="fitted_saturation_shares", length_s="run_length_s", until_s="observed_until_unix_s", degrees="degrees_of_freedom",
)  # fmt: skip
@dataclass(frozen=True)
class FittedModel(FittedModelData, FittedDefaults, ShownInNotebook):
    """A model with its unknowns found.

    `estimates`: path → value, low, high at `level`. `draws`: count x paths, as wide as Student's t has it. `model_error`: standard
    deviation of the logarithm of one factor on all demands, mean of what is believed of it, None where too few configurations tell it;
    `noise`: of a new run's response time and throughput about its mean, by metric, `noise_degrees` of freedom where repetitions told it,
    `noise_growth` with the sensitivity of the response time. `degrees_of_freedom`: runs less unknowns. `held_out`: a row a
    configuration that was left out, with relative errors by metric; `held_out_variance`: of their logarithms, where the model is right,
    () of one that was read from a file. `alternatives`: other models that predict about as well, with their weights in predictions,
    beside it (`model_averaging`).
    `demand_error_draws`: count, the draws of that factor on all demands (`longer`). `demand_error_growth`: factor of the runs → count,
    draws of what its logarithm grows by a unit of distance beyond what was fitted, "" of every other (`longer_at`);
    `fitted_saturation_shares`: least and most share of the saturation rate that was fitted, None where there is none.
    `models_of_other_runs`: those of runs with other factors (`Model.where`), each of which answers where it is the one.
    `run_length_s`: of the runs, the median; 0 where nobody knows.
    `observed_until_unix_s`: Unix time at which the last window ends that was fitted; 0 of load tests.
    """

    _REPORT = "fit.fit_report:fitted_document"

    def predict(
        self, vary: Mapping[str, Sequence[Any] | Any], level: float = USUAL_LEVEL, quantiles: Sequence[float] = ()
    ) -> Metrics:
        """All combinations of `vary`, factor of the runs or path of the model → values; see `sojourn.fit.predict`."""
        return predict(self, vary, level, quantiles)

    def knows(self, factors: Mapping[str, Any]) -> bool:
        """Whether a run with these factors can be predicted: a model is of it, and no factor has a value that no run of the fit had and
        that changes nothing in this model."""
        return any(is_known(one.template, one.configurations, factors) for one in (self, *self.models_of_other_runs))

    def value(self, factors: Mapping[str, Any], metric: str) -> float | None:
        """`throughput` or `response_time` of the whole system at the values found, without draws; of a model with alternatives the
        median by weight. None where it saturates. Raises what `predict` raises."""
        found = [(value_at(model, factors, metric), weight) for weight, model in self.weighted]
        values, weights = (np.array(column) for column in zip(*found, strict=True))
        middle = float(quantiles(values, weights, [0.5])[0])
        return middle if np.isfinite(middle) else None

    @former_keyword(up_to="max_saturation_share", changed="changed_settings")
    def validate(
        self,
        runs: FitRuns,
        level: float = USUAL_LEVEL,
        changed_settings: Mapping[str, Any] | None = None,
        max_saturation_share: float | None = None,
    ) -> pl.DataFrame:
        """Each run of `runs`: predicted, its prediction interval, measured, whether it lies inside; see
        `sojourn.fit.validate`."""
        return validate(self, runs, level, changed_settings, max_saturation_share)

    def plot(self, runs: FitRuns | str = "", metric: str = "response_time") -> LayerChart:
        """The predicted response times as an altair chart; with `runs`: predicted, with its prediction interval, against measured, a point
        a run and class. Runs that were fitted show training error, others held-out error. InputError for a metric that is not there."""
        from sojourn.report.chart import plot
        from sojourn.report.result_figures import agreement

        if isinstance(runs, str):
            return super().plot(runs)
        rows = self.validate(runs)
        return plot(agreement(rows.filter(pl.col("metric") == metric), metric, ("class",)))

    def write(self, path: Path | str) -> None:
        """One TOML file, which is the model with the values found too: `sojourn solve` takes it. Folders are made."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_output(path, self.to_toml())

    def to_toml(self) -> str:
        """The text of that file."""
        return fitted_file.to_toml(self)

    @staticmethod
    def parse(text: str, place: Path | str = "fitted") -> FittedModel:
        """From the text of such a file. Raises as `read`."""
        return fitted_file.parse(text, place, FittedModel)

    @staticmethod
    def read(path: Path | str) -> FittedModel:
        """From `write`. Raises InputError or ModelError naming file and key."""
        return fitted_file.read(path, FittedModel)

    def __str__(self) -> str:
        return fitted_file.text(self)
