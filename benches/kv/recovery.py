"""The model files of the memcached middleware on runs that they made themselves: how often intervals hold what was put in.

    python benches/kv/recovery.py [seeds]

Truth is a fit of the recorded runs (`recorded/2026-11-26`). Each seed has the configurations that were fitted there, each run as a
whole slower or faster by a factor with a standard deviation of 5 %, as runs of one configuration differ, and is fitted anew; new runs are
of the drawn configurations, with a factor of their own. Prints by design how many intervals of unknowns (95 %) and of new throughputs
and response times (90 %) hold the truth.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from model_file import FILES, kind_of, recorded

import sojourn as sj
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.model_evaluation import ModelEvaluator
from sojourn_cases import kv

LEVEL = 0.95  # of intervals of unknowns
SPREAD, STATED = 0.05, 0.005  # between runs of a configuration; within a run
RECORDED = Path(__file__).parent / "recorded/2026-11-26"
CLIENT = ("client", "", "residence_time")


def made(
    model: sj.Model, truth: Mapping[str, float], points: Sequence[Mapping[str, Any]], rng: np.random.Generator
) -> list[FitRun]:
    """A run of each point."""
    evaluator = ModelEvaluator(model, points)
    found = evaluator.at(np.array([[truth[path] for path in evaluator.paths]])).values
    own = found["parameters.own_s", "", "parameter"]
    runs = []
    for i, point in enumerate(points):
        slow, read = np.exp(SPREAD * rng.standard_normal(2))
        x = float(found["", "", "throughput"][i] / slow)
        own_s = min(float(own[i] * read), 0.9 * point["clients"] / x)
        means = {
            ("", "throughput"): (x, STATED),
            ("", "response_time"): (point["clients"] / x - own_s, STATED),
        }
        runs.append(FitRun(f"run-{i}", dict(point), means, {}, measured={CLIENT: own_s}))
    return runs


def held(model: sj.Model, truth: Mapping[str, float], points: Any, new: Any, seed: int) -> list[tuple[str, bool]]:
    """What was asked → whether its interval holds the truth."""
    rng = np.random.default_rng(seed)
    fitted = sj.fit(FitRuns(made(model, truth, points, rng)), model, LEVEL, seed)
    found = [("unknowns", e.low <= truth[path] <= e.high) for path, e in fitted.estimates.items()]
    for run in made(model, truth, new, rng):
        told = fitted.predict(run.factors, 0.9)
        for metric in ("throughput", "response_time"):
            low, high = told.interval(metric, cls="")
            value = run.means["", metric][0]
            found.append((metric, low is not None and low <= value and (high is None or value <= high)))
    return found


def main(seeds: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        runs = [run for run in recorded(RECORDED, place) if run.manifest["valid"]]
        fitted_runs = sj.fit.observe_runs([run for run in runs if kind_of(run) == "training"])
    drawn = [run.manifest["factors"] for run in runs if kind_of(run) == "blind"]
    for name in FILES:
        model = sj.Model.read(Path(kv.__file__).with_name(f"{name}.toml"))
        fitted = sj.fit(fitted_runs, model)
        truth = {path: e.value for path, e in fitted.estimates.items()}
        points = [dict(run.factors) for run in fitted_runs.of(model).runs]
        new = [dict(t) for t in {tuple(sorted(f.items())) for f in drawn if model.is_of(f)}]
        rows = [row for seed in range(seeds) for row in held(model, truth, points, new, seed)]
        for what in ("unknowns", "throughput", "response_time"):
            own = [good for asked, good in rows if asked == what]
            print(f"{name}, {what}: {sum(own)} of {len(own)} ({100 * np.mean(own):.1f} %)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
