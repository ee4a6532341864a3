"""From arrays of a method to rows of Metrics: laws between rows, statuses, bounds, losses, further rows."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import sojourn as sj
from sojourn.errors import NoSuchRow
from sojourn.model import Network
from sojourn.solve.metric_rows import metrics
from sojourn.solve.solution import Solution
from sojourn.table import Metrics, column_types

MODEL = sj.Model(
    [sj.Queue("cpu"), sj.Delay("net")],
    [sj.Closed("user", 3, 1.0), sj.Open("api", 0.5)],
    demands_s={"cpu": {"user": 0.2, "api": 0.4}, "net": {"user": 0.5}},
    visits={"cpu": {"user": 2}},
)
N = MODEL.network
X = np.array([[1.0, 0.5]])
Q = np.array([[[0.6, 0.4], [0.5, 0.0]]])
U = np.array([[[0.2, 0.2], [np.nan, np.nan]]])


def told(solution: Solution, networks: list[Network] | None = None) -> Metrics:
    return metrics(networks or [N], solution, "test")


def test_rows_follow_from_throughput_and_numbers_by_the_laws() -> None:
    r = told(Solution(X, Q, U))
    assert r.value("throughput", "cpu", "user") == 2.0  # forced flow: two visits a pass
    assert r.value("residence_time", "cpu", "user") == pytest.approx(0.6)  # Little
    assert r.value("response_time", "cpu", "user") == pytest.approx(0.3)
    assert r.value("waiting_time", "cpu", "user") == pytest.approx(0.2)  # one visit takes 0.1 s
    assert r.value("response_time", cls="user") == pytest.approx(1.1)
    assert r.value("utilisation", "cpu") == pytest.approx(0.4)
    assert r.value("response_time", "cpu") == pytest.approx((2 * 0.3 + 0.5 * 0.8) / 2.5)  # over visits
    assert r.value("response_time") == pytest.approx(1.5 / 1.5)  # all numbers over all passes
    assert r.value("arrival_rate", cls="api") == r.value("arrival_rate") == 0.5
    with pytest.raises(NoSuchRow):
        r.value("utilisation", "net")  # a delay has none
    with pytest.raises(NoSuchRow):
        r.value("throughput", "net", "api")  # never comes there


def test_columns_are_those_of_metrics() -> None:
    frame = told(Solution(X, Q, U)).frame
    assert dict(frame.schema) == column_types()
    assert Metrics(frame).frame.equals(frame)  # nothing left to check


def test_what_is_missing_says_why() -> None:
    none = np.full_like(Q, np.nan)
    r = told(Solution(X, none, U, ["unstable"]))
    assert r.status == "unstable" and "unstable: " in r.message
    row = r.frame.filter(
        (pl.col("station") == "cpu") & (pl.col("metric") == "waiting_time") & (pl.col("class") == "user")
    )
    assert row.select("value", "status").row(0) == (None, "unstable")
    assert r.frame.filter(pl.col("value").is_null() & (pl.col("status") == "ok")).height == 0
    idle = told(Solution(np.array([[0.0, 0.5]]), Q * [0, 1], U * [0, 1]))
    assert math.isnan(idle.value("response_time", cls="user"))
    assert idle.where(metric="response_time", station="", **{"class": "user"}).frame["status"].item() == "idle"


def test_every_number_of_an_approximation_says_so_but_what_the_model_gave() -> None:
    r = told(Solution(X, Q, U, ["approximate"]))
    by = {key: set(part["status"]) for (key,), part in r.frame.group_by("metric")}
    assert by.pop("service_time") == by.pop("arrival_rate") == {"ok"}
    assert all(names == {"approximate"} for names in by.values())


def test_bounds() -> None:
    nan = np.full_like(X, np.nan)
    low, high = {"throughput": X, "response_s": X}, {"throughput": 2 * X, "response_s": 3 * X}
    r = told(Solution(nan, np.full_like(Q, np.nan), U, ["bounds"], low=low, high=high))
    assert r.interval("throughput", cls="user") == (1.0, 2.0)
    assert r.interval("response_time", cls="api") == (0.5, 1.5)
    assert math.isnan(r.value("throughput", cls="user"))
    assert r.where(metric="throughput", station="", **{"class": "user"}).frame["status"].item() == "bounds"


def test_losses() -> None:
    loss = np.array([[[np.nan, 0.2], [np.nan, np.nan]]])
    r = told(Solution(np.array([[1.0, 0.4]]), Q, U, loss=loss))
    assert r.value("loss_probability", "cpu", "api") == 0.2
    assert r.value("loss_probability", cls="api") == pytest.approx(0.2)  # of 0.5/s come 0.4/s through
    tiny = told(Solution(X, Q, U, loss=loss * 1e-30))
    assert tiny.value("loss_probability", cls="api") == pytest.approx(2e-31)


def test_further_rows_of_points() -> None:
    more = [
        {"station": "cpu", "metric": "queue_length_probability", "n": 0, "value": 0.6, "point": 1},
        {
            "station": "cpu",
            "metric": "response_time_quantile",
            "q": 0.5,
            "class": "user",
            "value": math.inf,
            "point": 0,
        },
    ]
    two = Solution(np.repeat(X, 2, 0), np.repeat(Q, 2, 0), np.repeat(U, 2, 0), ["unstable", "ok"], more=more)
    r = metrics([N, N], two, "test", {"rate": [1.0, 2.0]})
    assert r.value("queue_length_probability", "cpu", n=0, rate=2.0) == 0.6
    row = r.frame.filter(pl.col("metric") == "response_time_quantile")
    assert row.select("value", "status", "rate", "unit").row(0) == (None, "unstable", 1.0, "s")
    assert len(r.where(rate=1.0)) == len(r.where(rate=2.0))


def test_a_class_that_becomes_another_has_no_response_time_of_its_own() -> None:
    both = [sj.Closed("new", 2, 1.0), sj.Closed("old", 0, 1.0)]
    routing = {"new": {"think": {"cpu": 1}, "cpu": {"cpu/old": 1}}, "old": {"cpu": {"think/new": 1}}}
    model = sj.Model([sj.Queue("cpu")], both, service_s={"cpu": {"new": 0.1, "old": 0.2}}, routing=routing)
    solution = Solution(np.array([[1.0, 0.0]]), np.array([[[0.3, 0.7]]]), np.array([[[0.1, 0.2]]]))
    r = told(solution, [model.network])
    assert r.value("residence_time", cls="new") == pytest.approx(0.3)
    assert r.value("residence_time", cls="old") == pytest.approx(0.7)
    assert r.value("response_time", cls="new") == r.value("response_time") == pytest.approx(1.0)  # the whole pass
    assert r.value("throughput", "cpu", "old") == pytest.approx(1.0)
    with pytest.raises(NoSuchRow):
        r.value("response_time", cls="old")


def test_rows_are_read_as_stations_by_quantities() -> None:
    text = repr(told(Solution(X, Q, U)))
    assert text.startswith("Metrics(") and "(system)" in text and "300.0 ms" in text
    swept = metrics(
        [N, N], Solution(np.repeat(X, 2, 0), np.repeat(Q, 2, 0), np.repeat(U, 2, 0)), "test", {"a.rate": [1, 2]}
    )
    assert repr(swept).splitlines()[1].split()[:2] == ["rate", "class"] and "cpu 40.0 %" in repr(swept)
