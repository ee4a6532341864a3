"""`control.simulate`: a policy on a simulated queue under a load that varies."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.control.decision import Decide, Decision
from sojourn.control.figures import ControlMetrics, figures
from sojourn.control.guard_rails import GuardedState, GuardRails, guarded
from sojourn.control.load_trace import Array, Load
from sojourn.control.varying_queue import Downstream, VaryingQueue
from sojourn.errors import InputError
from sojourn.files.writing import write_output
from sojourn.model import Model
from sojourn.model.components import Open, Queue
from sojourn.model.distribution_types import (
    Deterministic,
    Distribution,
    Erlang,
    Exponential,
    Hyperexponential,
    Lognormal,
    Uniform,
)
from sojourn.model.model import as_model
from sojourn.model.model_data import as_distribution
from sojourn.query.objectives import Objective, read_objectives
from sojourn.table import Metrics

PERIOD_S = 2.0  # of a policy that says none
LOG = "decisions.ndjson"


@dataclass(frozen=True)
class ControlledRun:
    """What came of it: `figures`, `metrics` of all requests, `log` of the decisions."""

    figures: ControlMetrics
    metrics: Metrics
    log: tuple[Decision, ...]

    def write(self, folder: Path | str) -> None:
        """The audit log as FOLDER/decisions.ndjson, which `replay` reads."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(one.to_dict(), allow_nan=False) for one in self.log)
        write_output(Path(folder, LOG), "".join(f"{line}\n" for line in lines))


def simulate(
    decide: Decide, model: Model | Path | str, load: Load, seed: int = 1, *, objective: str = "p99 < 300ms",
    rails: GuardRails | None = None, period_s: float | None = None, lag_s: float = 0.0, workers: int | None = None,
    downstream: Downstream | None = None,
) -> ControlledRun:  # fmt: skip
    """Runs `decide` every `period_s` (None: its own, else 2 s) behind `rails` on the model's queue, from the model's number of servers
    or `workers` on; a server that is added serves `lag_s` later. The model has one queue and one open class, whose rate the load
    replaces. Exact, and the same for the same seed. Raises InputError."""
    aim = tail_objective(objective)
    rails = rails or GuardRails()
    servers, service = single_queue(as_model(model))
    period_s = period_s or float(getattr(decide, "period_s", PERIOD_S))
    arrivals = load.arrivals_s(seed)
    demands = drawn(service, len(arrivals), np.random.default_rng([seed, 2]))
    queue = VaryingQueue(
        arrivals, demands, rails.clamp(workers or servers), lag_s, _stalled(load, arrivals), downstream, seed
    )
    state, log = GuardedState(), []
    for _ in range(math.ceil(load.duration_s / period_s - 1e-9)):
        decision, state = guarded(decide, rails, queue.run(period_s), state)
        queue.set_workers(decision.workers)
        log.append(decision)
    while np.isinf(queue.end_s).any():  # those that wait yet: they count, too
        queue.run(period_s)
    response = queue.end_s - arrivals
    found = figures(arrivals, response, queue, log, load.duration_s, aim)
    return ControlledRun(found, _metrics(arrivals, response, demands, load.duration_s, aim, found), tuple(log))


def tail_objective(text: str) -> Objective:
    """An objective on a quantile of response time, such as `p99 < 300ms`; InputError for another."""
    found = read_objectives([text], "objective")
    aim = found[0]
    if (
        len(found) > 1
        or not aim.figure.startswith("p")
        or not aim.relation.startswith("<")
        or not 0 < aim.q < 1
        or aim.limit <= 0
    ):
        raise InputError(repr(text), "objective", "give a quantile of response time and its limit, such as p99 < 300ms")
    return aim


def single_queue(model: Model) -> tuple[int, Distribution]:
    """Servers and service time of a model that can be controlled. InputError for any other."""
    stations, classes = model.stations, model.classes
    queue = stations[0] if len(stations) == len(classes) == 1 and isinstance(classes[0], Open) else None
    if not isinstance(queue, Queue) or queue.discipline != "fcfs" or queue.capacity is not None:
        raise InputError(
            f"{len(stations)} stations, {len(classes)} classes", model.name or "model",
            "give a model of one queue (fcfs, without a limit) and one open class, such as examples/desk.toml",
        )  # fmt: skip
    table = (model.service_s or model.demands_s)[queue.name]
    return queue.servers, as_distribution(table[classes[0].name])


def drawn(d: Distribution, count: int, rng: np.random.Generator) -> Array:
    """`count` values of the distribution. InputError for a kind that is not drawn here."""
    if isinstance(d, Exponential):
        return rng.exponential(d.first, count)
    if isinstance(d, Deterministic):
        return np.full(count, d.first)
    if isinstance(d, Erlang):
        return rng.gamma(1 / d.scv, d.first * d.scv, count)
    if isinstance(d, Uniform):
        half = d.first * math.sqrt(3 * d.scv)
        return rng.uniform(d.first - half, d.first + half, count)
    if isinstance(d, Lognormal):
        variance = math.log1p(d.scv)
        return rng.lognormal(math.log(d.first) - variance / 2, math.sqrt(variance), count)
    if isinstance(d, Hyperexponential):
        return rng.exponential(np.asarray(d.means)[rng.choice(len(d.means), count, p=d.probabilities)])
    raise InputError(
        d.kind, "service time", "give exponential, deterministic, erlang, uniform, lognormal or hyperexponential"
    )


def _stalled(load: Load, arrivals: Array) -> Array | None:
    """What each request waits for a stalled backend, s."""
    if not load.stalls:
        return None
    found = np.zeros(len(arrivals))
    for begin, end, extra_s in load.stalls:
        found[(arrivals >= begin) & (arrivals < end)] += extra_s
    return found


def _metrics(
    arrivals: Array, response: Array, demands: Array, duration_s: float, aim: Objective, found: ControlMetrics
) -> Metrics:
    busy = float(demands.sum()) / (found.core_hours * 3600) if found.core_hours else 0.0
    rows: list[dict[str, Any]] = [
        {"metric": "arrival_rate", "value": len(arrivals) / duration_s},
        {"metric": "throughput", "value": len(arrivals) / duration_s},
        {"metric": "utilisation", "value": busy},
    ]
    if len(arrivals):
        rows += [
            {"metric": "service_time", "value": float(demands.mean())},
            {"metric": "response_time", "value": float(response.mean())},
            {"metric": "response_time_quantile", "q": aim.q, "value": float(np.quantile(response, aim.q))},
        ]
    return Metrics.of([{"source": "simulated", **row} for row in rows], "control")
