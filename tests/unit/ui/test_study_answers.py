"""How far a study is, from what lies in its folder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

import pytest
from ui_folder import run_folder, study

from sojourn.errors import InputError
from sojourn.ui.study_answers import looked, progress
from sojourn.ui.work_folder import WorkFolder


def told_of(where: Path) -> dict[str, Any]:
    folder = WorkFolder(where)
    return progress(str(folder.study("shop-1")), folder.runs_of_study("shop-1"))


def test_what_is_there_and_what_is_predicted(tmp_path: Path) -> None:
    study(tmp_path)
    told = told_of(tmp_path)
    assert (told["name"], told["planned"], told["complete"], told["invalid"]) == ("shop", 4, 2, 0)
    assert told["live"] is False and told["finished"] is False and told["left_s"] is None
    first, second = told["predictions"]
    assert first["measured"] == pytest.approx(0.01 / (1 - 0.4)) and first["high"] is None
    assert second["measured"] is None and second["value"] == 0.024 and told["not_yet_run"] == 1
    assert first["judged"] == "inside (no upper limit)" and second["judged"] == "–"
    assert told["count"] == {"asked": 1, "judged": 1, "inside": 1, "open_above": 1}


def test_a_run_that_is_not_valid_is_not_judged_and_not_counted(tmp_path: Path) -> None:
    """25 ms at 60/s (M/M/1, 0.01 s) beside 24 ms predicted would be inside."""
    run_folder(study(tmp_path) / "runs/rate-60", 60.0, section="sweep", valid=False, reasons=["not stationary"])
    told = told_of(tmp_path)
    assert told["count"] == {"asked": 2, "judged": 1, "inside": 1, "open_above": 1}
    assert told["predictions"][1]["judged"] == "not judged: the run is not valid"
    assert told["counted"].startswith("1 of 2 predicted values could be checked, 1 inside the 90 % intervals")


def test_a_study_that_runs_has_its_folder_locked_and_a_time_left(tmp_path: Path) -> None:
    folder = os.open(study(tmp_path), os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        told = told_of(tmp_path)
        # two runs of 15 s on average, and 5 s between them
        assert told["live"] is True and told["left_s"] == pytest.approx(2 * (15.0 + 5.0))
    finally:
        os.close(folder)


def test_looking_takes_no_lock_away(tmp_path: Path) -> None:
    where = study(tmp_path)
    told_of(tmp_path)
    folder = os.open(where, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(folder)


def test_a_finished_study_has_its_verdict(tmp_path: Path) -> None:
    study(tmp_path, finished=True, verdict=["4 of 4 inside", 5])
    told = told_of(tmp_path)
    assert told["finished"] and told["verdict"] == ["4 of 4 inside", ""] and told["live"] is False


@pytest.mark.parametrize("name", ["runs", "study.json", "predictions.json", "runs/rate-20"])
def test_nothing_outside_is_looked_at(tmp_path: Path, name: str) -> None:
    where = study(tmp_path / "work")
    outside = study(tmp_path / "other")
    taken = where / name
    taken.rename(tmp_path / "taken")
    taken.symlink_to(outside / name)
    folder = WorkFolder(tmp_path / "work")
    if name == "runs/rate-20":
        assert list(folder.runs_of_study("shop-1")) == ["shop-1/runs/rate-40"]
        return
    with pytest.raises(InputError, match="outside the folder"):
        folder.study("shop-1"), folder.runs_of_study("shop-1")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"plan": 5}', '{"planned": "x", "verdict": {}}', '{"planned": -1}', '{"plan": {"name": {}}}'],
)
def test_a_state_that_is_none_is_no_end_of_the_workbench(tmp_path: Path, text: str) -> None:
    where = study(tmp_path)
    (where / "study.json").write_text(text)
    told = looked(str(where), {})
    assert told["live"] is False and ("error" in told or told["planned"] is None)
