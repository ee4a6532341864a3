"""The time of a flush: of a disk there is one, and nothing is left in the folder."""

from __future__ import annotations

from pathlib import Path

from sojourn_cases.messages.disk_flush_time import flush_s


def test_a_flush_takes_time_and_leaves_nothing(tmp_path: Path) -> None:
    assert 0 < flush_s(tmp_path, times=5) < 5.0
    assert not list(tmp_path.iterdir())
