"""The analysis `oscillation`: configurations told apart by one factor or by several."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sojourn.errors import StudyError
from sojourn.study import oscillating_runs

INTERVAL_S = 0.1
PLAN: Any = SimpleNamespace(system=SimpleNamespace(factors={"pinned": None, "pause_s": None}, known=lambda factors: {}))


def shares(run: Any, between: Any) -> tuple[np.ndarray, float]:
    """Of 15 s: the cores and the disk full in turn, at random moments, where there is a pause; the cores always full else."""
    turns = np.random.default_rng(run.manifest["seed"]).integers(0, 2, 75).repeat(2).astype(float)
    noise = np.random.default_rng(run.manifest["seed"] + 1).uniform(0.0, 0.05, (2, turns.size))
    pair = np.array([turns, 1 - turns]) if run.manifest["factors"]["pause_s"] else np.array([turns * 0 + 1, turns * 0])
    return abs(pair - noise), INTERVAL_S


def judged(factor: str | list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    monkeypatch.setattr(oscillating_runs, "busy_series", shares)
    runs = [
        SimpleNamespace(manifest={"valid": True, "seed": 10 * k, "factors": {"pinned": pinned, "pause_s": pause_s}})
        for k, (pinned, pause_s) in enumerate([(False, 0.0), (False, 0.5), (True, 0.0), (True, 0.5)])
    ]
    found: Any = SimpleNamespace(of=lambda section: runs)
    options = {"section": "all", "factor": factor, "between": ["cpu", "disk"]}
    return oscillating_runs.oscillation_analysis(found, PLAN, options).lines


def test_runs_are_told_apart_by_one_factor_or_by_the_values_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    one = judged("pause_s", monkeypatch)
    assert [line.partition(" (")[0] for line in one] == [
        "0.0: the bottleneck oscillates in 0 of 2 runs", "0.5: the bottleneck oscillates in 2 of 2 runs",
    ]  # fmt: skip
    both = judged(["pinned", "pause_s"], monkeypatch)
    assert [line.partition(" (")[0] for line in both][1:3] == [
        "pinned = False, pause_s = 0.5: the bottleneck oscillates in 1 of 1 runs",
        "pinned = True, pause_s = 0.0: the bottleneck oscillates in 0 of 1 runs",
    ]


def test_a_factor_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StudyError, match="pausse_s"):
        judged(["pinned", "pausse_s"], monkeypatch)
