"""What a program prints: bounded, and without its secrets, wherever pieces of output meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from sojourn.lab.capped_log import CappedLog, last_lines


@pytest.mark.parametrize("size", range(1, 9))
def test_a_secret_is_found_however_it_is_cut(tmp_path: Path, size: int) -> None:
    text = b"key=s3cret, again s3cret; end"
    output = CappedLog(tmp_path / "log", ["s3cret"])
    for start in range(0, len(text), size):
        output.add(text[start : start + size])
    output.close()
    assert (tmp_path / "log").read_bytes() == b"key=***, again ***; end"


def test_a_secret_of_several_lines_and_one_within_another(tmp_path: Path) -> None:
    output = CappedLog(tmp_path / "log", ["ab\ncd", "ab", ""])
    output.add(b"1 ab\ncd 2 ab 3")
    output.close()
    assert (tmp_path / "log").read_text() == "1 *** 2 *** 3"


def test_beginning_and_end_are_kept_and_the_rest_is_counted(tmp_path: Path) -> None:
    output = CappedLog(tmp_path / "log", most_bytes=20)
    output.add(b"0123456789abcdefghijKLMNOPQRST")
    output.close()
    assert (tmp_path / "log").read_text() == "0123456789\n[10 bytes left out]\nKLMNOPQRST"
    assert output.left_out == 10


def test_last_lines_of_nothing(tmp_path: Path) -> None:
    assert last_lines(tmp_path / "none") == ""
    (tmp_path / "log").write_text("1\n\n2\n3\n4\n5\n6\n")
    assert last_lines(tmp_path / "log") == "2 | 3 | 4 | 5 | 6"
