"""A log cut into windows: how many there may be, and requests that are under way for long."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn.errors import InputError
from sojourn.observe import observe_files
from sojourn.observe.log_windows import log_windows, under_way
from sojourn.observe.request_log import RequestLog


def _log(folder: Path, came_s: list[float]) -> Path:
    pl.DataFrame({"arrival_s": came_s, "response_s": [0.1] * len(came_s)}).write_csv(path := folder / "log.csv")
    return path


def test_one_row_of_another_time_does_not_make_millions_of_windows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--window: \d+ windows from 0 to 1795708900"):
        observe_files([_log(tmp_path, [0.0, 1795708800.0, 1795708900.0])])


@pytest.mark.parametrize("window_s", [0.0, -1.0, 0.5, float("nan")])
def test_windows_of_less_than_a_second_are_refused(window_s: float, tmp_path: Path) -> None:
    """Their folders are named by the second in which they begin."""
    with pytest.raises(InputError, match="at least 1 s"):
        observe_files([_log(tmp_path, [0.0, 1.0, 2.0])], window_s=window_s)


def test_whole_windows_of_unix_times_are_all_there() -> None:
    came = 1_795_000_000.1 + np.arange(0, 600, 0.5)
    log = RequestLog(came, np.full(came.size, 0.1), np.zeros(came.size, np.intp), ("a",))
    for start in (1_795_000_000.1, 1_795_000_000.3, 1_795_000_000.7):
        assert len(log_windows(log, [], start, start + 300.0, 60.0)[0]) == 5


def test_a_request_of_hours_does_not_bring_all_others_into_each_window() -> None:
    """400 windows, each with 500 requests: all that came before were looked at in each. Users that wait are found as before."""
    rng = np.random.default_rng(1)
    came = np.sort(rng.uniform(0, 24_000, 200_000))
    took = rng.exponential(0.05, 200_000)
    took[0] = 24_000.0
    log = RequestLog(came, took, np.zeros(came.size, np.intp), ("a",))
    windows, users, _ = log_windows(log, [], 0.0, 24_000.0, 60.0)
    assert len(windows) == 400 and users == {}


def test_requests_under_way_are_handed_on_from_window_to_window() -> None:
    """Two users, who wait for their answers and think for 1 s: one asks at 0, 4, 8 … for 3 s, the other half of the time later. In each
    window of 4 s each thinks for 1 s of 4."""
    came = np.arange(0.0, 400.0, 2.0)
    log = RequestLog(came, np.full(came.size, 3.0), np.zeros(came.size, np.intp), ("a",))
    for one in under_way(log, np.arange(40.0, 200.0, 4.0)):
        assert one.time_s == pytest.approx([0.0, 2.0, 2.0]) and one.arrivals.tolist() == [0.0, 2.0, 0.0]
        assert one.think_s(2) == pytest.approx(1.0)
