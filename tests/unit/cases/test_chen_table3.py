"""The layout of Table 3, against the published table."""

from __future__ import annotations

import pytest
from published_errors import COLUMNS, published

from sojourn.errors import InputError
from sojourn.validate import validate
from sojourn_cases.web.chen_table3 import table3, table3_text


def test_table_3_and_its_overall_column() -> None:
    measured, predicted, overall = published()
    rows = {row["quantity"]: row for row in table3(validate(measured, predicted), "signed")}
    assert list(rows) == ["Response Time", "Throughput", "Util. Core 0 to m-1", "Util. Core m to n-1"]
    assert list(rows["Throughput"])[1:] == ["1/1", "1/2", "1/4", "1/8", "2/2", "2/4", "2/8", "4/4", "4/8", "overall"]
    for row, column, digits in zip(rows.values(), COLUMNS.values(), (1, 2, 1, 1), strict=True):
        assert round(100 * row["overall"], digits) == overall[column]
    assert rows["Util. Core m to n-1"]["1/1"] is None
    text = table3_text(validate(measured, predicted), "signed").splitlines()
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
        table3(validate(measured, predicted), "x")
