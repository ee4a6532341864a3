"""Service demands by class and resource from runs with different mixes: busy time is the sum over classes of throughput
times demand (the utilisation law by class; E. D. Lazowska et al., Quantitative System Performance (1984), section 12.3).

Regression with errors relative to the prediction, demands no less than 0, far runs counting less (`fit.cpu_time_regression`).
Demands of runs with mixes near the one that is asked for predict it better than runs of one class alone do: requests cost
more in company, where code, plans and caches alternate. Single demands are known much less well than the totals of mixes:
intervals say so. Intervals are those of a linear regression, with Student's t and the runs' own scatter (R. Jain, The Art of
Computer Systems Performance Analysis (1991), section 15.3); of a new run they have its scatter too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit

from sojourn.errors import FitError, InputError
from sojourn.file_errors import meant
from sojourn.fit.cpu_time_regression import fit_parts
from sojourn.fit.parameter_estimate import ParameterEstimate, check_level
from sojourn.lab.counted_groups import CLIENT
from sojourn.runs.run_folder import RunFolder
from sojourn.units import USUAL_LEVEL

Array = NDArray[np.float64]
REMEDY = "measure mixes that differ more, or use fewer classes: join the rare ones"


@dataclass(frozen=True)
class MixDemands:
    """`per_s`: runs × classes, completions a second. `busy_s_per_s`: of one or several resources together, seconds busy a
    second, a value a run."""

    classes: tuple[str, ...]
    per_s: Array
    busy_s_per_s: Array

    def __post_init__(self) -> None:
        """Raises FitError where the runs are too few or too alike to tell the classes apart, or nothing was busy."""
        runs, classes = self.per_s.shape
        if runs <= classes:
            raise FitError(
                f"{runs} runs for {classes} classes", "demands", f"at least {classes + 1} are needed; {REMEDY}"
            )
        if np.linalg.matrix_rank(self.per_s / self.per_s.sum(axis=1, keepdims=True), tol=1e-3) < classes:
            raise FitError("the mixes of the runs are too alike", "demands", REMEDY)
        if not (self.busy_s_per_s > 0).all():
            raise FitError("a run in which it was not busy", "demands", "leave this run or this resource out")

    @cached_property
    def demands_s(self) -> Array:
        """Seconds a request of each class."""
        return fit_parts(self.per_s, self.busy_s_per_s)

    @cached_property
    def _design(self) -> Array:
        """Terms over what is predicted: errors are relative."""
        predicted: Array = (self.per_s @ self.demands_s)[:, None]
        return self.per_s / predicted

    @cached_property
    def _inverse(self) -> Array:
        return np.asarray(np.linalg.inv(self._design.T @ self._design))

    @property
    def _freedom(self) -> int:
        return self.per_s.shape[0] - self.per_s.shape[1]

    @property
    def scatter(self) -> float:
        """Relative standard deviation of a run about the prediction."""
        off = self.busy_s_per_s / (self.per_s @ self.demands_s) - 1
        return float(np.sqrt(np.sum(off**2) / self._freedom))

    def estimates(self, level: float = USUAL_LEVEL) -> dict[str, ParameterEstimate]:
        """The demand of each class with its interval, which ends at 0.

        Raises:
            InputError: `level` is not in (0, 1).
        """
        check_level(level)
        wide = stdtrit(self._freedom, 0.5 + level / 2) * self.scatter * np.sqrt(np.diag(self._inverse))
        return {
            name: ParameterEstimate(float(d), max(0.0, float(d - w)), float(d + w))
            for name, d, w in zip(self.classes, self.demands_s, wide, strict=True)
        }

    def demand_s(self, mix: Mapping[str, float], level: float = USUAL_LEVEL) -> ParameterEstimate:
        """Seconds a mean request of this mix (class → weight, any scale) in a new run, with its interval.

        Raises:
            InputError: a class of which no run had any, a weight below 0, no weight, `level`.
        """
        check_level(level)
        shares = self._shares(mix)
        value = float(shares @ self.demands_s)
        if value == 0:
            raise InputError("a mix whose demand is 0", "mix", REMEDY)
        term = shares / value
        half = stdtrit(self._freedom, 0.5 + level / 2) * self.scatter * np.sqrt(1 + term @ self._inverse @ term)
        return ParameterEstimate(value, max(0.0, value * (1 - half)), value * (1 + half))

    def saturation_rate_per_s(
        self, mix: Mapping[str, float], capacity: float = 1.0, level: float = USUAL_LEVEL
    ) -> ParameterEstimate:
        """What the resource can complete of this mix where it is busy `capacity` seconds a second (its cores).

        Raises:
            InputError: as `demand_s`, or `capacity` not above 0.
        """
        if not capacity > 0:
            raise InputError(
                capacity, "capacity", "give how many seconds per second it can be busy: its number of cores"
            )
        d = self.demand_s(mix, level)
        return ParameterEstimate(capacity / d.value, capacity / d.high, capacity / d.low if d.low else float("inf"))

    def left_out(self) -> Array:
        """The relative error of each run's demand, predicted by a regression without it; a value a run, NaN where the others
        do not tell the classes apart."""
        return np.array([self._without(k) for k in range(len(self.busy_s_per_s))])

    def _without(self, run: int) -> float:
        try:
            rest = MixDemands(self.classes, np.delete(self.per_s, run, 0), np.delete(self.busy_s_per_s, run))
        except FitError:
            return float("nan")
        return float(self.per_s[run] @ rest.demands_s / self.busy_s_per_s[run] - 1)

    def _shares(self, mix: Mapping[str, float]) -> Array:
        for name, weight in mix.items():
            if name not in self.classes:
                raise InputError(f"class {name!r}", "mix", meant(name, self.classes))
            if not (np.isfinite(weight) and weight >= 0):
                raise InputError(f"{name} = {weight}", "mix", "give a weight of 0 or more")
        weights = np.array([float(mix.get(name, 0.0)) for name in self.classes])
        if weights.sum() <= 0:
            raise InputError("no weight above 0", "mix", f"give weights of {', '.join(self.classes)}")
        return np.asarray(weights / weights.sum())


def mix_demands(runs: Sequence[RunFolder], groups: Mapping[str, Sequence[str]] | None = None) -> dict[str, MixDemands]:
    """By resource that all valid runs have, and of `all` of them together where there are several: of what is a part of another resource,
    as a tier's processes are of the cores they share, only the parts count. `groups`: name → classes that
    are taken for one.

    Raises:
        FitError: no valid run, no class or resource in a run, or the runs do not carry it (`MixDemands`).
    """
    valid = [run for run in runs if run.manifest.get("valid", True)]
    if not valid:
        raise FitError("no valid run", "runs", "measure again; see the reasons in the run")
    told = [
        (completed, _busy(run, sum(completed.values())))
        for run in valid
        for completed in [completed_per_s(run, groups)]
    ]
    classes = tuple(dict.fromkeys(name for completed, _ in told for name in completed))
    resources = [name for name in told[0][1] if all(name in busy for _, busy in told)]
    if not resources:
        raise FitError(
            "no resource in all runs", "runs", "measure with --service-pids or --service-cgroup, or in a study"
        )
    per_s = np.array([[completed.get(name, 0.0) for name in classes] for completed, _ in told])
    found = {name: MixDemands(classes, per_s, np.array([busy[name] for _, busy in told])) for name in resources}
    parts = [name for name in found if name not in _wholes(valid[0].manifest.get("resources", {}), list(found))]
    if len(found) > 1:
        found["all"] = MixDemands(classes, per_s, np.sum([found[name].busy_s_per_s for name in parts], axis=0))
    return found


def _wholes(resources: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> set[str]:
    """Those of `names` that contain another: its processes and control groups among theirs, or cores, which hold all that runs."""

    def own(name: str) -> set[tuple[str, Any]]:
        return {(key, one) for key in ("pids", "cgroups") for one in resources.get(name, {}).get(key) or ()} | {
            ("cgroups", group) for group in [resources.get(name, {}).get("cgroup")] if group
        }

    tiers = {name for name in names if own(name) or resources.get(name, {}).get("station")} - {CLIENT}
    by_cores = {name for name in names if tiers and resources.get(name, {}).get("cores")} - tiers
    return by_cores | {a for a in names for b in names if own(b) and own(b) < own(a)}


def completed_per_s(run: RunFolder, groups: Mapping[str, Sequence[str]] | None = None) -> dict[str, float]:
    """Completions a second by class of requests, or by group of them where a class is in one.

    Raises:
        FitError: a run whose requests are not told apart.
    """
    frame = run.frame("metrics")
    rows = None if frame is None else frame.filter(pl.col("metric") == "throughput", pl.col("class") != "")
    if rows is None or rows.is_empty():
        raise FitError("requests of one class only", str(run.path), "give --request-mix with a name for each request")
    of = {name: group for group, names in (groups or {}).items() for name in names}
    found: dict[str, float] = {}
    for name, value in rows.select("class", "value").iter_rows():
        if value is not None:
            found[of.get(name, name)] = found.get(of.get(name, name), 0.0) + float(value)
    return found


def _busy(run: RunFolder, per_s: float) -> dict[str, float]:
    """Seconds busy a second by resource: of a study's system, or of what `sojourn measure` watched where `per_s` were completed."""
    capacity = {name: float(one["capacity"]) for name, one in run.manifest.get("resources", {}).items()}
    frame = run.frame("metrics")
    assert frame is not None  # `completed_per_s` has read it
    own = frame.filter(
        pl.col("metric") == "utilisation", pl.col("class") == "", pl.col("station").is_in(list(capacity))
    )
    found = {name: value * capacity[name] for name, value in own.select("station", "value").iter_rows() if value}
    if not capacity:
        found = {name: demand_s * per_s for name, demand_s in run.manifest.get("demands_s", {}).items() if demand_s}
    return found
