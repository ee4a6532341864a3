"""Quantiles where some requests failed, against numpy's of the same times with infinity for each failure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn.runs.measurement_window import responses
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_metrics import run_metrics
from sojourn.stats.quantiles import quantile


@pytest.mark.parametrize("failed", [0, 2, 9, 500])
@pytest.mark.parametrize("q", [0.0, 0.5, 0.66, 0.99, 0.999, 1.0])
def test_failures_are_later_than_all(failed: int, q: float) -> None:
    times = np.random.default_rng(1).exponential(1.0, 1000)
    with np.errstate(invalid="ignore"):
        told = np.quantile(np.r_[times, np.full(failed, np.inf)], q)
    found = quantile(pl.Series(times), failed, q)
    assert found == (pytest.approx(told, rel=1e-12) if np.isfinite(told) else None)


def test_of_nothing_there_is_none() -> None:
    assert quantile(pl.Series([], dtype=pl.Float64), 0, 0.5) is None
    assert quantile(pl.Series([], dtype=pl.Float64), 3, 0.5) is None
    assert quantile(pl.Series([2.0]), 0, 0.99) == 2.0


def timed_out(path: Path) -> tuple[RunFolder, pl.DataFrame]:
    """1000 requests in 10 s, nine of them (0.9 %) without an answer."""
    intended = np.arange(1000) / 100
    took = np.random.default_rng(2).exponential(0.01, 1000)
    failure = np.where(np.arange(1000) % 111 == 50, 4, 0).astype(np.uint8)
    columns = {"intended_s": intended, "sent_s": intended, "received_s": intended + took, "done_s": intended + took}
    frame = pl.DataFrame({**columns, "failure": failure, "class": np.zeros(1000, np.uint16)})
    folder = RunFolder.create(path / "run", {"load": {"lanes": [{"arrivals": {}}]}, "factors": {}})
    frame.write_parquet(folder.path / "requests.parquet")
    return folder, frame


def test_with_time_outs_the_highest_quantile_has_no_value_and_says_so(tmp_path: Path) -> None:
    folder, frame = timed_out(tmp_path)
    rows = run_metrics(folder, responses(frame), None, (0.0, 10.0)).frame
    by = {row["q"]: row for row in rows.filter(metric="response_time_quantile", station="").to_dicts()}
    assert (by[0.999]["value"], by[0.999]["status"]) == (None, "failures")
    assert (by[0.99]["status"], by[0.99]["value"]) == ("ok", pytest.approx(float(np.quantile(_times(frame), 0.99))))


def _times(frame: pl.DataFrame) -> np.ndarray:
    took = (frame["done_s"] - frame["intended_s"]).to_numpy()
    return np.where(frame["failure"].to_numpy() > 0, 1e9, took)
