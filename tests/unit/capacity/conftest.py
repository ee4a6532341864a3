"""Searches of several tests begin with the same runs of the same service: these are fitted once."""

from __future__ import annotations

import pickle

import pytest

from sojourn.capacity import search_state
from sojourn.fit.chosen_model import ChosenModel
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.model_selection import choose_model

FOUND: dict[bytes, ChosenModel] = {}


def chosen_once(runs: FitRuns) -> ChosenModel:
    """What the runs say alone decides what is chosen; what is raised is raised again."""
    key = pickle.dumps(runs)
    if key not in FOUND:
        FOUND[key] = choose_model(runs)
    return FOUND[key]


@pytest.fixture(autouse=True)
def fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_state, "choose_model", chosen_once)
