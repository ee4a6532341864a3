"""One fit from inside: how the parameters of one or many data sets follow from what was measured.

A `DataSets` is R data sets at once: what was measured (R = 1), bootstrap resamples, or all but one cell. `FitData` turns
each into a parameter vector (log of the page time; the delay in units of the smallest response; the squared coefficient of
variation of interrupts) and that into named parameters. Method and weights: `fit`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError
from sojourn.fit import between_run_variance, least_squares
from sojourn.fit.bootstrap import BootstrapSamples
from sojourn.fit.fitted import Row
from sojourn.fit.forward_model import TwoClassSpec

Array = NDArray[np.float64]
# Relative errors that no model of this kind resolves, and the absolute one of a share: somebody else's work.
FLOOR = {"response_s": 0.02, "util_leading": 0.01, "util_trailing": 0.01, "softirq_leading": 0.01}
FLOOR_SHARE = 0.003
NEAREST = 0.99  # share of saturation up to which a candidate is evaluated as it is
# residual → (observed column, result key)
FITTED_TO = {"response_s": "response", "util_leading": "lead_busy", "util_trailing": "behind_busy"}
HELD_OUT = {
    "response_time": ("response_s", "response"),
    "throughput": ("throughput_per_s", "throughput"),
    "utilisation_leading": ("util_leading", "lead_busy"),
    "utilisation_trailing": ("util_trailing", "behind_busy"),
}


@dataclass(frozen=True)
class DataSets:
    """Data sets fitted at once: quantity → (R, runs), and weights (R, runs)."""

    means: dict[str, Array]
    weight: Array


class FitData:
    """One fit: what is measured, and how parameters of R data sets follow from it."""

    def __init__(self, spec: TwoClassSpec, sampled: BootstrapSamples, given: Mapping[str, float | str]) -> None:
        self.spec, self.sampled = spec, sampled
        self.cores, self.nics, self.rate = (sampled.column(name) for name in ("cores", "nics", "rate_per_s"))
        # what waits to be woken is above all a request that crosses to another core
        self.delay = "crossing_s" if (self.cores > self.nics).any() else "handoff_s"
        self.with_delay = spec.model == "two-class" and self.delay not in given
        # in the others service is exponential
        self.with_scv = spec.variant == "priority" and "interrupt_scv" not in given
        self.client_s = float(spec.given.get("client_s", 0.0))
        known = {name: np.isfinite(sampled.mean[name]) & (sampled.mean[name] > 0) for name in FLOOR}
        known["util_trailing"] &= self.cores > self.nics
        if spec.model == "mmm":
            # cores that differ are outside M/M/m; it is given its best chance, on what it is used for
            known |= {name: np.zeros_like(self.rate, bool) for name in FLOOR if name != "response_s"}
        self.precision = {name: _precision(sampled, name, known[name]) for name in FLOOR}
        if not known["util_leading"].any() and not known["response_s"].any():
            raise FitError("no utilisation and no response times", "observations", "measure at least one of them")

    def measured(self) -> DataSets:
        return DataSets({k: v[None] for k, v in self.sampled.mean.items()}, np.ones((1, self.rate.size)))

    def resampled(self) -> DataSets:
        """Bootstrap resamples, with what differs from run to run."""
        return DataSets(between_run_variance.varied(self.sampled, *self._gaps()), self.sampled.weight)

    def _gaps(self) -> tuple[dict[str, Array], int]:
        """Logarithms of measured over fitted by quantity (runs,), NaN where it takes no part; the number of unknowns."""
        data, theta = self.point
        values = {name: value[:, None] for name, value in self.parameters((data, theta)).items()}
        said = dict(FITTED_TO) | ({"softirq_leading": "softirq"} if "mu1_per_s" in values else {})
        with np.errstate(invalid="ignore", divide="ignore"):
            found = self.spec.solve(values, data.means["throughput_per_s"], self.cores, self.nics)
            found["softirq"] = data.means["throughput_per_s"] / values.get("mu1_per_s", np.inf) / self.nics
            gaps = {name: np.log(data.means[name] / found[key])[0] for name, key in said.items()}
        return {name: np.where(self.precision[name] > 0, gap, np.nan) for name, gap in gaps.items()}, len(values)

    def without_each_cell(self) -> DataSets:
        weight = (self.sampled.cell != np.arange(int(self.sampled.cell.max()) + 1)[:, None]).astype(float)
        return DataSets({k: np.broadcast_to(v, weight.shape) for k, v in self.sampled.mean.items()}, weight)

    @cached_property
    def point(self) -> tuple[DataSets, Array]:
        """The fit to what was measured, by scipy from two starts."""
        data = self.measured()
        lowest, start = self._start(data)
        residuals = self._residuals(data)
        first = least_squares.many(residuals, start, lowest)
        tried = [least_squares.one(residuals, s, lowest) for s in (start[0], first[0])]
        best = min(tried, key=lambda theta: float((residuals(theta[None]) ** 2).sum()))
        return data, best[None]

    def replicates(self, data: DataSets) -> tuple[DataSets, Array]:
        """Each data set fitted on its own, all in step, from the fit to what was measured."""
        lowest, _ = self._start(data)
        start = np.broadcast_to(self.point[1], (len(data.weight), lowest.size)).copy()
        return data, least_squares.many(self._residuals(data), start, lowest)

    def parameters(self, fitted: tuple[DataSets, Array]) -> dict[str, Array]:
        """Named parameters (R,) of fitted vectors."""
        data, theta = fitted
        if self.spec.model == "mmm":
            return {"mu_per_s": np.exp(-theta[:, 0])}
        found = {} if "mu1_per_s" in self.spec.given else {"mu1_per_s": _inverse(self._interrupt_s(data))}
        found |= {} if "mu2_per_s" in self.spec.given else {"mu2_per_s": np.exp(-theta[:, 0])}
        # the search for a delay that is not there ends a hair above its bound, 0
        linear = np.where(theta > 1e-9, theta, 0.0)
        found |= {self.delay: linear[:, 1] * self._scale(data)} if self.with_delay else {}
        found |= {"interrupt_scv": linear[:, -1]} if self.with_scv else {}
        return found | ({"p": self._p(data)} if self.spec.given.get("p") == "utilisation" else {})

    def held_out(self) -> tuple[Row, ...]:
        """Each (cores, nics, rate) predicted by a fit to the others."""
        values = self.parameters(self.replicates(self.without_each_cell()))
        rows = []
        for number in range(int(self.sampled.cell.max()) + 1):
            members = np.flatnonzero(self.sampled.cell == number)
            cores, nics, rate = self.cores[members[0]], self.nics[members[0]], self.rate[members[0]]
            at = {name: value[number] for name, value in values.items()}
            done = float(np.mean(self.sampled.mean["throughput_per_s"][members]))
            found = self.spec.solve(at, done, cores, nics)
            found["throughput"] = self.spec.solve(at, rate, cores, nics)["throughput"]
            row: Row = {"cores": int(cores), "nics": int(nics), "rate_per_s": float(rate)}
            if not np.isfinite(found["response"]):
                row["saturated"] = 1.0
            for name, (column, key) in HELD_OUT.items():
                real = float(np.mean(self.sampled.mean[column][members]))
                # a model that says "saturated" where the service was not is off by at least all of it
                said = float(found[key]) if np.isfinite(found[key]) else 2 * real
                if np.isfinite(real) and real > 0 and not (name == "utilisation_trailing" and cores == nics):
                    row[name] = said / real - 1
            rows.append(row)
        return tuple(rows)

    def notes(self) -> list[str]:
        """What the reader of the parameters has to know."""
        found = []
        interrupts = self.sampled.mean["softirq_leading"]
        if (
            self.spec.model == "two-class"
            and not np.nanmax(np.append(interrupts, 0.0)) > 0
            and "mu1_per_s" not in self.spec.given
        ):
            found.append("no soft-interrupt time was measured: interrupts cost nothing in this fit (mu1 infinite)")
        if self.sampled.runs["blocks"].max() == 1:
            found.append("one block a run: intervals come from replications alone")
        return found

    def _start(self, data: DataSets) -> tuple[Array, Array]:
        lead, behind = (self._work(data, name) for name in ("util_leading", "util_trailing"))
        work = lead * self.nics + np.where(self.cores > self.nics, behind * (self.cores - self.nics), 0.0)
        demand = work / data.means["throughput_per_s"] - (
            0.0 if self.spec.model == "mmm" else self._interrupt_s(data)[:, None] + self.client_s
        )
        fastest = np.nanmin(np.where(data.weight > 0, data.means["response_s"], np.nan), axis=1)
        page = (
            np.nanmedian(np.where(np.isfinite(demand) & (demand > 0), demand, np.nan), axis=1)
            if np.isfinite(demand).any()
            else fastest
        )
        page = np.where(np.isfinite(page) & (page > 0), page, fastest / 2)
        more = [0.1] * self.with_delay + [1.0] * self.with_scv
        start = [np.log(page), *(np.full_like(page, value) for value in more)]
        return np.array([-np.inf, *(0.0 for _ in more)]), np.stack(start, axis=1)

    def _work(self, data: DataSets, name: str) -> Array:
        return np.where(self.precision[name] > 0, data.means[name], np.nan)

    def _scale(self, data: DataSets) -> Array:
        """Unit of the delay: the smallest response measured, the same for all data sets."""
        return np.full(len(data.weight), float(np.nanmin(self.sampled.mean["response_s"])))

    def _interrupt_s(self, data: DataSets) -> Array:
        """S per data set, by the utilisation law from every meter there is, whatever the model of response times.

        Each run has up to three equations in S and the page's A, least squares with relative weights: interrupts
        U m / X = S; leading cores U m / X = S + client + p A; trailing ones U (n - m) / X = (1 - p) A. Where p is not
        known beforehand, the first alone (eq. 6). Interrupts come with arrivals: in a resample X is theirs, because
        answers of a block belong to requests before it, which would be noise that the run does not have.
        """
        if "mu1_per_s" in self.spec.given:
            return np.full(len(data.weight), 1 / float(self.spec.given["mu1_per_s"]))
        p = self._known_p()
        done = data.means["throughput_per_s"]
        arrived = self.sampled.mean["throughput_per_s"] * data.means["arrived"]
        one, none = np.ones_like(self.rate), np.zeros_like(self.rate)
        meters = [("softirq_leading", self.nics, one, none, 0.0)]
        if p is not None and (self.precision["softirq_leading"] > 0).any():
            meters.append(("util_leading", self.nics, one, p, self.client_s))
            meters.append(("util_trailing", self.cores - self.nics, none, 1 - p, 0.0))
        normal, right = np.zeros((len(data.weight), 2, 2)), np.zeros((len(data.weight), 2))
        for name, cores, of_interrupt, of_page, known_s in meters:
            use = self.precision[name] > 0
            rate = arrived if name == "softirq_leading" else done
            demand = np.where(use, data.means[name] * cores / rate, 0.0)
            typical = np.median(demand[:, use], axis=1, keepdims=True) if use.any() else np.ones((len(demand), 1))
            weight = data.weight * (self.precision[name] / typical) ** 2
            for row, a in enumerate((of_interrupt, of_page)):
                right[:, row] += (weight * a * (demand - known_s)).sum(axis=1)
                for column, b in enumerate((of_interrupt, of_page)):
                    normal[:, row, column] += (weight * a * b).sum(axis=1)
        return _first_unknown(normal, right)

    def _known_p(self) -> Array | None:
        """p of each run where it does not depend on what is fitted."""
        given = self.spec.given.get("p")
        if isinstance(given, str) or (given is None and self.spec.given.get("p_rule", "uniform") != "uniform"):
            return None
        p = self.nics / self.cores if given is None else np.full_like(self.rate, float(given))
        return np.where(self.cores == self.nics, 1.0, p)

    def _p(self, data: DataSets) -> Array:
        """p from how busy leading and trailing cores are: the share of page work that stays."""
        part = np.where((self.precision["util_leading"] > 0) & (self.precision["util_trailing"] > 0), data.weight, 0.0)
        if not part.any(axis=1).all():
            raise FitError(
                "no run with trailing cores", "given p = 'utilisation'", "give p, or measure with nics < cores"
            )
        done = data.means["throughput_per_s"]
        stays = data.means["util_leading"] * self.nics / done - self._interrupt_s(data)[:, None] - self.client_s
        leaves = data.means["util_trailing"] * (self.cores - self.nics) / done
        stays, leaves = (np.where(part > 0, part * value, 0.0).sum(axis=1) for value in (stays, leaves))
        return np.clip(stays / (stays + leaves), 0.0, 1.0)

    def _residuals(self, data: DataSets) -> least_squares.Residuals:
        weights = {name: np.sqrt(data.weight) * self.precision[name] for name in FITTED_TO}
        fixed, rate = self._fixed(data), data.means["throughput_per_s"]

        @np.errstate(over="ignore", divide="ignore", invalid="ignore")  # of trials far from any answer
        def residuals(theta: Array) -> Array:
            values = dict(fixed)
            values["mu_per_s" if self.spec.model == "mmm" else "mu2_per_s"] = np.exp(-theta[:, :1])
            if "mu2_per_s" in self.spec.given:
                values["mu2_per_s"] = np.full_like(theta[:, :1], float(self.spec.given["mu2_per_s"]))
            if self.with_delay:
                values[self.delay] = theta[:, 1:2] * self._scale(data)[:, None]
            if self.with_scv:
                values["interrupt_scv"] = theta[:, -1:]
            most = NEAREST * self.spec.saturation(values, rate, self.cores, self.nics)
            beyond = 1 + 20 * np.maximum(rate / most - 1, 0.0)
            found = self.spec.solve(values, np.minimum(rate, most), self.cores, self.nics)
            scale = rate / np.minimum(rate, most)
            parts = []
            for name, key in FITTED_TO.items():
                said = found[key] * (beyond if name == "response_s" else scale)
                with np.errstate(invalid="ignore", divide="ignore"):
                    off = np.log(said / data.means[name])
                off = np.clip(np.nan_to_num(off, nan=0.0), -10.0, 10.0)
                parts.append(np.where(weights[name] > 0, off * weights[name], 0.0))
            return np.concatenate(parts, axis=1)

        return residuals

    def _fixed(self, data: DataSets) -> dict[str, Array]:
        if self.spec.model == "mmm":
            return {}
        fixed = {"mu1_per_s": _inverse(self._interrupt_s(data))[:, None]}
        return fixed | ({"p": self._p(data)[:, None]} if self.spec.given.get("p") == "utilisation" else {})


def _first_unknown(normal: Array, right: Array) -> Array:
    """First of two unknowns of weighted normal equations (R, 2, 2); alone where the second does not occur."""
    determinant = normal[:, 0, 0] * normal[:, 1, 1] - normal[:, 0, 1] ** 2
    solvable = determinant > 1e-9 * normal[:, 0, 0] * normal[:, 1, 1]
    alone = right[:, 0] / np.where(normal[:, 0, 0] > 0, normal[:, 0, 0], 1.0)
    both = (right[:, 0] * normal[:, 1, 1] - right[:, 1] * normal[:, 0, 1]) / np.where(solvable, determinant, 1.0)
    return np.maximum(np.where(solvable, both, alone), 0.0)


def _precision(sampled: BootstrapSamples, name: str, known: NDArray[np.bool_]) -> Array:
    """One over the relative error of each run's figure."""
    error = np.hypot(_smooth(sampled, name, known), FLOOR[name])
    if name != "response_s":
        error = np.hypot(error, FLOOR_SHARE / np.where(known, sampled.mean[name], 1.0))
    return np.where(known, 1 / error, 0.0)


def _smooth(sampled: BootstrapSamples, name: str, known: NDArray[np.bool_]) -> Array:
    """Relative standard errors, log-linear in the rate within a configuration: a run that came out low by chance also
    has a low error of its own, and would pull the fit down."""
    error = sampled.error[name].copy()
    at = np.stack([sampled.column(column) for column in ("cores", "nics")], axis=1)
    for place in np.unique(at, axis=0):
        here = known & (at == place).all(axis=1) & (error > 0)
        rate = sampled.column("rate_per_s")[here]
        if np.unique(rate).size > 3:
            error[here] = np.exp(np.polyval(np.polyfit(rate, np.log(error[here]), 1), rate))
    return error


def _inverse(value: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(1 / value)
