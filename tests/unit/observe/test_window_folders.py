"""Windows as run folders: all of them, or none."""

from pathlib import Path

import pytest

from sojourn.errors import RunFolderError
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.observe.window_folders import write_windows

WINDOWS = [ObservedWindow(60.0 * k, 60.0, {"a": ClassMeans(10.0, 0.1)}) for k in range(3)]


def test_where_one_cannot_be_written_none_is_left(tmp_path: Path) -> None:
    """The second is there already, and stays as it is."""
    (there := tmp_path / "1970-01-01T00-01-00Z").mkdir()
    (there / "kept").write_text("of somebody else")
    with pytest.raises(RunFolderError):
        write_windows(tmp_path, WINDOWS, {}, {}, "log.csv")
    assert [path.name for path in tmp_path.iterdir()] == [there.name]
    assert (there / "kept").exists()


def test_windows_of_less_than_two_seconds_have_names_of_their_own(tmp_path: Path) -> None:
    windows = [ObservedWindow(0.9 + 1.0 * k, 1.0, {"a": ClassMeans(10.0, 0.1)}) for k in range(3)]
    assert len(set(write_windows(tmp_path, windows, {}, {}, "log.csv"))) == 3
