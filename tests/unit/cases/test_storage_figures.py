"""Figures of storage runs, by hand: CPU before and after the background, and how evenly I/Os spread over cores."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

from sojourn_cases.storage.storage_figures import CORES, balance_figure, cpu_figures, levels_figure

NORMALS = Path(__file__).parents[2] / "published/data/expected_max_of_normals.csv"
# 0.2 and 0.3 cores at rest; 50 and 100 us an I/O on top of their mean; what was done counts, not what was asked
RUNS = pl.DataFrame(
    [
        ("local", 0, 0.20, 0.0, "ok"), ("local", 0, 0.30, 0.0, "ok"), ("local", 1000, 0.295, 900.0, "ok"),
        ("local", 2000, 0.35, 2000.0, "ok"), ("nbd", 1000, 0.35, 1000.0, "ok"), ("nbd", 2000, 0.45, 2000.0, "ok"),
        ("nbd", 2000, 1.90, 1200.0, "saturated"),
    ],
    schema=["path", "iops", "cpu_cores", "achieved_iops", "verdict"], orient="row",
)  # fmt: skip


def test_cpu_by_iops_as_measured_and_without_the_background() -> None:
    whole, net = cpu_figures(RUNS)
    assert [one.name for one in whole.series] == ["local", "nbd", "background"]
    local, nbd, rest = whole.series
    assert (local.x, local.y) == (pytest.approx((900.0, 2000.0)), pytest.approx((0.295, 0.35)))
    assert len(nbd.x) == 2, "the saturated run is left out"
    assert (rest.x, rest.y) == ((0.0, 0.0), pytest.approx((0.2, 0.3)))
    assert "0.25 cores, the mean of 2 runs" in whole.note
    assert net.series[0].y == pytest.approx((0.045, 0.1))
    lines = {one.name: one for one in net.series if one.style == "line"}
    assert list(lines) == ["local, 50.0 us an I/O", "nbd, 100.0 us an I/O"]
    assert lines["nbd, 100.0 us an I/O"].y == pytest.approx((0.0, 0.2))
    assert lines["nbd, 100.0 us an I/O"].group == "nbd"


def test_runs_without_a_background_have_none() -> None:
    whole, _ = cpu_figures(RUNS.filter(pl.col("iops") > 0))
    assert [one.name for one in whole.series] == ["local", "nbd"]


def test_the_busiest_of_m_cores() -> None:
    """e_M sqrt(M/N) over the mean where times are exponential, sqrt 2 times that at random; e_M and its bound as published."""
    figure = balance_figure(4000)
    turn, random, bound = figure.series
    seen = 0
    for row in pl.read_csv(NORMALS).to_dicts():
        if row["n"] in CORES:
            at, scale = CORES.index(row["n"]), 100 * math.sqrt(row["n"] / 4000)
            assert turn.y[at] == pytest.approx(scale * row["exact_E_max"], rel=1e-9)
            assert random.y[at] == pytest.approx(scale * math.sqrt(2) * row["exact_E_max"], rel=1e-9)
            assert bound.y[at] == pytest.approx(scale * row["bound_sqrt_2_ln_n"], rel=1e-9)
            seen += 1
    assert seen == 7
    assert turn.y[0] == random.y[0] == bound.y[0] == 0.0, "one core has all"


def test_balance_in_levels_lies_between_exchanges_and_frames() -> None:
    """Exchanges: e_M sqrt(M/N) 1586/20270, e_M as published; frames: 79.7 times less (errata, section 5); one link: as frames."""
    whole, both, frames = levels_figure(4000).series
    published = dict(pl.read_csv(NORMALS).select("n", "exact_E_max").iter_rows())
    for at, lanes in enumerate(whole.x):
        if lanes in published:
            expected = 100 * published[lanes] * math.sqrt(lanes / 4000) * 1586 / 20270
            assert whole.y[at] == pytest.approx(expected, rel=1e-6)
            assert frames.y[at] == pytest.approx(expected / 79.7, rel=1e-3)
        assert frames.y[at] <= both.y[at] * (1 + 1e-3) and both.y[at] <= whole.y[at]
    assert both.y[0] == pytest.approx(frames.y[0], rel=1e-3)
    assert both.y[-1] > 0.3 * whole.y[-1], "16 links"
