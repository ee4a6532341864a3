"""Waits and services by a service's own account: in the turn of a thread, and behind the web shop's waiting page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn.query import query
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.service_phases import service_phases
from sojourn.simulate.simulated_folder import write_run
from sojourn.table import Metrics

PAGES = ["item", "wait"]
MANIFEST = {"records": {"app": {"pages": PAGES, "weight": 1}}}


def app(came: np.ndarray, turn: np.ndarray, end: np.ndarray, drawn: np.ndarray, page: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"received_s": came, "start_s": turn, "end_s": end, "drawn_s": drawn, "page": np.full(len(came), page)}
    )


def test_by_hand() -> None:
    """A turn of 1 ms at 2 s; at the waiting page the turn only hands on, and 3 ms of service end with the answer at 2.010 s."""
    one = app(np.array([1.999]), np.array([2.0]), np.array([2.010]), np.array([0.003]), 0)
    assert service_phases(one, MANIFEST).row(0) == (1.999, 2.0, 2.010)
    two = service_phases(one.with_columns(page=pl.lit(1)), MANIFEST).row(0)
    assert two == pytest.approx((1.999, 2.007, 2.010), abs=1e-12)
    late = one.with_columns(page=pl.lit(1), drawn_s=pl.lit(0.5))  # longer than it was there, by the clocks' difference
    assert service_phases(late, MANIFEST).row(0)[1] == 2.0
    assert service_phases(one.drop("page"), {}).row(0) == (1.999, 2.0, 2.010)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """4000 requests 10 ms apart to one server behind the waiting page: each waits 4 ms, is served 3 ms, and the thread's turn is at once;
    of the first ten nobody knows when they came."""
    sent = np.arange(4000) * 0.01
    came = np.where(np.arange(4000) < 10, np.nan, sent + 0.0001)
    rows = app(came, sent + 0.0002, sent + 0.0071, np.full(4000, 0.003), 1)
    requests = {"intended_s": sent, "done_s": sent + 0.0072}
    return write_run(tmp_path / "run", manifest={"name": "waits", **MANIFEST}, requests=requests, app=rows)


def test_waits_are_those_before_the_backend(run: RunFolder) -> None:
    assert query("mean(wait)", run).value == pytest.approx(0.004, rel=1e-6)
    assert query("p95(waiting_time)", run).value == pytest.approx(0.004, rel=1e-6)
    assert query("mean(service_time)", run).value == pytest.approx(0.003, rel=1e-6)


def test_the_table_says_the_same(run: RunFolder) -> None:
    metrics = Metrics.read(run.path / "metrics.parquet")
    assert metrics.value("waiting_time", "app") == pytest.approx(0.004, rel=1e-6)
    assert metrics.value("service_time", "app") == pytest.approx(0.003, rel=1e-6)
