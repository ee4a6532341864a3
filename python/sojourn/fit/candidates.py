"""`choose_model`: models that a service could be, fitted one by one, ranked by configurations that were left out.

Candidates are one queue with 1, 2, 4 … servers, with and without a delay beside it, with exponential service and with
service of a variance that is found too. The simplest is taken whose squared errors on configurations left out are within
one standard error of the least (L. Breiman et al., Classification and Regression Trees (1984), 3.4.3); what is as good is
said, and where none is good, that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError, InputError, SojournError
from sojourn.fit.evaluate import Evaluator
from sojourn.fit.model import FittedModel, fit_model
from sojourn.fit.runs import Runs
from sojourn.model import Closed, Delay, Lognormal, Model, Open, Queue
from sojourn.model.unknown import Unknown
from sojourn.units import percent

CPU = ("cpu", "processes", "process", "cgroup", "cores")
FAR = 1.3  # rates of saturation whose ratio is more are far apart
POOR = 0.15  # median error of response times left out, beyond which no model is called good
DRAWS_TO_RANK = 20


@dataclass(frozen=True)
class ChosenModel:
    """The model that was taken, its name, all that were fitted (name → model), why, and whether it is any good."""

    best: FittedModel
    name: str
    fits: Mapping[str, FittedModel]
    why: str
    good: bool


def choose_model(runs: Runs, level: float = 0.95, seed: int = 1) -> ChosenModel:
    """Fits all candidates and takes the simplest that predicts as well as the best.

    Raises FitError where none can be fitted: it says why the first cannot.
    """
    fits: dict[str, FittedModel] = {}
    refused: list[str] = []
    models = candidates(runs)
    for name, model in models.items():
        try:
            fits[name] = fit_model(runs, model, level, seed, draws=DRAWS_TO_RANK)
        except SojournError as error:
            refused.append(f"{name}: {error.value}")
    if not fits:
        raise FitError("; ".join(refused[:1]), "model auto", "give a model file, or measure at more levels")
    scores = {name: _squares(fitted) for name, fitted in fits.items()}
    least = min(scores, key=lambda name: float(scores[name].mean()))
    limit = scores[least].mean() + scores[least].std(ddof=1) / np.sqrt(len(scores[least]))
    alike = [name for name in fits if scores[name].mean() <= limit]
    chosen = alike[0]  # candidates come simplest first
    best = fit_model(runs, models[chosen], level, seed)
    good = float(np.median(np.sqrt(scores[chosen]))) <= POOR
    return ChosenModel(best, chosen, fits, "\n".join([_words(scores, chosen, alike, good), *_apart(fits, alike)]), good)


def _apart(fits: Mapping[str, FittedModel], alike: Sequence[str]) -> list[str]:
    """Where models that predict as well saturate at rates that are far apart."""
    found = [
        float(Evaluator(fits[n].template, [fits[n].configurations[0]]).at(_best(fits[n])).saturation[0]) for n in alike
    ]
    ends = [rate for rate in found if np.isfinite(rate)]
    if not ends or max(ends) < FAR * min(ends):
        return []
    return [
        f"  those that predict as well saturate between {min(ends):.3g}/s and {max(ends):.3g}/s: do not extrapolate; measure at "
        "higher rates, or give a model of your own"
    ]


def _best(fitted: FittedModel) -> NDArray[np.float64]:
    return np.array([[fitted.estimates[path].value for path in fitted.paths]])


def candidates(runs: Runs) -> dict[str, Model]:
    """Name → model with unknowns, the simplest first. Raises InputError for runs whose load is not known."""
    first = runs.runs[0]
    users = "users" in first.factors
    if not users and "rate_per_s" not in first.factors:
        raise InputError("neither rate_per_s nor users among the factors", "runs", "give runs of a load that is known")
    watched = next((r for start in CPU for r in runs.resources if r == start or r.startswith(f"{start} ")), None)
    counts = sorted({1, 2, 4, *([first.cores] if first.cores else [])})
    # of a closed queue of general service there are approximations only, whose errors would be taken for its own
    ties = [watched, None] if watched else [None]  # CPU time is not the time of service where workers wait
    kinds = [(general, delayed) for general in ((False,) if users else (False, True)) for delayed in (False, True)]
    return {
        f"{m} server{'s' if m > 1 else ''}{', any variance of service' if general else ''}{', a delay' if delayed else ''}"
        f"{f', busy as {tie} was' if tie else ''}": _candidate(runs, m, general, delayed, tie)
        for tie in ties for general, delayed in kinds for m in counts
    }  # fmt: skip


def _candidate(runs: Runs, servers: int, general: bool, delayed: bool, watched: str | None) -> Model:
    factors = runs.runs[0].factors
    closed = "users" in factors
    customer = Closed("user", 1, float(factors.get("think_s", 0.0))) if closed else Open("user", 1.0)
    time = Lognormal(Unknown(), Unknown(1.0, 0.01, 30.0)) if general else Unknown()
    demands = {"service": {"user": time}} | ({"delay": {"user": Unknown(None, 0.0)}} if delayed else {})
    stations: list[Queue | Delay] = [Queue("service", servers), *([Delay("delay")] if delayed else [])]
    return Model(stations, [customer], demands_s=demands, observed={"service": watched} if watched else {})


def _squares(fitted: FittedModel) -> NDArray[np.float64]:
    """Squared logarithms of predicted by measured, a configuration each: of response times, else of throughputs."""
    rows = [row.get("response_time", row.get("throughput")) for row in fitted.held_out]
    errors = np.array([float(str(value)) for value in rows if value is not None])
    return np.asarray(np.log1p(np.maximum(errors, -0.99)) ** 2)


def _words(scores: Mapping[str, NDArray[np.float64]], chosen: str, alike: Sequence[str], good: bool) -> str:
    ranked = sorted(scores, key=lambda name: float(scores[name].mean()))
    lines = [f"  {name}: {percent(float(np.sqrt(scores[name].mean())))} off where left out" for name in ranked[:4]]
    tie = f"; {len(alike) - 1} more predict as well, and these runs cannot tell them apart" if len(alike) > 1 else ""
    head = f"{chosen}: taken of {len(scores)} models{tie}"
    if not good:
        head = f"none of {len(scores)} models fits, do not extrapolate; the nearest is {chosen}"
    return "\n".join([head, *lines])
