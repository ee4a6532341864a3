"""CSV read in pieces: the rows that one piece gives, wherever it is cut."""

from __future__ import annotations

import io

import pytest

from sojourn.observe import csv_rows

TEXT = b'Arrival_s,note,response_s\n1,plain,0.5\n2,"two\nlines, and ""quotes""",0.25\n\n3,,1\n4,"a",2'
ROWS = [(1, 0.5), (2, 0.25), (3, 1.0), (4, 2.0)]  # by hand


@pytest.mark.parametrize("at_once", [41, 50, 60, 75, 1000])
def test_rows_are_the_same_wherever_the_file_is_cut(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(csv_rows, "AT_ONCE", at_once)
    text = TEXT.replace(b"\n\n", b"\n")
    found = csv_rows.csv_rows(io.BytesIO(text), 10, lambda names: [name for name in names if name != "note"])
    assert found.columns == ["Arrival_s", "response_s"] and found.rows() == ROWS
    assert csv_rows.csv_rows(io.BytesIO(text), 3, lambda names: names[:1]).rows() == [(1,), (2,), (3,)]


def test_all_of_a_small_file_with_an_empty_line() -> None:
    assert csv_rows.csv_rows(io.BytesIO(TEXT), 10).columns == ["Arrival_s", "note", "response_s"]
