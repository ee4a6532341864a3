"""Logs become Parquet some rows at a time, and a judgement reads columns in order: the same rows as by hand."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import polars as pl
import pytest

from sojourn.runs import record_logs
from sojourn.runs.assess_run import assess, conclude
from sojourn.runs.request_times import in_window, request_times, response_s, succeeded
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.watched_resources import completed_per_s
from sojourn.stats.share_interval import clustered_share

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


COLUMNS = [
    ["intended_s", "f8"], ["sent_s", "f8"], ["received_s", "f8"], ["done_s", "f8"], ["failure", "u1"], ["class", "u2"], ["weight", "u4"],
]  # fmt: skip


def ended_run(path: Path) -> RunFolder:
    """As a generator leaves it: 4 000 requests a millisecond apart, written in the order of answers, every other one of which waits 2 ms
    longer than the 1 ms of its neighbours."""
    folder = RunFolder.create(path, {"load": {"lanes": [{"arrivals": {}}]}})
    folder.manifest["generator"] = {"start_s": 0.0, "end_s": 4.0}
    took = {number: 0.001 if number % 2 else 0.003 for number in range(4000)}
    head = {"format": "sojourn-record", "version": 1, "columns": COLUMNS, "meta": {"classes": ["page"]}}
    rows = [
        (at / 1e3, at / 1e3, at / 1e3 + took[at], at / 1e3 + took[at], 0, 0, 1)
        for at in sorted(took, key=lambda k: k / 1e3 + took[k])
    ]
    packed = b"".join(struct.pack("<ddddBHI", *row) for row in rows)
    (path / "requests.rec").write_bytes(json.dumps(head).encode() + b"\n" + packed)
    folder.manifest["status"] = "complete"
    return folder


@pytest.mark.parametrize("at_once", [999, 65_536])
def test_a_run_that_has_ended_is_judged_from_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """What is by hand: of a window that begins at 0.5 s 3 500 requests, the mean of 1 and 3 ms."""
    monkeypatch.setattr(record_logs, "ROWS_AT_ONCE", at_once)
    folder = ended_run(tmp_path / "run")
    conclude(folder)
    assert not (folder.path / "requests.rec").exists()
    assert folder.manifest["valid"], folder.manifest["reasons"]
    assert folder.manifest["window_s"] == [0.5, 3.999] and folder.answered == 3500
    metrics = RunFolder.open(folder.path).metrics()
    assert metrics.value("response_time") == pytest.approx(0.002)
    assert metrics.value("response_time_quantile", q=0.99) == pytest.approx(0.003)
    assert completed_per_s(folder) == completed_per_s(RunFolder.open(folder.path)) == pytest.approx(3500 / 3.499)


def test_it_says_the_same_as_one_whose_log_became_parquet_before(tmp_path: Path) -> None:
    now, before = ended_run(tmp_path / "now" / "run"), ended_run(tmp_path / "before" / "run")
    conclude(now)
    before.collect()
    assess(before)
    before.save()
    assert now.manifest == before.manifest
    for name in ("requests.parquet", "metrics.parquet"):
        assert (now.path / name).read_bytes() == (before.path / name).read_bytes()


def test_a_class_that_is_missing_is_none_that_has_a_name(tmp_path: Path) -> None:
    """And a share of what is true or false is that of ones and zeros."""
    pl.DataFrame({
        "intended_s": [2.0, 1.0], "sent_s": [2.0, 1.0], "received_s": [2.5, 1.5], "done_s": [2.5, 1.5], "failure": [0, 0],
        "class": pl.Series([None, 1], dtype=pl.UInt16),
    }).write_parquet(tmp_path / "requests.parquet")  # fmt: skip
    (tmp_path / "manifest.json").write_text(json.dumps({"format": "sojourn-run", "version": 1, "status": "complete"}))
    times = request_times(RunFolder.open(tmp_path))
    assert times is not None and times["class"].to_list() == [1, 65_535]
    happened = [number % 7 == 0 for number in range(5000)]
    assert clustered_share(happened) == clustered_share([float(one) for one in happened])
