"""Files that were cut off or are damaged: read as far as they say something, or one error with place and remedy; never anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sojourn.errors import InputError
from sojourn.readers import read_observations, run_folder_reader

FOLDER = Path(__file__).resolve().parents[2] / "data/results"
FILES = sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".md")
HISTORY = (
    "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,99%,Total Request Count,Total Failure Count,Total Median Response Time,"
    "Total Average Response Time,Total Min Response Time,Total Max Response Time,Total Average Content Size\n"
    "1790000000,5,,Aggregated,10,0,20,90,100,1,20,25.5,3,90,1\n1790000010,5,,Aggregated,10,0,20,90,200,1,20,25.5,3,90,1\n"
)
K6 = (
    '{"type":"Metric","data":{"type":"trend"},"metric":"http_req_duration"}\n'
    '{"type":"Point","data":{"time":"2026-11-26T14:34:45+02:00","value":1},"of":"http_req_duration"}\n'
)


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_that_is_cut_off_anywhere(name: str, tmp_path: Path) -> None:
    whole = (FOLDER / name).read_bytes()
    path = tmp_path / name
    for size in (*range(1, len(whole), max(1, len(whole) // 80)), *range(max(1, len(whole) - 15), len(whole))):
        path.write_bytes(whole[:size])
        try:
            read_observations(path)
        except InputError as error:
            assert error.remedy


def written(folder: Path, text: str) -> Path:
    (path := folder / "results").write_text(text)
    return path


def test_a_history_of_locust(tmp_path: Path) -> None:
    """Cut off anywhere behind its header."""
    (found,) = read_observations(written(tmp_path, HISTORY))
    assert (found.completed, found.failed, found.throughput_per_s) == (199, 1, 10.0)
    for end in (
        "1790000020,5,,Aggregated,10,0,20,90,300",
        "1790000020,5,,Aggregated,10,0,20,90,300,",
        "1790000020,5,,Aggr",
    ):
        with pytest.raises(InputError, match="cut off"):
            read_observations(written(tmp_path, HISTORY + end))
    with pytest.raises(InputError, match="Total Failure Count"):
        read_observations(written(tmp_path, HISTORY.replace(",200,1,", ",200,N/A,")))


def test_more_endpoints_of_locust_than_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sojourn.readers.locust.MOST_ENDPOINTS", 3)
    rows = "".join(f"GET,/{k},90,0,9.0\n" for k in range(4))
    with pytest.raises(InputError, match="more than 3 rows"):
        read_observations(written(tmp_path, "Type,Name,Request Count,Failure Count,Requests/s\n" + rows))


def test_a_point_of_k6_without_a_metric(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no http_req_duration"):
        read_observations(written(tmp_path, K6))


def test_numbers_that_are_none(tmp_path: Path) -> None:
    """`1.2.3`, as a log has it that was written by two at once."""
    ycsb = "[OVERALL], RunTime(ms), 1000\n[READ], Operations, 90\n[READ], AverageLatency(us), 2.0.5\n"
    ycsb += "[READ], 9.9.9thPercentileLatency(us), 5\n"
    assert read_observations(written(tmp_path, ycsb))[0].completed == 90
    wrk = (FOLDER / "wrk_one.txt").read_text().replace("Requests/sec:", "Requests/sec: 1.2.3\n#")
    with pytest.raises(InputError, match="Requests/sec"):
        read_observations(written(tmp_path, wrk))
    ab = (FOLDER / "ab.txt").read_text()
    assert (
        read_observations(written(tmp_path, ab.replace("Total:  ", "Total: 1 2 3.4.5 6 7\nother")))[0].completed == 2000
    )
    data: dict[str, Any] = json.loads((FOLDER / "bombardier.json").read_text())
    data["result"]["latency"]["percentiles"] |= {"most": 1, "nan": 2}
    assert 0.99 in read_observations(written(tmp_path, json.dumps(data)))[0].quantiles


class Folder:
    """In place of a run folder of an earlier version, or a damaged one."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.held, self.manifest = frame, {"factors": {"users": 1}}

    def frame(self, name: str) -> pl.DataFrame:
        return self.held


@pytest.mark.parametrize(
    "columns",
    [
        {"intended_s": [0.0], "failure": [0]},
        {"intended_s": [float("nan")], "done_s": [1.0], "failure": [0]},
        {"intended_s": [2.0], "done_s": [1.0], "failure": [0]},
    ],
)
def test_a_run_folder_without_requests(
    columns: dict[str, list[float]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder_reader, "run_folders", lambda paths: paths)
    monkeypatch.setattr(run_folder_reader.RunFolder, "open", staticmethod(lambda _: Folder(pl.DataFrame(columns))))
    with pytest.raises(InputError):
        read_observations(tmp_path)


def test_requests_of_a_run_folder_are_in_order_of_their_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its records are in order of their ends."""
    frame = pl.DataFrame({"intended_s": [1.0, 0.0], "done_s": [1.5, 2.0], "failure": [0, 1]})
    monkeypatch.setattr(run_folder_reader, "run_folders", lambda paths: paths)
    monkeypatch.setattr(run_folder_reader.RunFolder, "open", staticmethod(lambda _: Folder(frame)))
    requests = read_observations(tmp_path)[0].requests
    assert requests is not None
    assert (requests.start_s.tolist(), requests.response_s.tolist()) == ([0.0, 1.0], [2.0, 0.5])
    assert requests.ok.tolist() == [False, True]


def test_many_empty_lines_take_no_longer_than_others(tmp_path: Path) -> None:
    """Each was looked at from each before it: two thousand million steps."""
    with pytest.raises(InputError, match="none of the known formats"):
        read_observations(written(tmp_path, "x" + "\n" * 60_000))
