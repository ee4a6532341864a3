"""Three rivals for the message service: the Telesto report's network with its rule, ours with the database's measured curve and with
the scalability law fitted to it (`usl`). All have the same times.

Intervals: parameters drawn from theirs, and the spread from run to run at one configuration; what a model leaves out is in none.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ndtri

import sojourn as sj
from sojourn.errors import FitError
from sojourn.fit.fitted import Estimate
from sojourn.measure.folder import RunFolder
from sojourn.study.engine.templates import Rivals
from sojourn.study.messages.document import document_network
from sojourn.study.messages.fit import CurvePoint, Fitted, nearest
from sojourn.study.messages.fit import fit as fitted_to
from sojourn.study.messages.network import LEAST_S, Prediction, Shape, predict
from sojourn.study.messages.parallelism import DocumentRule
from sojourn.system.messages_reading import frame
from sojourn.table import Metrics

LEVEL = 0.95
DRAWS = 16
FIXED = ("network_s", "dispatch_s", "parse_s", "respond_s", "database_s")
Factors: TypeAlias = Mapping[str, Any]
Solve: TypeAlias = Callable[[Factors], Prediction]


def fit(runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> Rivals:
    """From the runs of the sections reference and calibration.

    Raises:
        FitError: there are none of them, or an option: it has none.
    """
    if options:
        raise FitError(f"fit.options: {next(iter(options))}", "[fit]", "leave it out: this template has none")
    found = fitted_to(frame(runs), LEVEL)
    rivals = {name: MessageModel(name, found, seed) for name in found.parallelisms}
    best = min(rivals, key=lambda name: rivals[name].model_error)
    return Rivals(rivals, best, f"{best} is quoted: it has the least of these errors")


def read(path: Path) -> MessageModel:
    """From `MessageModel.write`."""
    given = tomllib.loads(path.read_text())
    curve = tuple(
        CurvePoint(int(name), Estimate(*size), Estimate(*rate)) for name, (size, rate) in given["curve"].items()
    )
    times = {name: Estimate(*value) for name, value in given["times"].items()}
    shape, runs, spread = Shape(*given["shape"]), tuple((n, x) for n, x in given["runs"]), given["spread"]
    found = Fitted(
        shape,
        given["clients"],
        given["retry_s"],
        Estimate(*given["response_s"]),
        times,
        curve,
        runs,
        (spread[0], spread[1]),
    )
    return MessageModel(given["model"], found, given["seed"])


@dataclass(frozen=True)
class MessageModel:
    """One rival: `name` of its parallelism."""

    name: str
    fitted: Fitted
    seed: int = 1
    level: float = LEVEL
    error_of = "the database's rate, at sizes of the calibration left out"

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Times of a request at the reference; completions of the database by busy connections, 1/s."""
        rates = {f"rate_per_s with {p.connections}": p.rate_per_s for p in self.fitted.curve}
        return {**self.fitted.times, **rates}

    @cached_property
    def model_error(self) -> float:
        """Root mean square of the relative errors of the database's rate at each size of the calibration but the smallest and
        the largest, by a fit without it."""
        errors = []
        for point in sorted(self.fitted.curve, key=lambda p: p.size.value)[1:-1]:
            rest = self.fitted.without(point).parallelisms
            if self.name in rest:
                rates = (0.0, *rest[self.name].rates(int(np.ceil(point.size.value))))
                told = float(np.interp(point.size.value, range(len(rates)), rates))
                errors.append(told / point.rate_per_s.value - 1)
        return float(np.sqrt(np.mean(np.square(errors)))) if errors else float("nan")

    @property
    def message(self) -> str:
        """What it does not explain of the reference."""
        more, seen = self.fitted.unexplained_s(self.name), self.fitted.response_s.value
        return (
            f"Of the {1e3 * seen:.3f} ms that clients saw at the reference the model {self.name} explains "
            f"{1e3 * (seen - more):.3f} ms; {1e3 * more:+.3f} ms are taken as a delay beside the network: a database is "
            "slower for requests that come one by one, and threads that sleep must be woken."
        ) * (self.name != DocumentRule.name)

    def value(self, factors: Factors, metric: str) -> float:
        """Without an interval: `throughput` or `response_time`."""
        found = self.solve(factors)
        return found.throughput_per_s if metric == "throughput" else found.response_s

    def predict(self, vary: Factors, level: float = LEVEL) -> Metrics:
        """Throughput and response time with the intervals of a new run, and how much each part is used."""
        found = self.solve(vary)
        drawn = np.log([(p.throughput_per_s, p.response_s) for p in (solve(vary) for solve in self._drawn)])
        variance = np.square(self.fitted.spread)
        variance += drawn.var(axis=0, ddof=1) if len(drawn) > 1 else np.nan
        factor = np.exp(ndtri(0.5 + level / 2) * np.sqrt(variance))
        rows: list[dict[str, Any]] = [
            {"metric": metric, "value": value, "low": value / f, "high": value * f, "level": level}
            if np.isfinite(f) and f > 1
            else {"metric": metric, "value": value, "status": "no_interval"}
            for metric, value, f in zip(
                ("throughput", "response_time"), (found.throughput_per_s, found.response_s), factor, strict=True
            )
        ]
        used = [{"metric": "utilisation", "station": name, "value": value} for name, value in found.used.items()]
        return Metrics.of(rows + used, self.name)

    @cached_property
    def solve(self) -> Solve:
        """Factors of a run → what is predicted, without intervals."""
        return solver(self.fitted, self.name)

    @cached_property
    def _drawn(self) -> list[Solve]:
        return [solver(one, self.name) for one in drawings(self.fitted, DRAWS, self.seed)]

    def write(self, path: Path) -> None:
        """A TOML file."""
        f = self.fitted
        top = {
            "model": self.name, "seed": self.seed, "shape": [f.shape.workers, f.shape.connections, f.shape.middlewares],
            "clients": f.clients, "retry_s": f.retry_s, "response_s": f.response_s, "spread": f.spread, "runs": f.runs,
        }  # fmt: skip
        curve = {str(p.connections): (p.size, p.rate_per_s) for p in f.curve}
        lines = [*_table(top), "", "[times]", *_table(f.times), "", "[curve]", *_table(curve)]
        path.write_text("\n".join(lines) + "\n")


def _table(values: Mapping[str, Any]) -> Iterator[str]:
    """Numbers, text and lists are the same in TOML as in JSON, but for what is none."""
    return (f"{name} = {json.dumps(value)}".replace("NaN", "nan") for name, value in values.items())


def solver(fitted: Fitted, name: str) -> Solve:
    """The model of this name as a function of the factors of a run."""
    if name == DocumentRule.name:
        return lambda factors: _document(fitted, factors)
    demands, database = fitted.demands_of(name), fitted.parallelisms[name]

    def solve(factors: Factors) -> Prediction:
        shape = Shape(factors["workers"], factors["connections"], factors["middlewares"])
        return predict(demands, database, shape, factors["clients"], factors["retry_s"])

    return solve


def _document(fitted: Fitted, factors: Factors) -> Prediction:
    """The Telesto report has one middleware: of several it would have the sum of the pools."""
    t = {name: max(fitted.times[name].value, LEAST_S) for name in FIXED}
    think_s, number = fitted.demands.think_s(factors["retry_s"]), factors["middlewares"]
    found = sj.solve(
        document_network(
            **t, think_s=think_s, workers=factors["workers"] * number, connections=factors["connections"] * number,
            clients=factors["clients"],
        )
    )  # fmt: skip
    x = found.value("throughput")
    used = {name: found.value("utilisation", name) for name in ("dispatcher", "worker_in", "database", "worker_out")}
    return Prediction(factors["clients"], x, factors["clients"] / x - think_s, used)


def drawings(fitted: Fitted, draws: int, seed: int = 1) -> Iterator[Fitted]:
    """Parameters drawn independently, normal with the width of their intervals; none where one of them has no interval: with it
    taken as exact those of predictions would be too narrow."""
    each = (fitted.response_s, *fitted.times.values(), *(p.rate_per_s for p in fitted.curve))
    widths = [e.high - e.low for e in each]
    if not np.isfinite(widths).all():
        return
    random = np.random.default_rng(seed)
    half = 2 * float(ndtri(0.5 + LEVEL / 2))

    def draw(e: Estimate) -> Estimate:
        at = max(random.normal(e.value, (e.high - e.low) / half), 1e-3 * e.value)
        return Estimate(at, at, at)

    for _ in range(draws):
        times = {name: draw(e) for name, e in fitted.times.items()}
        curve = tuple(replace(p, rate_per_s=draw(p.rate_per_s)) for p in fitted.curve)
        moved = {
            p.connections: q.rate_per_s.value / p.rate_per_s.value for p, q in zip(fitted.curve, curve, strict=True)
        }
        runs = tuple((size, rate * moved[nearest(fitted.curve, size).connections]) for size, rate in fitted.runs)
        yield replace(fitted, response_s=draw(fitted.response_s), times=times, curve=curve, runs=runs)
