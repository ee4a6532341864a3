"""A run as it grows: what each look brings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ui_folder import line

from sojourn.errors import RunFolderError
from sojourn.ui.live_run import LiveRun


@pytest.fixture
def run(tmp_path: Path) -> Path:
    manifest = {
        "format": "sojourn-run",
        "version": 1,
        "status": "running",
        "load": {"duration_s": 20.0},
        "factors": {"rate_per_s": 4.0},
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


def sample(at: float, *busy: float) -> str:
    cpu = {str(k): {"user": share, "idle": at - share, "system": 0.0} for k, share in enumerate(busy)}
    return json.dumps({"t_s": at, "cpu": cpu}) + "\n"


def test_each_look_has_the_seconds_since_the_last(run: Path) -> None:
    live = LiveRun(run)
    assert live.look()["seconds"] == []
    log = run / "latency.hlog"
    log.write_text("#[a comment]\n" + line(0, [10, 10, 20, 40]) + line(1, [10, 10]))
    first, second = live.look()["seconds"]
    assert first["throughput_per_s"] == 4 and second["throughput_per_s"] == 2 and first["at_s"] == 0
    assert first["p50_s"] == pytest.approx(0.010, abs=7e-5) and first["p99_s"] == pytest.approx(0.040, abs=7e-5)
    whole = line(2, [30] * 94)
    with log.open("a") as file:
        file.write(whole[:40])
    assert live.look()["seconds"] == []  # half a line waits
    with log.open("a") as file:
        file.write(whole[40:])
    told = live.look()
    assert [one["at_s"] for one in told["seconds"]] == [2] and told["sofar"]["requests"] == 100
    assert told["sofar"]["p50_s"] == pytest.approx(0.030, abs=7e-5)
    assert told["duration_s"] == 20 and told["live"] is False  # nobody records it


def test_cores_are_busy_by_what_grew_between_two_looks(run: Path) -> None:
    live, samples = LiveRun(run), run / "host.ndjson"
    samples.write_text(json.dumps({"format": "sojourn-host"}) + "\n" + sample(10.0, 1.0, 2.0))
    assert live.look()["cores"] == {}
    with samples.open("a") as file:
        file.write(sample(11.0, 1.1, 2.2) + sample(12.0, 1.5, 4.0))
    assert live.look()["cores"] == pytest.approx({"0": 0.25, "1": 1.0})  # 0.5 of 2 s, 2 of 2 s


def test_what_is_no_log_is_said(run: Path) -> None:
    (run / "latency.hlog").write_text("0,1,1,no histogram\n")
    with pytest.raises(RunFolderError, match=r"latency.hlog:1"):
        LiveRun(run).look()


@pytest.mark.parametrize("text", ["{}", '{"cpu": 3}', '{"t_s": 1, "cpu": {"0": 5}}', "[]", "nonsense"])
def test_samples_that_are_none_are_left_out(run: Path, text: str) -> None:
    live = LiveRun(run)
    (run / "host.ndjson").write_text(sample(1.0, 0.5))
    live.look()
    with (run / "host.ndjson").open("a") as file:
        file.write(text + "\n")
    assert live.look()["cores"] == {}
