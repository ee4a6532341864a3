"""`sojourn try` as somebody without a service types it: one screen, in a minute and a half, and nothing left but a folder."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from machine import Command

from sojourn.trial.trial import RUN_S

pytestmark = pytest.mark.live

RUNS, SHORT_S = 6, 3.0
SHORTER = f"""
from functools import partial
import sojourn.trial as of
of.trial = partial(of.trial, run_s={SHORT_S})
"""


@pytest.mark.alone
def test_predictions_are_written_before_they_are_run(tmp_path: Path) -> None:
    """Its runs are shorter here; in their own length it would have taken no longer than a minute and a half."""
    since = time.monotonic()
    command = Command(tmp_path, "try", "--out", "out", first=SHORTER)
    code = command.end(120)
    assert code in (0, 3), command.said()
    assert time.monotonic() - since + RUNS * (RUN_S - SHORT_S) < 90
    written = (tmp_path / "out/predictions.json").stat().st_mtime
    assert all(path.stat().st_mtime < written for path in (tmp_path / "out/runs").glob("*/manifest.json"))
    checks = list((tmp_path / "out/checks").glob("*/*/latency.hlog"))
    assert len(checks) == 2 and min(path.stat().st_mtime for path in checks) > written
    lines = command.answered().splitlines()
    assert len(lines) < 24 and lines[-1].endswith("sojourn capacity http://127.0.0.1:8080/ --objective 'p99 < 50ms'")
    assert "all files are in out" in lines[-2] and command.left() == []
    rows = json.loads((tmp_path / "out/predictions.json").read_text())["rows"]
    assert [(row["workers"], row["rate_per_s"]) for row in rows] == [(2, 190.0), (4, 300.0)]


def test_interrupted_it_leaves_its_runs_and_no_process(tmp_path: Path) -> None:
    command = Command(tmp_path, "try", "--out", "out")
    command.wait_for(lambda: list((tmp_path / "out").glob("runs/*/requests.rec")))
    time.sleep(0.5)
    assert command.interrupt() == 130 and "interrupted; measured data is kept" in command.said()
    assert command.left() == []
    (run,) = (tmp_path / "out/runs").glob("*/manifest.json")
    assert json.loads(run.read_text())["status"] == "cut off"
