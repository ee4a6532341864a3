"""`[choose]`: the best combination of some factors by each model, written down before it is run, and its regret.

Regret: by how much the measured value of what was chosen is worse than the best that was measured (relative).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from sojourn.errors import StudyError
from sojourn.files.reading import read_json
from sojourn.files.writing import write_whole
from sojourn.runs.run_folder import RunFolder
from sojourn.study.file_schema import ChooseSection
from sojourn.study.fit_templates import FittedProtocol, RivalModels
from sojourn.study.study_folder import CHOICES as FILE
from sojourn.study.system import Point, System
from sojourn.units import USUAL_LEVEL

MOST, NAME = 10_000, "choose"
RESAMPLES = 2000


@dataclass(frozen=True)
class BestConfiguration:
    """The best by one model: its factors, what is predicted there; then what was measured there, the best that was measured
    and where, and the interval of the regret, where repetitions tell it."""

    model: str
    factors: dict[str, Any]
    predicted: float
    measured: float | None = None
    best: float | None = None
    best_factors: dict[str, Any] | None = None
    interval: tuple[float, float] | None = None

    @property
    def regret(self) -> float | None:
        """Relative, 0 where the choice is the best that was measured."""
        return None if not self.measured or not self.best else abs(self.best - self.measured) / self.best


def choose(
    folder: Path, part: ChooseSection, rivals: RivalModels, system: System, level: float
) -> list[BestConfiguration]:
    """The best by each rival, written into `folder`; read back from there where it was chosen before.

    Raises:
        StudyError: too many combinations, or no value by a model.
    """
    file = folder / FILE
    if file.exists():
        return [
            BestConfiguration(**one)
            for one in read_json(file, "run the study with another --out folder", error=StudyError)
        ]
    grid = [dict(zip(part.vary, values, strict=True)) for values in product(*part.vary.values())]
    if not 0 < len(grid) <= MOST:
        raise StudyError(f"{len(grid)} combinations", "[choose] vary", f"give 1 to {MOST}")
    points = [system.settled({**part.fixed, **one}, "[choose]") for one in grid]
    found = [_best(name, model, part, points, level) for name, model in rivals.fitted.items()]
    write_whole(file, json.dumps([asdict(one) for one in found], indent=1) + "\n")
    return found


def _best(
    name: str, model: FittedProtocol, part: ChooseSection, points: list[dict[str, Any]], level: float
) -> BestConfiguration:
    values = [(_value(model, factors, part.objective, level), factors) for factors in points]
    known = [(value, factors) for value, factors in values if value is not None]
    if not known:
        raise StudyError(f"{name} has no {part.objective} there", "[choose]", "set a load that the model can carry")
    most = part.objective == "throughput"
    top = (max if most else min)(value for value, _ in known)
    near = [(v, f) for v, f in known if abs(v - top) <= part.tolerance * top]
    value, factors = min(near, key=lambda one: sum(float(one[1][key]) for key in part.vary))
    return BestConfiguration(name, factors, value)


def _value(model: FittedProtocol, factors: Mapping[str, Any], metric: str, level: float) -> float | None:
    """By the model's own `value(factors, metric)`, which takes no intervals, where it has one."""
    if hasattr(model, "value"):
        told: float | None = model.value(factors, metric)
        return told
    rows = model.predict(factors, level).frame.iter_rows(named=True)
    return next((r["value"] for r in rows if (r["station"], r["class"], r["metric"]) == ("", "", metric)), None)


def chosen_points(choices: list[BestConfiguration], repetitions: int) -> list[Point]:
    """The runs of what was chosen, each combination once."""
    once = {repr(sorted(one.factors.items())): one.factors for one in choices}
    return [Point(NAME, factors, k) for factors in once.values() for k in range(1, repetitions + 1)]


def with_regret(
    choices: list[BestConfiguration], part: ChooseSection, runs: list[RunFolder]
) -> list[BestConfiguration]:
    """With what was measured: there, and the best of all runs whose other factors are the same."""
    known = _measured(choices, part, runs)
    if not known:
        return choices
    pick = max if part.objective == "throughput" else min
    key = pick(known, key=lambda one: fmean(known[one][0]))
    best, best_factors = known[key]
    values = {where: runs_there for where, (runs_there, _) in known.items()}
    found = []
    for one in choices:
        where = repr(sorted(one.factors.items()))
        told = fmean(values[where]) if where in values else None
        ends = _interval(where, values, part.objective == "throughput") if where in values else None
        found.append(BestConfiguration(one.model, one.factors, one.predicted, told, fmean(best), best_factors, ends))
    return found


def _interval(where: str, values: Mapping[str, list[float]], most: bool) -> tuple[float, float] | None:
    """Interval of the regret at `where`: a bootstrap over the repetitions of every combination, in each of which the best
    is looked for again, because it was chosen by looking. None where a combination was run once."""
    if min(map(len, values.values())) < 2:
        return None
    draw = np.random.default_rng(1)
    means = {key: draw.choice(own, (RESAMPLES, len(own))).mean(axis=1) for key, own in values.items()}
    best = (np.max if most else np.min)(list(means.values()), axis=0)
    low, high = np.quantile(np.abs(best - means[where]) / best, ((1 - USUAL_LEVEL) / 2, (1 + USUAL_LEVEL) / 2))
    return float(low), float(high)


def _measured(
    choices: list[BestConfiguration], part: ChooseSection, runs: list[RunFolder]
) -> dict[str, tuple[list[float], dict[str, Any]]]:
    others = {name: value for name, value in choices[0].factors.items() if name not in part.vary} if choices else {}
    values: dict[str, list[float]] = {}
    factors: dict[str, dict[str, Any]] = {}
    for run in runs:
        of = run.manifest["factors"]
        if run.manifest["valid"] and all(of.get(name) == value for name, value in others.items()):
            told = run.metrics().value(part.objective)
            if told is not None:
                key = repr(sorted(of.items()))
                values.setdefault(key, []).append(told)
                factors[key] = of
    return {key: (found, factors[key]) for key, found in values.items()}
