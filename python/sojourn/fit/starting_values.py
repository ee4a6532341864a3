"""Where a search begins: demands by the utilisation law where a resource was watched, else from the smallest response."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.formula_values import PART
from sojourn.fit.multicore_starts import multicore_start

if TYPE_CHECKING:
    from sojourn.fit.model_evaluation import ModelEvaluator

Array = NDArray[np.float64]
SHARES = (0.9, 0.4, 0.1)  # of the smallest response, for all unknown times together


def starts(evaluator: ModelEvaluator, runs: FitRuns) -> Array:
    """Several points, S x unknowns, within their bounds."""
    model = evaluator.model
    responses = [
        v for run in runs.runs for (cls, metric), (v, _) in run.means.items() if cls == "" and metric == "response_time"
    ]
    fastest = min(responses, default=0.01)
    times = [
        p for p in evaluator.paths if p.startswith(("demands_s.", "service_s.")) and not p.endswith((".scv", ".shape"))
    ]
    parts = {path: _weights(path, evaluator) for path in evaluator.paths if path.startswith(PART)}
    count = len(times) + sum(bool(own) for own in parts.values())
    found = []
    for share in SHARES:
        point = []
        for path, unknown in evaluator.unknowns.items():
            value = float(unknown)
            known = None if unknown.given else multicore_start(model, path, runs, fastest)
            if parts.get(path) and not unknown.given:
                sizes = [(_by_law(s, evaluator, runs) or fastest * share) / w for s, w in parts[path]]
                value = min(sizes) / count
            if known is not None:
                value = known
            elif path in times and not unknown.given:
                station = next((s.name for s in model.stations if path.split(".", 1)[1].startswith(f"{s.name}.")), "")
                value = _by_law(station, evaluator, runs) or fastest * share / count
            point.append(min(max(value, max(unknown.low, 0.0)), unknown.high))
        found.append(point)
    return np.maximum(np.array(found), 1e-12)


def _weights(path: str, evaluator: ModelEvaluator) -> list[tuple[str, float]]:
    """Stations at which a parameter is a part of a time, and by how much of it in the mean configuration."""
    name, found = path.removeprefix(PART), []
    for target in evaluator.formulas.targets:
        if target.path.startswith(("demands_s.", "service_s.")) and name in target.needs:
            each = [evaluator.formulas.weight(name, target.path, i) for i in range(len(evaluator.networks))]
            station = next(
                (s.name for s in evaluator.model.stations if target.path.split(".", 1)[1].startswith(f"{s.name}.")), ""
            )
            if (weight := float(np.mean(each))) > 0:
                found.append((station, weight))
    return found


def _by_law(station: str, evaluator: ModelEvaluator, runs: FitRuns) -> float | None:
    """D = U/X, the median over the runs (Lazowska et al. 1984, p. 42); None where nothing was watched."""
    given = evaluator.model.observed.get(station, station)
    names = (given,) if isinstance(given, str) else tuple(given)
    demands = [
        sum(run.busy[n] for n in names) / run.means["", "throughput"][0]
        for run in runs.runs
        if all(n in run.busy for n in names) and ("", "throughput") in run.means
    ]
    return float(np.median(demands)) if demands else None
