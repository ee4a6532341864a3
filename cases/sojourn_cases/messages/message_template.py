"""Two rivals for the message service: `usl`, our network with five unknowns, fitted to all runs of `[fit] sections`; and
`telesto`, the Telesto report's own network, whose times are measured in the section `reference`.

Intervals are for a new run: of `usl` from the relative service times at configurations left out, from the unknowns fitted to
configurations resampled, and of the throughput from how many takes are empty by chance; of `telesto` from its errors at the
configurations that its times are not from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import tomli_w
from scipy.special import ndtri

import sojourn as sj
from sojourn import Metrics
from sojourn.errors import FitError
from sojourn.files import read_toml, write_output
from sojourn.fit import CoreSpeed, FittedDefaults, ParameterEstimate
from sojourn.runs import RunFolder, recorded_work_s
from sojourn.study import FitTemplate, RivalModels, mean_with_interval
from sojourn.units import percent
from sojourn_cases.messages.message_network import LEAST_S, Factors, MeanPerformance, MessageNetwork
from sojourn_cases.messages.message_service_metrics import FACTORS, WORK, frame, geometric_mean
from sojourn_cases.messages.network_fit import RUNS, FittedMessageNetwork, observed, where_valid
from sojourn_cases.messages.network_fit import fit as fit_network
from sojourn_cases.messages.telesto import TELESTO, telesto_network

USL, REFERENCE = "usl", "reference"
LEVEL = 0.95
TIMES = ("network_s", "dispatch_s", "parse_s", "respond_s", "empty_share", "own_s", "database_s")
JUDGED = ("throughput", "response_time")


def _lengths_s(runs: list[RunFolder]) -> tuple[float, float]:
    """Of a run (one that was simulated: as its conditions say), and of it what is counted, the median."""
    manifest = runs[0].manifest
    windows = [run.manifest["window_s"] for run in runs if run.manifest["valid"]]
    whole_s = float(manifest["load"].get("duration_s") or manifest["conditions"]["duration_s"])
    return whole_s, float(np.median([end - start for start, end in windows])) if windows else whole_s


@dataclass(frozen=True)
class UslModel(FittedDefaults):
    """Our network; its service follows the universal scalability law."""

    fitted: FittedMessageNetwork
    seed: int = 1
    level: float = LEVEL
    name: ClassVar[str] = USL
    error_of: ClassVar[str] = "the throughput, at configurations left out"

    @property
    def estimates(self) -> dict[str, ParameterEstimate]:
        """What was fitted, and what was measured for it."""
        return self.fitted.estimates(self.level)

    @property
    def model_error(self) -> float:
        """Root mean square of the relative errors of the throughput, each configuration by a fit without it."""
        return self.fitted.error

    @property
    def message(self) -> str:
        """How much runs differ from what it says."""
        return (
            f"At configurations left out half of the runs have service times within {percent(self.fitted.slower(0.5) - 1)} of the "
            f"model's, nine of ten within {percent(self.fitted.slower(0.9) - 1)}: the machine is not as fast in one minute as in the next."
        )

    def value(self, factors: Factors, metric: str) -> float:
        """In the long run, without an interval: `throughput` or `response_time`."""
        found = self.fitted.network.stationary(factors)
        return float(found.throughput_per_s if metric == "throughput" else found.response_s)

    def predict(self, vary: Factors, level: float = LEVEL) -> Metrics:
        """Throughput and response time of a new run, with its interval, and how much of the pools is used; with `work_s` in `vary`
        for cores of that speed (`system.messages_reading.frame`), otherwise for the usual one."""
        fitted, network, z = self.fitted, self.fitted.network, float(ndtri(0.5 + level / 2))
        longer = network.longer(vary, fitted.duration_s, RUNS, self.seed)
        here = fitted.slower_at(vary.get(WORK))
        wide = fitted.slower(level, WORK in vary)
        times = [one.stationary(vary, [here]).response_s[0] for one in fitted.draws]
        middle, low_s, high_s = network.stationary(vary, [here, here / wide, here * wide]).response_s * longer
        means, ends = network.cycle(vary, middle), network.cycle(vary, np.array([high_s, low_s]))
        refits = network.cycle(vary, np.array(times) * longer)
        chance = {"throughput": z * self._by_chance(vary, means), "response_time": 0.0}
        rows: list[dict[str, Any]] = []
        for metric in JUDGED:
            value = float(_of(means, metric))
            sides = np.log(np.sort(_of(ends, metric)) / value)
            more = np.hypot(chance[metric], z * float(np.std(np.log(_of(refits, metric)), ddof=1)))
            low, high = value * np.exp(np.array([-1, 1]) * np.hypot(sides, more))
            rows.append({"metric": metric, "value": value, "low": float(low), "high": float(high), "level": level})
        used = {"metric": "utilisation", "station": "pools", "value": network.stationary(vary).used}
        return Metrics.of([*rows, used], USL)

    def _by_chance(self, factors: Factors, means: MeanPerformance) -> float:
        """Standard deviation of the logarithm of a run's throughput from its share of empty takes. Takes less puts are a random walk,
        and nearly all of the surplus were empty, so that of n requests the share has the variance (1 - share²)/n."""
        network = self.fitted.network
        share = network.empty_share
        requests = means.throughput_per_s * self.fitted.window_s
        delay_s = factors["retry_s"] * np.sqrt((1 - share**2) / requests) if share else 0.0
        return float(delay_s * means.throughput_per_s / factors["clients"])

    def write(self, path: Path) -> None:
        """A TOML file."""
        told = {name: value for name, value in asdict(self.fitted).items() if value is not None}
        write_output(path, tomli_w.dumps({"model": USL, "seed": self.seed, "fitted": told}))


def _of(means: MeanPerformance, metric: str) -> Any:
    return means.throughput_per_s if metric == "throughput" else means.response_s


@dataclass(frozen=True)
class TelestoModel(FittedDefaults):
    """The Telesto report's network; errors: root mean squares of logarithms, at what its times are not from (NaN: nothing)."""

    times: Mapping[str, ParameterEstimate]
    throughput_error: float
    response_error: float
    level: float = LEVEL
    message: str = ""
    name: ClassVar[str] = TELESTO
    error_of: ClassVar[str] = "the throughput, at the configurations that its times are not from"

    @property
    def estimates(self) -> dict[str, ParameterEstimate]:
        """Times of a request at the reference."""
        return dict(self.times)

    @property
    def model_error(self) -> float | None:
        """Of the throughput, relative; None where all its runs are of the reference."""
        return None if np.isnan(self.throughput_error) else self.throughput_error

    def value(self, factors: Factors, metric: str) -> float:
        """`throughput` or `response_time`."""
        return float(_of(self.solve(factors)[0], metric))

    def solve(self, factors: Factors) -> tuple[MeanPerformance, Iterator[tuple[str, float]]]:
        """Means, and utilisations by station. The Telesto report has one middleware: of several it would have the sum of pools."""
        t = {name: max(one.value, LEAST_S) for name, one in self.times.items()}
        think_s, number = t.pop("empty_share") * factors["retry_s"] + t.pop("own_s"), factors["middlewares"]
        found = sj.solve(
            telesto_network(
                **t, think_s=think_s, workers=factors["workers"] * number, connections=factors["connections"] * number,
                clients=factors["clients"],
            )
        )  # fmt: skip
        x = found.value("throughput")
        used = (
            (name, found.value("utilisation", name)) for name in ("dispatcher", "worker_in", "database", "worker_out")
        )
        return MeanPerformance(x, factors["clients"] / x - think_s), used

    def predict(self, vary: Factors, level: float = LEVEL) -> Metrics:
        """Throughput and response time, with intervals from its errors, and utilisations."""
        means, used = self.solve(vary)
        z = float(ndtri(0.5 + level / 2))
        rows: list[dict[str, Any]] = []
        for metric, error in zip(JUDGED, (self.throughput_error, self.response_error), strict=True):
            value, wide = float(_of(means, metric)), float(np.exp(z * error))
            ends = (
                {"low": value / wide, "high": value * wide, "level": level} if wide > 1 else {"status": "no_interval"}
            )
            rows.append({"metric": metric, "value": value, **ends})
        rows += [{"metric": "utilisation", "station": name, "value": value} for name, value in used]
        return Metrics.of(rows, TELESTO)

    def write(self, path: Path) -> None:
        """A TOML file."""
        told = {"throughput_error": self.throughput_error, "response_error": self.response_error}
        write_output(
            path, tomli_w.dumps({"model": TELESTO, **told, "times": {n: list(e) for n, e in self.times.items()}})
        )


def fit_telesto(seen: pl.DataFrame, reference: pl.DataFrame) -> TelestoModel:
    """Times from the runs of `reference`, its errors from the others of `seen`."""
    columns = {"network_s": reference["response_s"] - reference["mw_response_s"]}
    columns |= {name: reference[name] for name in TIMES[1:]}
    nan = float("nan")
    model = TelestoModel(
        {name: mean_with_interval(values.to_numpy(), LEVEL) for name, values in columns.items()}, nan, nan
    )
    first = dict(zip(FACTORS, reference.select(FACTORS).row(0), strict=True))
    errors = []
    for one in observed(seen):
        if one.factors != first:
            means = model.solve(one.factors)[0]
            measured = np.mean(one.throughput_per_s), np.mean(one.response_s)
            errors.append(np.log([means.throughput_per_s / measured[0], means.response_s / measured[1]]))
    x, r = np.sqrt(np.mean(np.square(errors), axis=0)) if errors else (nan, nan)
    return TelestoModel(model.times, float(x), float(r))


class MessageTemplate(FitTemplate):
    """`[fit] model = "messages"`; it has no options."""

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        """From all runs given; `telesto` only where some are of the section reference.

        Raises:
            FitError: too few configurations, or an option: it has none.
        """
        if options:
            raise FitError(f"fit.options: {next(iter(options))}", "[fit]", "leave it out: this template has none")
        seen = where_valid(frame(runs))
        ours = UslModel(fit_network(seen, *_lengths_s(runs), seed), seed)
        reference = seen.filter(pl.col("section") == REFERENCE)
        rivals: dict[str, UslModel | TelestoModel] = {USL: ours}
        if reference.height:
            rivals[TELESTO] = fit_telesto(seen, reference)
        errors = {name: one.model_error for name, one in rivals.items()}
        best = min((e, name) for name, e in errors.items() if e is not None)[1]
        return RivalModels(
            rivals, best, f"{best} is quoted: it has the least of these errors" if len(rivals) > 1 else ""
        )

    def read(self, path: Path) -> UslModel | TelestoModel:
        """From `write`."""
        given, _ = read_toml(path, "give a fitted model")
        if given["model"] == TELESTO:
            times = {name: ParameterEstimate(*value) for name, value in given["times"].items()}
            return TelestoModel(times, given["throughput_error"], given["response_error"])
        f = given["fitted"]
        draws = tuple(MessageNetwork(**one) for one in f["draws"])
        speed = CoreSpeed(**f["speed"]) if "speed" in f else None
        left_out, at_speed = tuple(f["left_out"]), tuple(f["left_out_at_speed"])
        found = FittedMessageNetwork(
            MessageNetwork(**f["network"]), speed, draws, left_out, at_speed, f["error"], f["duration_s"], f["window_s"]
        )
        return UslModel(found, given["seed"])

    def conditions(self, folder: RunFolder) -> Mapping[str, float]:
        """How fast the cores were."""
        work_s = geometric_mean(recorded_work_s(folder).values())
        return {} if work_s is None else {WORK: work_s}


TEMPLATE = MessageTemplate()
