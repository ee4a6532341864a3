"""Figures of the message study: shares of phases by hand, and p(n) of the Telesto report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sojourn.report import Figure, Table, Text
from sojourn_cases.messages.message_figures import PHASES, database_sections, number_figure, share_figures
from sojourn_cases.messages.message_service_metrics import frame

DATA = Path(__file__).parents[2] / "published/data"
# of 10 ms: 2 outside, 0.5 dispatch, 1 queue, 0.5 parse, 2 wait, 3.5 database, 0.5 respond
TIMES = {
    "response_s": 10e-3, "mw_response_s": 8e-3, "dispatch_s": 0.5e-3, "queue_s": 1e-3, "parse_s": 0.5e-3, "wait_s": 2e-3,
    "database_s": 3.5e-3, "respond_s": 0.5e-3,
}  # fmt: skip
SHARES = (20.0, 5.0, 10.0, 5.0, 20.0, 35.0, 5.0)


def row(**more: Any) -> dict[str, Any]:
    known = {
        "workers": 8,
        "connections": 4,
        "clients": 20,
        "retry_s": 0.1,
        "middlewares": 1,
        "throughput_per_s": 1000.0,
    }
    return {**dict.fromkeys(frame([]).columns), **known, **TIMES, **more}


def table(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=frame([]).schema)


def test_the_shares_of_one_configuration_are_bars_that_add_up() -> None:
    (figure,) = share_figures("reference", table(row()))
    assert figure.x_names == tuple(PHASES)
    (bars,) = figure.series
    assert bars.style == "bars" and bars.y == pytest.approx(SHARES) and sum(SHARES) == 100


def test_shares_along_a_factor_have_a_figure_for_each_of_the_others() -> None:
    """With 40 clients 10 ms more in the queue: 11 of 20 ms; repeated, 15.5 of 24.5."""
    more = {"clients": 40, "response_s": 20e-3, "mw_response_s": 18e-3, "queue_s": 11e-3}
    most = {"clients": 40, "response_s": 24.5e-3, "mw_response_s": 22.5e-3, "queue_s": 15.5e-3}
    rows = table(row(), row(**more), row(**most), row(workers=16))
    few, many = share_figures("clients", rows, ("clients",))
    assert (few.title, many.title) == (
        "clients, workers 8: share of each phase",
        "clients, workers 16: share of each phase",
    )
    queue = few.series[list(PHASES).index("queue")]
    assert queue.x == (20.0, 40.0)
    assert queue.y == pytest.approx((10.0, (55.0 + 100 * 15.5 / 24.5) / 2))
    assert queue.low is not None and queue.low[1] == pytest.approx(55.0) and queue.low[0] is None
    assert [one.y[0] for one in many.series] == pytest.approx(list(SHARES))
    together = list(share_figures("clients", rows, ("clients", "workers")))
    assert [one.title for one in together] == ["clients: share of each phase"]


def test_runs_without_the_times_of_the_service_have_no_figure() -> None:
    assert list(share_figures("reference", table(row(wait_s=None)))) == []
    assert list(share_figures("moderate", table(row(), row(clients=40)))) == [], "several configurations, and no factor"
    assert database_sections(table(row(wait_s=None))) == database_sections(table()) == ()


def test_p_n_of_the_telesto_report() -> None:
    """Its section 2.3: 2498/s, 124.1/s a connection, 25 connections."""
    expected = pl.read_csv(DATA / "telesto_mm25_pn.csv")
    most = int(expected["n"].max())  # type: ignore[arg-type]
    figure = number_figure(2498.0, 1 / 124.1, 25, most, present=20.0)
    (line,) = figure.series
    assert line.x == tuple(expected["n"].to_list())
    assert line.y == pytest.approx(expected["p_n"].to_list(), rel=1e-9)
    assert figure.vlines == ((pytest.approx(21.0393429308), "mean of the model"), (20.0, "measured mean"))


def test_the_measured_database_as_mmm() -> None:
    """One connection of 0.5 ms at 1000/s is M/M/1 at half its load: 1 request, 0.5 ms of waiting, 1 ms; measured 0.1 ms of waiting."""
    known = {"connections": 1, "database_s": 0.5e-3, "wait_s": 0.1e-3, "in_use": 0.52}
    (section,) = database_sections(table(row(**known)))
    told, figure = section.blocks
    assert isinstance(told, Table) and isinstance(figure, Figure)
    values = {str(name): (model, measured) for name, model, measured in told.rows}
    assert values["connections in use"] == pytest.approx((0.5, 0.52))
    assert values["requests that wait or are in the database"] == pytest.approx((1.0, 0.6))
    assert values["time until a connection is free, ms"] == pytest.approx((0.5, 0.1))
    assert values["time until the database has answered, ms"] == pytest.approx((1.0, 0.6))
    assert figure.series[0].y[:3] == pytest.approx((0.5, 0.25, 0.125))


def test_a_saturated_database_has_no_p_n() -> None:
    (section,) = database_sections(table(row(connections=3, throughput_per_s=1000.0, database_s=3.5e-3)))
    (text,) = section.blocks
    assert isinstance(text, Text) and "M/M/3 is saturated" in text.markdown
