"""What a diagnosis takes from intervals of run folders, and from a model that was fitted."""

from __future__ import annotations

from pathlib import Path

import pytest

import sojourn as sj
from sojourn.diagnosis import LoadLevel, WatchedResource, diagnose_levels
from sojourn.diagnosis.load_levels import read_level
from sojourn.simulate.simulated_run import as_run
from sojourn.table import Metrics

ONE = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 40
[demands_s]
cpu = { user = 0.01 }
"""


def levels(response_s: float, busy: float, rates: tuple[float, ...]) -> list[LoadLevel]:
    """Of an open loop; the cores are as busy at the last, and in proportion before."""
    return [
        LoadLevel(r, r, response_s, sent_s=response_s, throughput_error=0.01, response_error=0.01,
              resources=(WatchedResource("cores 0-1", "cores", busy * r / rates[-1]),))
        for r in rates
    ]  # fmt: skip


def test_the_error_of_a_level_is_that_of_its_batches(tmp_path: Path) -> None:
    """20 batches, so that half an interval at 95 % is 2.093 standard errors: Student's t with 19 degrees of freedom (tables)."""
    folder = as_run(sj.Model.parse(ONE), tmp_path / "run", until_s=60, seed=1)
    level, metrics = read_level(folder), Metrics.read(folder.path / "metrics.parquet")
    low, high = metrics.interval("response_time")
    assert level is not None and level.response_error is not None and low is not None and high is not None
    assert 2.093 * level.response_error * level.response_s == pytest.approx((high - low) / 2, rel=1e-3)


def test_where_a_fitted_model_is_full_counts_for_more_than_the_law() -> None:
    """A lock that holds longer the more wait for it, full at 532/s: from what it takes at 40/s the law said 1 958/s."""
    few = levels(0.011, 0.02, (10, 20, 30, 40))
    found = diagnose_levels(few, 532.0)
    assert found.full_per_s == (532.0, None, None) and "full at 532 /s" in found.next and "up to 505 /s" in found.next
    assert "fitted" not in diagnose_levels(few).next and diagnose_levels(few, 39.0) == diagnose_levels(few)
    full = levels(0.02, 0.95, (10, 25, 40, 55, 70, 95))
    assert (
        "would be full at 100 /s; by the fitted model the service is full at 107 /s"
        in diagnose_levels(full, 107.0).sentence
    )
    assert "fitted" not in diagnose_levels(full, 101.0).sentence, "they say the same"
