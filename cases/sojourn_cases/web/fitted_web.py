"""One of the web case's models with its unknowns found, in the words of this case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn import Metrics
from sojourn.fit import FittedDefaults, FittedModel, ParameterEstimate
from sojourn.model import Multicore
from sojourn_cases.web.known_demands import is_bare

PAGE = "service_s.cpu.user"
PARTS = {"cpu.leading": "leading", "cpu.trailing": "trailing", "cpu.interrupts": "leading"}
TOLD = ("response_time", "throughput", "utilisation", "softirq_utilisation", "saturation_rate")


@dataclass(frozen=True)
class FittedWeb(FittedDefaults):
    """`fitted`: the model; where runs were fitted in groups, that of the first, with those of the others elsewhere."""

    fitted: FittedModel

    @property
    def each(self) -> tuple[Any, ...]:
        """The models of all groups."""
        return self.fitted, *self.fitted.models_of_other_runs

    @property
    def estimates(self) -> dict[str, ParameterEstimate]:
        """Times in s."""
        return {
            name + "".join(f" ({factor} {value})" for factor, value in fitted.model.where.items()): estimate
            for fitted in self.each
            for name, estimate in parameters(fitted).items()
        }

    @property
    def level(self) -> float:
        return self.fitted.level

    @property
    def model_error(self) -> float | None:
        """Root mean square over the groups that tell one."""
        known = [fitted.model_error for fitted in self.each if fitted.model_error is not None]
        return float(np.sqrt(np.mean(np.square(known)))) if known else None

    @property
    def message(self) -> str:
        return "\n".join(dict.fromkeys(line for fitted in self.each for line in fitted.message.splitlines()))

    def of(self, factors: Mapping[str, Any]) -> FittedModel:
        """The model of runs with these factors. Raises FitError where there is none."""
        found: FittedModel = self.fitted.at(factors)  # type: ignore[assignment]
        return found

    def knows(self, factors: Mapping[str, Any]) -> bool:
        """No run without known work, and none in a closed loop."""
        return not is_bare(factors) and "rate_per_s" in factors

    def predict(self, vary: Mapping[str, Any], level: float) -> Metrics:
        """At one `rate_per_s` or several; stations are the resources of the runs: `leading` and `trailing` cores. Of factors those count
        that the runs of the fit had."""
        fitted = self.of(vary)
        known = {name: value for name, value in vary.items() if name in fitted.configurations[0]}
        found = fitted.predict(known, level)
        told = found.frame.filter(pl.col("station").is_in(["", *PARTS]), pl.col("class") == "")
        interrupts = pl.col("station") == "cpu.interrupts"
        named = told.with_columns(
            metric=pl.when(interrupts).then(pl.lit("softirq_utilisation")).otherwise(pl.col("metric")),
            station=pl.col("station").replace(PARTS),
        )
        return Metrics(named.filter(pl.col("metric").is_in(TOLD)), found.method, found.status, found.message)

    def held_out(self, quantity: str) -> list[float]:
        """Relative errors of configurations that were left out, of all groups."""
        rows = [row for fitted in self.each for row in fitted.held_out]
        return [float(str(row[quantity])) for row in rows if quantity in row]

    def write(self, path: Path) -> None:
        self.fitted.write(path)


def parameters(fitted: FittedModel) -> dict[str, ParameterEstimate]:
    """Its unknowns by the names that the station has for them; `page_s`, or `request_s` of a model that knows no interrupts."""
    page = "page_s" if cores_of(fitted) is not None else "request_s"
    known = {PAGE: page, f"{PAGE}.mean": page, f"{PAGE}.scv": "page_scv"}
    return {known.get(path, path.rpartition(".")[2]): e for path, e in fitted.estimates.items()}


def cores_of(fitted: FittedModel) -> Multicore | None:
    """Its multicore station with the values found; None of M/M/m."""
    return next((s for s in fitted.model.stations if isinstance(s, Multicore)), None)
