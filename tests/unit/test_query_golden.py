"""Queries with known answers, asked of the model and of simulated runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from query_golden import NUMBERS, SETS, YES, model

import sojourn as sj
from sojourn.query.query import as_source
from sojourn.query.sources.analytic import AnalyticSource
from sojourn.query.sources.simulated import SimulatedSource
from sojourn.query.sources.source import Source
from sojourn.simulate.simulated_run import as_run

SOURCE = AnalyticSource(model())


@pytest.mark.parametrize(("text", "value"), NUMBERS.items())
def test_number(text: str, value: float) -> None:
    found = sj.query(text, SOURCE)
    # the values are given to ten or more digits, but one to nine significant ones
    assert found.value == pytest.approx(value, rel=1e-8 if value > 0.05 else 3e-9, abs=6e-11), found.why
    assert found.low == found.value == found.high


@pytest.mark.parametrize(("text", "states"), SETS.items())
def test_states(text: str, states: str) -> None:
    assert sj.query(text, SOURCE).why == states


@pytest.mark.parametrize("text", YES)
def test_yes(text: str) -> None:
    assert sj.query(text, SOURCE).verdict == "yes"


@pytest.fixture(scope="module", params=["simulated", "run folder"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Source:
    """About 30 000 requests, simulated in memory, or as a run folder."""
    if request.param == "simulated":
        return SimulatedSource(model(), seed=1, until_s=200.0)
    return as_source(as_run(model(), Path(tmp_path_factory.mktemp("runs")) / "m4", seed=2, until_s=200.0))


def test_recorded(recorded: Source) -> None:
    """The same queries: all are answered, and 95 % intervals contain the truth about as often as they say: at most 4 of 29 miss
    it, which has probability 0.014 if misses were independent."""
    missed = []
    for text, value in NUMBERS.items():
        found = sj.query(text, recorded)
        assert found.value == pytest.approx(value, rel=0.2), text
        low, high = (bound if known is None else known for known, bound in ((found.low, -1e9), (found.high, 1e9)))
        missed += [] if low <= value <= high else [text]
    assert len(missed) <= 4, missed


def test_recorded_sets(recorded: Source) -> None:
    for text in SETS:
        assert sj.query(text, recorded).why.startswith("{1, 2, 3, 4}")
    assert sj.query("p95 < 60ms", recorded).verdict == "no"
    assert sj.query("p95 < 120ms and not mean > 50ms", recorded).verdict == "yes"
