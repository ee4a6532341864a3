"""Figures of results that a user holds: `.plot()`."""

from __future__ import annotations

import polars as pl
import pytest

import sojourn as sj
from sojourn.errors import InputError
from sojourn.report.result_figures import agreement, sweep
from sojourn.table import Metrics


def swept(**more: object) -> Metrics:
    rows = [
        {"metric": "response_time", "value": 0.1 * n * d, "users": n, "cpus": d, **more}
        for d in (1, 2)
        for n in (1, 2, 3)
    ]
    return Metrics.of(rows, "mva")


def test_a_sweep_is_a_line_over_what_varies_first() -> None:
    shown = sweep(swept())
    assert (shown.x_label, shown.y_label, shown.note) == ("users", "response time (s)", "mva")
    assert [(s.name, s.x) for s in shown.series] == [
        ("all classes, cpus 1", (1, 2, 3)),
        ("all classes, cpus 2", (1, 2, 3)),
    ]
    assert shown.series[1].y == pytest.approx((0.2, 0.4, 0.6)) and shown.series[0].low is None


def test_intervals_are_shaded() -> None:
    assert sweep(swept(low=0.05, high=0.2)).series[0].high == (0.2,) * 3


def test_plot_is_an_altair_chart_of_all_points() -> None:
    chart = swept().plot()
    (data,) = chart.to_dict()["datasets"].values()  # altair gives each set of rows a name
    assert sum(len(series["x"]) for series in data) == 6


def test_what_plot_gives_is_drawn_by_vega() -> None:
    """`.plot()` was an error in every notebook: each selection was in all layers ("Duplicate signal name")."""
    vl_convert = pytest.importorskip("vl_convert")
    chart = swept().plot().to_dict()
    assert "<svg" in vl_convert.vegalite_to_svg(chart)
    names = {layer["name"] for layer in chart["layer"] if "name" in layer}
    assert [len(param["views"]) for param in chart["params"]] == [1, 1, 1]
    assert {view for param in chart["params"] for view in param["views"]} <= names


def test_plot_of_a_solved_sweep() -> None:
    user = sj.Closed("user", population=1, think_s=1.0)
    model = sj.Model([sj.Queue("cpu")], [user], demands_s={"cpu": {"user": 0.1}})
    result = sj.sweep(model, "classes.user.population", [1, 2, 3])
    assert sweep(result, "utilisation", "cpu").series[0].y[0] == pytest.approx(0.1 / 1.1)  # alone: 0.1 s in each 1.1 s
    result.plot("throughput").to_dict()


@pytest.mark.parametrize(
    ("result", "metric", "message"),
    [
        (swept(), "throughput", "throughput of the system; use one of response_time of the system"),
        (swept().where(users=1, cpus=1), "response_time", "one point; vary a factor"),
        (swept().with_factors(users="many"), "response_time", "cpus"),
    ],
)
def test_what_cannot_be_drawn_is_named(result: Metrics, metric: str, message: str) -> None:
    if message == "cpus":  # the first factor that varies, and a number
        assert sweep(result, metric).x_label == "cpus"
        return
    with pytest.raises(InputError) as caught:
        sweep(result, metric)
    assert message.split(";")[0] in str(caught.value) and message.split("; ")[1] in str(caught.value)


def test_predicted_stands_against_measured() -> None:
    rows = pl.DataFrame({
        "class": ["a", "a", "b"], "measured": [1.0, 2.0, None], "predicted": [1.1, 1.9, 3.0],
        "low": [1.0, 1.8, 2.0], "high": [1.2, None, 4.0],
    })  # fmt: skip
    shown = agreement(rows, "response_time", ("class",))
    points, same = shown.series
    assert (points.name, points.x, points.y, points.high) == ("class a", (1.0, 2.0), (1.1, 1.9), (1.2, None))
    assert same.x == same.y == (1.0, 2.0)
    with pytest.raises(InputError, match="nothing was predicted and measured"):
        agreement(rows.filter(pl.col("class") == "b"), "response_time")
