"""The windows of a run folder while its load is still running, from `requests.rec` as it grows.

A request stands in the log when it has ended, so that what is under way is missing. A window is told when the log goes on for as long after
it as the longest response so far. The generator writes 256 KiB at a time, some thousand requests, so several windows come at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from sojourn.control.decision import Seen
from sojourn.control.recorded_run import windows
from sojourn.errors import InputError, RunFolderError
from sojourn.runs.measurement_window import responses
from sojourn.runs.record_logs import read_log
from sojourn.runs.run_folder import RunFolder

POLL_S = 0.2


def growing_windows(
    path: Path,
    period_s: float,
    workers: int,
    quiet_s: float,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> Iterator[Seen]:
    """Whole windows of `period_s` from the first request, for `workers` servers in order of arrival, until the run has ended or nothing
    came for `quiet_s`.

    Raises:
        InputError: not even one window came. RunFolderError: not every request is recorded.
    """
    first_s, told, rows, last_s = None, 0, 0, clock()
    while True:
        found, ended = _requests(path)
        grown = found is not None and found.height > rows
        last_s = clock() if grown else last_s
        over = ended or clock() - last_s > quiet_s
        if found is not None and found.height and (grown or over):
            rows = found.height
            first_s = float(found["intended_s"][0]) if first_s is None else first_s
            count = max(told, int((_known_until(found, over) - first_s) / period_s + 1e-9))
            yield from windows(found, first_s, period_s, workers, range(told, count))
            told = count
        if over and not told:
            raise InputError(f"{rows} requests", path, f"give a run of at least {period_s:g} s, or a shorter window_s")
        if over:
            return
        sleep(POLL_S)


def _requests(path: Path) -> tuple[pl.DataFrame | None, bool]:
    """In order of intended time; and whether there will be no more."""
    records: pl.DataFrame | None
    try:
        records, ended = read_log(path / "requests.rec")[0], False
    except (FileNotFoundError, RunFolderError):  # not begun, or its header not written; or made into Parquet
        done = (path / "requests.parquet").exists()
        records, ended = (RunFolder.open(path).frame("requests") if done else None), done
    if records is not None and "weight" in records.columns and (records["weight"] > 1).any():
        raise RunFolderError("only some of its requests are recorded", str(path), "give a run with fewer requests")
    return (None if records is None else responses(records)), ended


def _known_until(found: pl.DataFrame, over: bool) -> float:
    if over:
        return float(found["intended_s"][-1])
    return float(found["end_s"].fill_nan(None).max() or 0.0) - float(found["response_s"].fill_nan(None).max() or 0.0)  # type: ignore[arg-type]
