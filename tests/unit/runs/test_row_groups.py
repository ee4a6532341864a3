"""Logs become Parquet some rows at a time, and a judgement reads columns in order: the same rows as by hand."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import polars as pl
import pytest

from sojourn.runs import record_logs
from sojourn.runs.request_times import in_window, request_times, response_s, succeeded
from sojourn.runs.run_folder import RunFolder

# number of a request in the order in which they ended, and the weight that its row was written with: of the first four each, then
# every second, then every fourth
WRITTEN = [(0, 1), (1, 1), (2, 1), (3, 1), (4, 2), (6, 2), (8, 4), (12, 4), (16, 4)]
KEPT = [0, 4, 8, 12, 16]  # the multiples of the last weight


def log(path: Path, rows: list[tuple[int, int]]) -> Path:
    head = {
        "format": "sojourn-record",
        "version": 1,
        "columns": [["intended_s", "f8"], ["weight", "u4"]],
        "meta": {"of": "a test"},
    }
    packed = b"".join(struct.pack("<dI", number, weight) for number, weight in rows)
    path.write_bytes(json.dumps(head).encode() + b"\n" + packed + b"cut")
    return path


@pytest.mark.parametrize("at_once", [1, 2, 4, 100])
def test_a_log_is_thinned_to_its_last_weight_however_it_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(record_logs, "ROWS_AT_ONCE", at_once)
    meta = record_logs.to_parquet(log(tmp_path / "requests.rec", WRITTEN), tmp_path / "requests.parquet")
    found = pl.read_parquet(tmp_path / "requests.parquet")
    assert found["intended_s"].to_list() == KEPT and found["weight"].to_list() == [4] * len(KEPT)
    assert meta == {"sample_every": 4, "of": "a test"}


def test_a_log_without_rows_is_a_table_without_rows(tmp_path: Path) -> None:
    record_logs.to_parquet(log(tmp_path / "requests.rec", []), tmp_path / "requests.parquet")
    assert pl.read_parquet(tmp_path / "requests.parquet").schema == {"intended_s": pl.Float64, "weight": pl.UInt32}


def test_times_are_in_order_of_when_requests_were_due(tmp_path: Path) -> None:
    nan = float("nan")
    pl.DataFrame({
        "intended_s": [3.0, 1.0, 2.0, 4.0], "sent_s": [3.1, 1.1, 2.1, 4.1], "received_s": [3.5, nan, 2.25, 4.5],
        "done_s": [3.75, 1.5, 2.5, 5.0], "failure": [0, 0, 4, 0],
    }).write_parquet(tmp_path / "requests.parquet")  # fmt: skip
    (tmp_path / "manifest.json").write_text(json.dumps({"format": "sojourn-run", "version": 1, "status": "complete"}))
    times = request_times(RunFolder.open(tmp_path))
    assert times is not None and times["intended_s"].to_list() == [1.0, 2.0, 3.0, 4.0]
    assert times["end_s"].to_list() == [1.5, 2.25, 3.5, 4.5]  # the kernel's, else when it was read
    inside = in_window(times, (2.0, 3.0))  # with both ends
    assert inside["sent_s"].to_list() == [2.1, 3.1]
    assert succeeded(inside)["intended_s"].to_list() == [3.0] and response_s(succeeded(inside)).to_list() == [0.5]
