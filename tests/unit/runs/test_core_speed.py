"""How fast cores were: from the samples of the recorder, and how times grow with it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sojourn.fit.speed_adjustment import ALIKE, CoreSpeed, exponent, usual
from sojourn.runs.core_speed import core_work_s


def test_the_mean_of_the_pieces_in_the_window() -> None:
    """Core 1: between 10.0 and 11.0 s 50 pieces more took 5 ms more: 0.1 ms each. Core 0 did none there."""
    rows = [
        (9.0, "1", "pieces", 10.0), (10.0, "1", "pieces", 50.0), (11.0, "1", "pieces", 100.0), (12.0, "1", "pieces", 900.0),
        (9.0, "1", "cpu_s", 0.5), (10.0, "1", "cpu_s", 1.0), (11.0, "1", "cpu_s", 1.005), (12.0, "1", "cpu_s", 7.0),
        (10.0, "0", "pieces", 4.0), (11.0, "0", "pieces", 4.0), (10.0, "0", "cpu_s", 0.1), (11.0, "0", "cpu_s", 0.1),
    ]  # fmt: skip
    host = pl.DataFrame(rows, schema=["t_s", "key", "item", "value"], orient="row").with_columns(source=pl.lit("speed"))
    assert core_work_s(host, 10.0, 11.0) == pytest.approx({1: 1e-4})


@pytest.mark.parametrize("truth", [0.0, 1.0, 1.7])
def test_the_exponent_is_found_beside_outliers(truth: float) -> None:
    random = np.random.default_rng(1)
    logs = random.choice([0.0, 0.2, 0.3], 200)
    off = truth * logs + random.normal(0, 0.03, 200) + np.repeat([0.5, -0.5], 100)
    off[::20] += 1.0
    assert exponent(logs, off, np.repeat([0, 1], 100)) == pytest.approx(truth, abs=0.1)


def test_cores_that_were_always_as_fast_tell_nothing() -> None:
    assert exponent(np.zeros(50), np.random.default_rng(1).normal(0, 0.1, 50)) == pytest.approx(ALIKE)
    assert exponent(np.zeros(0), np.zeros(0)) == ALIKE
    assert usual(np.array([np.nan])) is None


def test_slower_by_hand() -> None:
    speed = CoreSpeed(1e-4, 2.0)
    assert speed.slower(np.array([1e-4, 2e-4, np.nan])) == pytest.approx([1.0, 4.0, 1.0])
    assert speed.logs(np.array([2e-4])) == pytest.approx([np.log(2)])
