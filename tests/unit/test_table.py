"""Metrics: selection, checks, and that nothing is lost on the way to JSON and Parquet and back."""

from __future__ import annotations

import html
import json
import math
import re
from pathlib import Path

import polars as pl
import pytest

from sojourn.errors import InputError, NoSuchRow, RunFolderError
from sojourn.table import COLUMNS, Metrics


def sample() -> Metrics:
    return Metrics.of(
        [
            {
                "metric": "response_time",
                "value": 0.25,
                "low": 0.2,
                "high": 0.3,
                "level": 0.95,
                "rate_per_s": 100.0,
                "cores": 2,
            },
            {"metric": "response_time", "value": float("inf"), "rate_per_s": 200.0, "cores": 2, "status": "saturated"},
            {"metric": "response_time_quantile", "q": 0.99, "value": 1.0, "rate_per_s": 100.0, "cores": 2},
            {
                "metric": "utilisation",
                "station": "leading",
                "class": "a",
                "value": 0.5,
                "rate_per_s": 100.0,
                "cores": 2,
            },
        ],
        method="by hand",
        status="saturated",
        message='say "<why>"',
    )


def test_columns_units_and_defaults() -> None:
    frame = sample().frame
    assert frame.columns == [*COLUMNS, "rate_per_s", "cores"]
    assert frame["unit"].to_list() == ["s", "s", "s", "1"]
    assert frame["source"].unique().to_list() == ["analytic"]


def test_value_and_interval() -> None:
    m = sample()
    assert m.value("response_time", rate_per_s=100) == 0.25
    assert m.interval("response_time", rate_per_s=100.0) == (0.2, 0.3)
    assert m.value("response_time_quantile", q=0.99) == 1.0
    assert m.value("utilisation", station="leading", cls="a") == 0.5
    assert math.isnan(m.value("response_time", rate_per_s=200))


def test_a_missing_row_names_what_there_is() -> None:
    with pytest.raises(KeyError, match=r"no row .*use one of.*metric='utilisation', station='leading', class='a'"):
        sample().value("utilisation")
    with pytest.raises(NoSuchRow, match=r"2 rows .*rate_per_s=100.0.*rate_per_s=200.0"):
        sample().value("response_time")
    with pytest.raises(NoSuchRow, match="Metrics column: 'nics'; use one of"):
        sample().where(nics=1)


def test_infinity_becomes_null_so_that_json_is_json() -> None:
    text = sample().to_json()
    assert json.loads(text)["rows"][1]["value"] is None
    assert set(json.loads(text)) == {"method", "status", "message", "rows"}


def test_round_trips(tmp_path: Path) -> None:
    m = sample()
    assert Metrics.from_json(m.to_json()) == m
    m.write(tmp_path / "metrics.parquet")
    assert Metrics.read(tmp_path / "metrics.parquet") == m
    assert Metrics.from_json(Metrics.of([]).to_json()) == Metrics.of([])


def test_concat_with_factors_and_where() -> None:
    both = Metrics.concat([sample().with_factors(variant="x"), sample()])
    assert len(both) == 8 and both.status == "saturated" and both.method == "by hand"
    assert len(both.where(variant="x")) == 4 and len(both.where(variant=None)) == 4
    assert len(both.where(station="leading", cores=2)) == 2
    with pytest.raises(InputError, match="factor"):
        sample().with_factors(value=1)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"metric": "speed", "value": 1}, "metric: 'speed'; use one of arrival_rate"),
        ({"metric": "throughput", "value": 1, "unit": "s"}, "unit of throughput: 's'; give it in '1/s'"),
        ({"metric": "throughput", "value": 1, "source": "guessed"}, "source"),
    ],
)
def test_unknown_names_are_refused(row: dict, text: str) -> None:
    with pytest.raises(InputError, match=text):
        Metrics.of([row])


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="No such file"):
        Metrics.read(tmp_path / "none.parquet")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(RunFolderError, match="not a Parquet file"):
        Metrics.read(tmp_path / "cut.parquet")
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(RunFolderError, match="no column station"):
        Metrics.read(tmp_path / "other.parquet")
    for text in ("", "[]", '{"rows": []}', '{"rows": 3, "method": "", "status": "", "message": ""}'):
        with pytest.raises(InputError, match="answer: not a Metrics object"):
            Metrics.from_json(text, "answer")


def rows_of_html(text: str) -> list[list[str]]:
    lines = re.findall(r"<tr>(.*?)</tr>", text)
    return [[html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line)] for line in lines]


def test_repr_str_and_html_show_the_same() -> None:
    """Head, every cell and the message."""
    text, page = repr(sample()), sample()._repr_html_()
    assert str(sample()) == text
    assert "Metrics(4 rows, method='by hand', status='saturated')" in text and sample().message in text
    assert html.escape(sample().message) in page
    cells = [cell for row in rows_of_html(page) for cell in row if cell]
    assert "250.0 ms ±20 %" in cells and "saturated" in cells
    assert " ".join(cells) == " ".join(" ".join(text.splitlines()[1:-1]).split())


def test_html_escapes_what_comes_from_a_model() -> None:
    page = Metrics.of([{"metric": "throughput", "value": 1, "station": "<b>"}])._repr_html_()
    assert "<table" in page and "&lt;b&gt;" in page and "<b>" not in page


def test_wide_is_stations_by_quantities() -> None:
    rows = [("cpu", "throughput", 2.0), ("cpu", "utilisation", 0.5), ("disk", "throughput", 1.0)]
    table = Metrics.of([{"station": s, "metric": m, "value": v} for s, m, v in rows])
    assert table.wide().to_dicts() == [
        {"station": "cpu", "class": "", "throughput": 2.0, "utilisation": 0.5},
        {"station": "disk", "class": "", "throughput": 1.0, "utilisation": None},
    ]
    swept = sample().wide()
    quantities = ["response_time", "response_time_quantile_0.99", "utilisation"]
    assert swept.columns == ["rate_per_s", "cores", "station", "class", *quantities]
    assert swept.filter(rate_per_s=100.0, station="")["response_time_quantile_0.99"].to_list() == [1.0]
    assert swept.filter(rate_per_s=200.0)["response_time"].to_list() == [None]


def test_wide_says_what_one_class_does_once() -> None:
    rows = [{"metric": "throughput", "class": cls, "value": 2.0} for cls in ("", "user")]
    assert Metrics.of(rows).wide().to_dicts() == [{"station": "", "class": "user", "throughput": 2.0}]
