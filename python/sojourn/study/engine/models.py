"""What a study asks of `fit`: all calls in one place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sojourn.errors import StudyError
from sojourn.fit.candidates import choose_model
from sojourn.fit.model import FittedModel, fit_model
from sojourn.fit.runs import observe_runs
from sojourn.measure.folder import RunFolder
from sojourn.model import Model
from sojourn.study.engine.plan import AUTO, Plan
from sojourn.system import Point

Row = dict[str, Any]
USUAL = {"rate_per_s", "users", "think_s"}  # of the only open or closed class, also where the model does not say so
KEPT = ("station", "class", "metric", "value", "low", "high", "status", "inside")


def fitted_to(folders: list[RunFolder], plan: Plan) -> tuple[FittedModel, str]:
    """The model of `[fit]` with its unknowns found, and why it is this one where several were tried."""
    part = plan.study.fit
    assert part is not None
    runs = observe_runs(folders)
    if part.model != AUTO:
        return fit_model(runs, Model.read(plan.folder / part.model), seed=part.seed), ""
    chosen = choose_model(runs, seed=part.seed)
    return chosen.best, chosen.why


def predicted_rows(fitted: FittedModel, point: Point, level: float) -> list[Row]:
    """What is predicted for a new run of a point: by station, class and metric a value, low and high, and a status.

    Raises:
        StudyError: a factor has a value that no run had, and changes nothing in the model.
    """
    known = set(fitted.model.factors) | USUAL
    for name, value in point.factors.items():
        seen = {repr(one.get(name)) for one in fitted.configurations}
        if name not in known and repr(value) not in seen and "." not in name:
            remedy = f'say what it changes under [factors] of the model file: {name} = "stations.…"'
            raise StudyError(f"{name} = {value!r} changes nothing in the model", f"[[predict]] {point.section}", remedy)
    frame = fitted.predict(dict(point.factors), level).frame
    return [{key: row[key] for key in KEPT} for row in frame.iter_rows(named=True)]


def read_fitted(path: Path) -> FittedModel:
    return FittedModel.read(path)
