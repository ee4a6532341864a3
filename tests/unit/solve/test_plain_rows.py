"""Rows made without polars are those of the frame."""

from __future__ import annotations

from pathlib import Path

import pytest

import sojourn as sj
from sojourn.solve.method import RequestedOutputs

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))
ALL = RequestedOutputs((0.5, 0.99), 3)


@pytest.mark.parametrize("wanted", [None, ALL], ids=["usual", "all"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_rows_without_polars_are_those_of_the_frame(path: Path, wanted: RequestedOutputs | None) -> None:
    try:
        plain, framed = (sj.solve(path, requested_outputs=wanted) for _ in range(2))
    except sj.SojournError as refused:
        pytest.skip(str(refused))
    before = plain.rows()
    assert before == framed.frame.to_dicts()
    assert [list(row) for row in before[:1]] == [list(framed.frame.columns)]
    assert repr(plain) == repr(sj.Metrics(framed.frame, framed.method, framed.status, framed.message))
