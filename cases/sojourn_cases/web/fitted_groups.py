"""One of the web case's models with its unknowns found, in the words of this case, and for groups of runs that were fitted apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import tomli_w

from sojourn import Metrics
from sojourn.errors import InputError
from sojourn.files import read_toml, write_output
from sojourn.fit import FittedDefaults, FittedModel, ParameterEstimate
from sojourn.model import Multicore
from sojourn_cases.web.known_demands import is_bare

PAGE = "service_s.cpu.user"
PARTS = {"cpu.leading": "leading", "cpu.trailing": "trailing", "cpu.interrupts": "leading"}
TOLD = ("response_time", "throughput", "utilisation", "softirq_utilisation", "saturation_rate")


@dataclass(frozen=True)
class FittedGroups(FittedDefaults):
    """`groups`: a value of the factor `group_by` → the model of the runs with it; where that is empty one group, of None."""

    group_by: str
    groups: Mapping[Any, FittedModel]

    @property
    def first(self) -> FittedModel:
        """Of the first group."""
        return next(iter(self.groups.values()))

    @property
    def estimates(self) -> dict[str, ParameterEstimate]:
        """Times in s."""
        return {
            name + (f" ({self.group_by} {value})" if self.group_by else ""): estimate
            for value, fitted in self.groups.items()
            for name, estimate in parameters(fitted).items()
        }

    @property
    def level(self) -> float:
        return self.first.level

    @property
    def model_error(self) -> float | None:
        """Root mean square over the groups that tell one."""
        known = [fitted.model_error for fitted in self.groups.values() if fitted.model_error is not None]
        return float(np.sqrt(np.mean(np.square(known)))) if known else None

    @property
    def message(self) -> str:
        return "\n".join(dict.fromkeys(line for fitted in self.groups.values() for line in fitted.message.splitlines()))

    def of(self, factors: Mapping[str, Any]) -> FittedModel:
        """The fit for a configuration: of its own group, else of the nearest."""
        wanted = factors.get(self.group_by)
        return self.groups[min(self.groups, key=lambda value: abs(value - wanted))] if self.group_by else self.first

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
        rows = [row for fitted in self.groups.values() for row in fitted.held_out]
        return [float(str(row[quantity])) for row in rows if quantity in row]

    def write(self, path: Path) -> None:
        """A `fitted.toml` of the first group, which is all that other commands read, with the files of the others in its `[fit]`."""
        (value, first), *rest = self.groups.items()
        first.write(path)
        if self.group_by:
            data, _ = read_toml(path, "it was written just now")
            others = {str(other): fitted.to_toml() for other, fitted in rest}
            data["fit"] |= {"group_by": self.group_by, "group": value, "groups": others}
            write_output(path, tomli_w.dumps(data))

    @staticmethod
    def read(path: Path) -> FittedGroups:
        """From `write`."""
        first = FittedModel.read(path)
        fit = read_toml(path, "give a fitted model")[0]["fit"]
        others = {int(value): FittedModel.parse(text, path) for value, text in fit.get("groups", {}).items()}
        return FittedGroups(fit.get("group_by", ""), {fit.get("group"): first, **others})


def parameters(fitted: FittedModel) -> dict[str, ParameterEstimate]:
    """Its unknowns by the names that the station has for them; `page_s`, or `request_s` of a model that knows no interrupts."""
    page = "page_s" if cores_of(fitted) is not None else "request_s"
    return {page if path == PAGE else path.rpartition(".")[2]: e for path, e in fitted.estimates.items()}


def cores_of(fitted: FittedModel) -> Multicore | None:
    """Its multicore station with the values found; None of M/M/m."""
    return next((s for s in fitted.model.stations if isinstance(s, Multicore)), None)


def group_of(factors: Mapping[str, Any], group_by: str) -> Any:
    """The group of a run. Raises InputError for a factor that has no whole numbers."""
    value = factors.get(group_by) if group_by else None
    if group_by and (isinstance(value, bool) or not isinstance(value, int)):
        raise InputError(
            f"group_by = {group_by!r}", "[fit] options", "give a factor of all runs with whole numbers, as cores"
        )
    return value
