"""CSV read in pieces: the rows that one piece gives, wherever it is cut."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest

from sojourn.observe import csv_rows
from sojourn.observe.request_log import read_request_log

TEXT = b'Arrival_s,note,response_s\n1,plain,0.5\n2,"two\nlines, and ""quotes""",0.25\n3,,1\n4,"a",2'
ROWS = [(1, 0.5), (2, 0.25), (3, 1.0), (4, 2.0)]  # by hand


@pytest.mark.parametrize(("first", "then"), [(41, 1), (41, 7), (50, 20), (75, 3), (1000, 1)])
def test_rows_are_the_same_wherever_the_file_is_cut(monkeypatch: pytest.MonkeyPatch, first: int, then: int) -> None:
    monkeypatch.setattr(csv_rows, "FIRST", first)
    monkeypatch.setattr(csv_rows, "AT_ONCE", then)
    found = pl.concat(csv_rows.csv_parts(io.BytesIO(TEXT), 10, lambda names: [one for one in names if one != "note"]))
    assert found.columns == ["Arrival_s", "response_s"] and found.rows() == ROWS
    part = pl.concat(csv_rows.csv_parts(io.BytesIO(TEXT), 3, lambda names: names[:1]))
    assert part.rows() == [(1,), (2,), (3,)]


def test_a_quote_that_is_never_closed_ends_with_the_file() -> None:
    assert csv_rows._end(b'a\n"b\nc\n') == 2 and csv_rows._end(b'"b\nc\n') == 0 and csv_rows._end(b'a\n"b\nc"\nd') == 8


def test_a_log_that_is_read_in_parts_says_the_row_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "FIRST", 40)
    monkeypatch.setattr(csv_rows, "AT_ONCE", 10)
    path = tmp_path / "shop.csv"
    lines = ["arrival_s,response_s,class", "3,0.5,buy", "1,0.25,look", "2,1,buy", "4,2,ask"]
    path.write_text("\n".join(lines))
    log = read_request_log(path)
    assert log.came_s.tolist() == [1.0, 2.0, 3.0, 4.0] and log.took_s.tolist() == [0.25, 1.0, 0.5, 2.0]
    assert [log.classes[i] for i in log.of] == ["look", "buy", "buy", "ask"] and log.classes == ("ask", "buy", "look")
    path.write_text("\n".join([*lines, "5,-1,buy"]))
    with pytest.raises(ValueError, match="row 6"):
        read_request_log(path)
