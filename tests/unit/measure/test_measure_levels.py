"""`sj.measure` on bad input: one error with value, place and remedy, before anything is sent or written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sojourn as sj
from sojourn.errors import InputError

NOBODY = "http://127.0.0.1:9/"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, r"measure: no load is given; give either --rate or --users"),
        ({"rates_per_s": [1.0], "users": [1]}, r"measure: rates \(1\) and users \(1\); give either --rate or --users"),
        ({"users": [1.5]}, r"--users: '1.5'; give whole numbers"),
        ({"users": [float("inf")]}, r"--users: 'inf'; give whole numbers"),
        ({"users": [float("nan")]}, r"--users: 'nan'; give whole numbers"),
        ({"rates_per_s": [float("nan")]}, r"--rate: nan; give requests per second above 0"),
        ({"rates_per_s": [1.0], "service_runs_on_cores": [9999]}, r"--service-runs-on-cores: 9999; give some of 0"),
        (
            {"rates_per_s": [1.0], "interrupts_arrive_on_cores": [-1]},
            r"--interrupts-arrive-on-cores: -1; give some of 0",
        ),
        ({"rates_per_s": [1.0], "interval_s": 60.0}, r"interval_s: "),
    ],
)
def test_what_is_no_level(tmp_path: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        sj.measure(NOBODY, tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()
