"""What was run of a web system, by configuration: fitted or predicted, what was observed, what each model says of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from sojourn import Metrics, capacity_ratio
from sojourn.errors import InputError
from sojourn.runs import RunFolder
from sojourn.solve import bottleneck
from sojourn.study import BLIND, SATURATION, TRAINING, CheckedStudy, StudyFindings
from sojourn_cases.web.chen_table3 import relative_errors
from sojourn_cases.web.fitted_web import FittedWeb
from sojourn_cases.web.known_demands import KnownDemands, is_bare, known_demands, overheads

UP_TO = 0.81  # "up to 80 % of saturation", and what rounding a rate to three figures adds
MEASURED = (
    ("", "response_time"),
    ("", "throughput"),
    ("leading", "utilisation"),
    ("leading", "softirq_utilisation"),
    ("trailing", "utilisation"),
)


@dataclass(frozen=True)
class Interval:
    """A value with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class WebConfiguration:
    """One configuration: the section that it was run for, `training` or `blind`, its runs at known rates and what the valid ones
    measured at each, its known demands, what it did at most in a closed loop, and what was predicted, by model; for blind ones as it
    was written before they were run."""

    name: str
    kind: str
    factors: dict[str, Any]
    runs: list[RunFolder]
    measured: Metrics
    known: KnownDemands
    saturation: Interval | None = None
    predicted: dict[str, Metrics] = field(default_factory=dict)

    @property
    def size(self) -> tuple[int, int]:
        """Cores and NICs."""
        return int(self.factors["cores"]), int(self.factors["nics"])

    @property
    def seen(self) -> bool:
        """Whether there is a valid run."""
        return not self.measured.frame.is_empty()

    @property
    def below(self) -> Metrics:
        """What was measured up to 80 % of the measured saturation rate, the same for every model; of the highest that any of them
        predicts where none was measured."""
        most = (
            self.saturation.value if self.saturation else max(self.saturates(model).value for model in self.predicted)
        )
        return Metrics(self.measured.frame.filter(pl.col("rate_per_s") <= UP_TO * most))

    def errors(self, model: str) -> pl.DataFrame | None:
        """Relative errors there; None where no run is valid, or no rate is below that."""
        if not self.seen:
            return None
        try:
            return relative_errors(self.below, self.predicted[model])
        except InputError:
            return None

    def saturates(self, model: str) -> Interval:
        """The predicted saturation rate."""
        row = self.predicted[model].frame.filter(pl.col("metric") == "saturation_rate").row(0, named=True)
        return Interval(row["value"], row["low"] or row["value"], row["high"] or row["value"])


def parts_of(found: StudyFindings, plan: CheckedStudy) -> list[WebConfiguration]:
    """Every configuration of a finished study: those that were fitted, and those that were predicted, as in the file."""
    if found.rivals is None or found.fitted is None:
        return []
    made = [_part(found, section.name, TRAINING) for section in plan.study.section]
    made += [_part(found, section.name, BLIND) for section in plan.study.predict]
    return [part for part in made if part is not None]


def _part(found: StudyFindings, name: str, kind: str) -> WebConfiguration | None:
    runs = [run for run in found.of(name) if "rate_per_s" in run.manifest["factors"]]
    runs = [run for run in runs if not is_bare(run.manifest["factors"])]
    if not runs:
        return None
    factors = {k: v for k, v in runs[0].manifest["factors"].items() if k != "rate_per_s"}
    assert found.rivals is not None
    written = {model: _written(found, name, model) for model in found.rivals.fitted}
    predicted = written if kind == BLIND else {m: _predicted(found, runs, m) for m in found.rivals.fitted}
    beside = overheads([run for run in found.runs if _fitted_together(found, run.manifest["factors"], factors)])
    known = known_demands(runs, beside)
    return WebConfiguration(
        name, kind, factors, runs, measured_means(runs), known, _saturation(found, factors), predicted
    )


def _is_measured(station: str, metric: str) -> bool:
    return (station, metric) in MEASURED


def measured_means(runs: list[RunFolder], wanted: Callable[[str, str], bool] = _is_measured) -> Metrics:
    """A row for each rate, and station and metric that is `wanted`, that the valid runs have, the mean of those that were repeated; low
    and high where all runs have an interval."""
    each: dict[tuple[float, str, str], list[dict[str, Any]]] = {}
    for run in runs:
        frame = run.frame("metrics") if run.manifest["valid"] else None
        if frame is None:
            continue
        whole = frame.filter(pl.col("class") == "", pl.col("value").is_not_null())
        for row in whole.iter_rows(named=True):
            if wanted(row["station"], row["metric"]):
                each.setdefault((run.manifest["factors"]["rate_per_s"], row["station"], row["metric"]), []).append(row)
    if not each:
        return Metrics.of([])
    sizes = {name: runs[0].manifest["factors"][name] for name in ("cores", "nics")}
    return Metrics.of(
        {"rate_per_s": rate, "station": station, "metric": metric, "source": "measured", **_mean(rows), **sizes}
        for (rate, station, metric), rows in sorted(each.items())
    )


def _mean(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    value = sum(row["value"] for row in rows) / len(rows)
    if any(row["low"] is None or row["high"] is None for row in rows):
        return {"value": value, "low": None, "high": None}
    half = math.hypot(*((row["high"] - row["low"]) / 2 for row in rows)) / len(rows)
    return {"value": value, "low": value - half, "high": value + half}


def _fitted_together(found: StudyFindings, one: dict[str, Any], other: dict[str, Any]) -> bool:
    fitted: Any = found.fitted
    return bool(fitted.of(other).model.is_of(one))


def _predicted(found: StudyFindings, runs: list[RunFolder], model: str) -> Metrics:
    assert found.rivals is not None
    fitted: Any = found.rivals.fitted[model]
    rates = sorted({run.manifest["factors"]["rate_per_s"] for run in runs})
    told: Metrics = fitted.predict({**runs[0].manifest["factors"], "rate_per_s": rates}, fitted.level)
    return told


def _written(found: StudyFindings, section: str, model: str) -> Metrics:
    """What was written before the runs of a section."""
    rows = []
    for one in (found.predicted or {}).get("configurations", []):
        if one["section"] != section or found.predicted is None:
            continue
        told = one["rows"] if model == found.predicted["best"] else one["rivals"][model]
        factors = {name: one["factors"][name] for name in ("cores", "nics", "rate_per_s")}
        rows += [
            {key: row[key] for key in row if key not in ("inside", "in_validated_range")} | factors for row in told
        ]
    return Metrics.of(rows)


def _saturation(found: StudyFindings, factors: dict[str, Any]) -> Interval | None:
    """The throughput of its closed loop, a mean where there are several."""
    for run in found.of(SATURATION):
        own = {k: v for k, v in run.manifest["factors"].items() if k not in ("users", "think_s")}
        if own == factors:
            metrics = run.metrics()
            value, (low, high) = metrics.value("throughput"), metrics.interval("throughput")
            return Interval(value, low or value, high or value)
    return None


def measured_gain(below: WebConfiguration, above: WebConfiguration) -> Interval | None:
    """Saturation rate of one configuration over that of another, both measured."""
    if below.saturation is None or above.saturation is None:
        return None
    low, high = below.saturation, above.saturation
    half = math.hypot(math.log(high.high / high.value), math.log(low.high / low.value))
    value = high.value / low.value
    return Interval(value, value * math.exp(-half), value * math.exp(half))


def predicted_gain(below: WebConfiguration, above: WebConfiguration, model: FittedWeb) -> Interval:
    """The same, predicted."""
    one, other = ({"cores": part.size[0], "nics": part.size[1], "rate_per_s": 1.0} for part in (below, above))
    return Interval(*capacity_ratio(model.of(below.factors), one, other, level=model.level))


def observed_bottleneck(part: WebConfiguration) -> str:
    """Which cores run out first, from what was measured at the highest valid rate."""
    if not part.seen:
        return "not known: no run is valid"
    rate, (cores, nics) = max(part.measured.frame["rate_per_s"].to_list()), part.size
    top = part.measured.frame.filter(pl.col("rate_per_s") == rate)
    mean = {(row["station"], row["metric"]): row["value"] for row in top.iter_rows(named=True)}
    busy = mean.get(("leading", "utilisation"), 0.0)
    shares = {
        "interrupts": mean.get(("leading", "softirq_utilisation"), 0.0),
        "client": part.known.beside.client_s * rate / nics,
    }
    shares["pages"] = max(busy - sum(shares.values()), 0.0)
    return bottleneck(shares, cores=cores, nics=nics, trailing_busy=mean.get(("trailing", "utilisation")))
