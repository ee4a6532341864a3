"""The model files beside this module as rivals, fitted and averaged as any other model files: `priority`, `shared`, `paper`, `mmm`.

Option of `[fit]`: `variants`, some of these, which are all by default. Runs without known work are no part of the fit: they tell what the
client costs on the cores that it shares (`known_demands.py`), which the models take as given.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sojourn.errors import FitError, InputError
from sojourn.fit import AVERAGED, FittedModel, fit_rivals, observe_runs
from sojourn.model import Model, Multicore, replaced
from sojourn.runs import RunFolder
from sojourn.study import FitTemplate, RivalModels
from sojourn_cases.web.known_demands import is_bare, overheads

HERE = Path(__file__).parent
NAMES = ("priority", "shared", "paper", "mmm")


def model_file(name: str) -> Model:
    """One of `NAMES`."""
    return Model.read(HERE / f"{name}.toml")


class WebModelsTemplate(FitTemplate):
    """Fits the models of the web case to runs of a web system."""

    def fit(self, runs: list[RunFolder], seed: int, options: Mapping[str, Any]) -> RivalModels:
        loaded = [r for r in runs if not is_bare(r.manifest["factors"]) and "rate_per_s" in r.manifest["factors"]]
        if not loaded:
            raise FitError("no run at a known rate", "[fit] sections", "name a section with rate_per_s or share")
        client_s = overheads(runs).client_s
        models = {name: _with_client(model_file(name), client_s) for name in _variants(options)}
        found = fit_rivals(observe_runs(loaded), models, seed=seed)
        if not found.best.alternatives:
            return RivalModels(found.fits, found.name, found.why)
        return RivalModels({AVERAGED: found.best, **found.fits}, AVERAGED, found.why)

    def read(self, path: Path) -> FittedModel:
        return FittedModel.read(path)


def _with_client(model: Model, client_s: float) -> Model:
    """With the work of the client on the cores that it shares, s a request."""
    hosts = [s.name for s in model.stations if isinstance(s, Multicore)]
    return replaced(model, {f"stations.{name}.client_s": client_s for name in hosts})


def _variants(options: Mapping[str, Any]) -> tuple[str, ...]:
    if unknown := set(options) - {"variants"}:
        raise InputError(sorted(unknown)[0], "[fit] options", "give variants")
    variants = tuple(options.get("variants", NAMES))
    if not variants or not set(variants) <= set(NAMES):
        raise InputError(variants, "[fit] options: variants", f"give some of {', '.join(NAMES)}")
    return variants


TEMPLATE = WebModelsTemplate()
