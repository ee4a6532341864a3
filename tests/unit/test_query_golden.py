"""Queries with known answers, asked of the model and of simulated runs."""

from __future__ import annotations

import pytest
from query_golden import NUMBERS, SETS, YES, model

import sojourn as sj
from sojourn.query.sources.analytic import AnalyticSource

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
