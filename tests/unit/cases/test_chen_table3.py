"""The layout of Table 3, against the published table."""

from __future__ import annotations

import pytest
from published_errors import COLUMNS, published

from sojourn.errors import InputError
from sojourn.table import Metrics
from sojourn_cases.web.chen_table3 import lines_of, relative_errors, table3


def test_table_3_and_its_overall_column() -> None:
    measured, predicted, overall = published()
    errors = relative_errors(measured, predicted)
    rows = {row["quantity"]: row for row in table3(errors, "signed")}
    assert list(rows) == ["Response Time", "Throughput", "Util. Core 0 to m-1", "Util. Core m to n-1"]
    assert list(rows["Throughput"])[1:] == ["1/1", "1/2", "1/4", "1/8", "2/2", "2/4", "2/8", "4/4", "4/8", "overall"]
    for row, column, digits in zip(rows.values(), COLUMNS.values(), (1, 2, 1, 1), strict=True):
        assert round(100 * row["overall"], digits) == overall[column]
    assert rows["Util. Core m to n-1"]["1/1"] is None
    text = lines_of(table3(errors, "signed"), ("overall",), "signed")
    assert text[0].split() == ["1", "NIC", "2", "NICs", "4", "NICs", "Overall"]
    assert text[2].split()[2:] == [
        "+23.8",
        "+23.2",
        "+25.8",
        "+11.3",
        "+19.4",
        "+7.9",
        "+10.3",
        "+7.4",
        "+14.2",
        "+15.9",
    ]
    assert text[5].split()[5:9] == ["-", "-9.4", "-14.6", "-23.7"]
    with pytest.raises(InputError, match="kind: 'x'"):
        table3(errors, "x")


def test_a_rate_that_is_called_saturated_is_an_infinite_error_and_other_rates_are_passed_over() -> None:
    at = [{"metric": "response_time", "rate_per_s": r, "cores": 1, "nics": 1} for r in (100.0, 200.0, 300.0)]
    measured = Metrics.of([{**row, "value": 2.0} for row in at])
    values = ({"value": 2.2}, {"value": 1.6}, {"value": None, "status": "unstable"})
    said = [{**row, **value} for row, value in zip(at, values, strict=True)]
    assert relative_errors(measured, Metrics.of(said))["error"].to_list() == pytest.approx([0.1, -0.2, float("inf")])
    (two,) = table3(relative_errors(measured, Metrics.of(said[:2])))
    assert two["1/1"] == two["overall"] == pytest.approx(0.15)
    with pytest.raises(InputError, match="no point in common"):
        relative_errors(measured.with_factors(cores=3), Metrics.of(said))
