"""How fast cores were: from the samples of the recorder."""

from __future__ import annotations

import polars as pl
import pytest

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
