"""Numbers that both the verdict and the report need, made once from what a study found."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from sojourn.errors import InputError
from sojourn.fit import Fitted
from sojourn.measure.metrics import LEVEL
from sojourn.predict import gain, predict
from sojourn.solve.bottleneck import bottleneck
from sojourn.study.phases import Findings, Prediction, Saturation
from sojourn.table import Metrics
from sojourn.validate import Validation, validate

UP_TO = 0.81  # "up to 80 % of saturation", and what rounding a rate to three figures adds


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval at 95 %."""

    value: float
    low: float
    high: float


def baseline_prediction(found: Findings, fitted: Fitted) -> Metrics:
    """The model at the rates it was fitted to."""
    rates = found.observations["rate_per_s"].unique().sort().to_list()
    row = found.observations.row(0, named=True)
    return predict(fitted, rates, cores=row["cores"], nics=row["nics"])


def all_errors(found: Findings, name: str) -> Validation:
    """Relative errors of one fitted model over every fitted and every predicted configuration."""
    predicted, observed = [], []
    for group in found.groups:
        predicted.append(baseline_prediction(group, group.fits[name]))
        observed.append(group.observations)
        for prediction in group.predictions:
            predicted.append(prediction.by_variant[name])
            observed.append(prediction.observations)
    return validate(pl.concat(observed), Metrics.concat(_plain(m) for m in predicted), up_to=UP_TO)


def blind_errors(prediction: Prediction, name: str) -> Validation | None:
    """Relative errors of one blind prediction up to 80 % of saturation; None where no run is valid."""
    try:
        return validate(prediction.observations, _plain(prediction.by_variant[name]), up_to=UP_TO)
    except InputError:
        return None


def _plain(metrics: Metrics) -> Metrics:
    """Without the columns that differ between models, so that tables of several can be joined."""
    return Metrics(metrics.frame.drop([c for c in ("variant", "inside") if c in metrics.frame.columns]), metrics.method)


def saturation_error(prediction: Prediction, name: str) -> float:
    """Relative error of the predicted saturation rate."""
    assert prediction.saturation
    return saturation(prediction.by_variant[name]).value / prediction.saturation.value - 1


def saturation(metrics: Metrics) -> Saturation:
    """The saturation rate of a prediction, with its interval."""
    row = metrics.frame.filter(pl.col("metric") == "saturation_rate").row(0, named=True)
    return Saturation(row["value"], row["low"] or row["value"], row["high"] or row["value"])


def measured_gain(found: Findings, prediction: Prediction) -> Ratio:
    """Saturation rate of a configuration over the baseline's, both measured."""
    above, below = prediction.saturation, found.baseline_saturation
    assert above
    assert below
    value = above.value / below.value
    half = math.hypot(math.log(above.high / above.value), math.log(below.high / below.value))
    return Ratio(value, value * math.exp(-half), value * math.exp(half))


def predicted_gain(found: Findings, prediction: Prediction) -> Ratio:
    """The same, predicted."""
    row = found.observations.row(0, named=True)
    there = prediction.observations.row(0, named=True)
    estimate = gain(found.fits[found.best], (row["cores"], row["nics"]), (there["cores"], there["nics"]), level=LEVEL)
    return Ratio(*estimate)


def observed_bottleneck(observations: pl.DataFrame, client_s: float) -> str:
    """Which cores run out first, from what was measured at the highest valid rate."""
    good = observations.filter(pl.col("valid"))
    good = good if good.height else observations
    top = good.filter(pl.col("rate_per_s") == pl.col("rate_per_s").max())
    row = top.row(0, named=True)
    rate, nics, cores = row["rate_per_s"], row["nics"], row["cores"]
    mean = top.select(pl.col("util_leading", "util_trailing", "softirq_leading").mean()).row(0, named=True)
    interrupts = mean["softirq_leading"] or 0.0
    client = client_s * rate / nics
    shares = {"interrupts": interrupts, "client": client}
    shares["pages"] = max((mean["util_leading"] or 0.0) - interrupts - client, 0.0)
    return bottleneck(shares, cores=cores, nics=nics, trailing_busy=mean["util_trailing"])
