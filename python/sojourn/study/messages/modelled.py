"""Each parallelism model on each configuration that was not fitted; intervals of the predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

import sojourn as sj
from sojourn.study.estimate import Estimate
from sojourn.study.judged import Held, Judgement
from sojourn.study.messages.models.document import document_network
from sojourn.study.messages.models.fit import CALIBRATION, REFERENCE, CurvePoint, Fitted
from sojourn.study.messages.models.network import LEAST_S, Shape, predict
from sojourn.study.messages.models.parallelism import DocumentRule
from sojourn.study.messages.seen import configurations, name_of

DRAWS = 16
NORMAL = 1.96


@dataclass(frozen=True)
class Outcome:
    """What a model says of a configuration, with a 95 % interval from those of its parameters."""

    throughput_per_s: float
    response_s: float
    low_per_s: float
    high_per_s: float
    low_s: float
    high_s: float
    bottleneck: str = ""


Solve = Callable[[Fitted, dict[str, float]], tuple[float, float, str]]


def models(fitted: Fitted) -> dict[str, Solve]:
    """The models by name: the document's network with its rule, ours with the measured curve and with the law."""
    return {name: _document if name == DocumentRule.name else _ours(name) for name in fitted.parallelisms}


def _ours(name: str) -> Solve:
    def solve(fitted: Fitted, c: dict[str, float]) -> tuple[float, float, str]:
        shape = Shape(int(c["workers"]), int(c["connections"]), int(c["middlewares"]))
        found = predict(fitted.demands_of(name), fitted.parallelisms[name], shape, int(c["clients"]), c["retry_s"])
        return found.throughput_per_s, found.response_s, found.bottleneck

    return solve


def _document(fitted: Fitted, c: dict[str, float]) -> tuple[float, float, str]:
    """The document has one middleware: of several it would have the sum of the pools."""
    t = {name: max(e.value, LEAST_S) for name, e in fitted.times.items()}
    think, m = t.pop("empty_share") * c["retry_s"], int(c["middlewares"])
    found = sj.solve(
        document_network(
            **t, think_s=think, workers=int(c["workers"]) * m, connections=int(c["connections"]) * m,
            clients=int(c["clients"]),
        )
    )  # fmt: skip
    x = found.value("throughput")
    stations = ("dispatcher", "worker_in", "database", "worker_out")
    return x, c["clients"] / x - think, max(stations, key=lambda s: found.value("utilisation", s))


def outcome(solve: Solve, fitted: Fitted, drawn: Sequence[Fitted], configuration: dict[str, float]) -> Outcome:
    """The prediction, and the spread of those with the parameters that were drawn."""
    x, r, bottleneck = solve(fitted, configuration)
    spread = np.log([solve(f, configuration)[:2] for f in drawn]).reshape(-1, 2)
    factor = np.exp(NORMAL * spread.std(axis=0, ddof=1)) if len(drawn) > 1 else np.ones(2)
    return Outcome(x, r, x / factor[0], x * factor[0], r / factor[1], r * factor[1], bottleneck)


def drawings(fitted: Fitted, draws: int, seed: int = 1) -> Iterator[Fitted]:
    """Parameters drawn independently, normal with the width of their intervals; none where no interval is known."""
    widths = [e.high - e.low for e in fitted.times.values()] + [
        p.rate_per_s.high - p.rate_per_s.low for p in fitted.curve
    ]
    if not any(widths):
        return
    random = np.random.default_rng(seed)

    def draw(e: Estimate) -> Estimate:
        at = max(random.normal(e.value, (e.high - e.low) / (2 * NORMAL)), 1e-3 * e.value)
        return Estimate(at, at, at)

    for _ in range(draws):
        times = {name: draw(e) for name, e in fitted.times.items()}
        curve = tuple(CurvePoint(p.connections, p.size, draw(p.rate_per_s)) for p in fitted.curve)
        moved = {
            p.connections: q.rate_per_s.value / p.rate_per_s.value for p, q in zip(fitted.curve, curve, strict=True)
        }
        runs = tuple((size, rate * moved[_nearest(fitted.curve, size)]) for size, rate in fitted.runs)
        yield replace(fitted, response_s=draw(fitted.response_s), times=times, curve=curve, runs=runs)


def _nearest(curve: tuple[CurvePoint, ...], size: float) -> int:
    return min(curve, key=lambda p: abs(p.size.value - size)).connections


Key = tuple[float, ...]
Outcomes = dict[str, dict[Key, Outcome]]


def predicted(seen: pl.DataFrame, fitted: Fitted) -> Outcomes:
    """By model and configuration (as `CONFIGURATION` has it): all configurations but those of the calibration."""
    asked = [c for c, _ in configurations(seen.filter(pl.col("section") != CALIBRATION))]
    drawn = list(drawings(fitted, DRAWS))
    return {
        name: {tuple(c.values()): outcome(solve, fitted, drawn, c) for c in asked}
        for name, solve in models(fitted).items()
    }


def judged(seen: pl.DataFrame, outcomes: Outcomes) -> list[Judgement[Outcome]]:
    """A judgement a model over all configurations of which no run was fitted."""
    fitted = {tuple(c.values()) for c, _ in configurations(seen.filter(pl.col("section") == REFERENCE))}
    rest = configurations(seen.filter(pl.col("section") != CALIBRATION))
    held = [(c, rows) for c, rows in rest if tuple(c.values()) not in fitted]
    return [Judgement(name, tuple(_held(c, rows, known) for c, rows in held)) for name, known in outcomes.items()]


def _held(c: dict[str, float], rows: pl.DataFrame, known: dict[Key, Outcome]) -> Held[Outcome]:
    x, r = (float(rows[column].mean()) for column in ("throughput_per_s", "response_s"))  # type: ignore[arg-type]
    return Held(name_of(c), int(c["clients"]), known[tuple(c.values())], x, r)
