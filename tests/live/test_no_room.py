"""A disk that fills up while a run is recorded: the error names the disk, and the run is never taken for a whole one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from machine import Command

from sojourn.runs.run_folder import RunFolder

pytestmark = [
    pytest.mark.live,
    pytest.mark.lab,
    pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare (util-linux)"),
]

# In a mount namespace of its own, so that the small disk is gone with it; what was on it is copied out first.
ON_A_SMALL_DISK = (
    'mount -t tmpfs -o size="$1" none "$2" || exit 99; shift 2; "$@"; code=$?; cp -r small/. kept/; exit $code'
)


def on_a_small_disk(folder: Path, size: str, *arguments: str) -> Command:
    for name in ("small", "kept"):
        (folder / name).mkdir()
    before = ("unshare", "-m", "sh", "-c", ON_A_SMALL_DISK, "sh", size, str(folder / "small"))
    return Command(folder, *arguments, "--out", "small/run", before=before)


@pytest.mark.parametrize(("size", "rate"), [("56k", "20"), ("120k", "400")], ids=["the host's records", "the requests"])
def test_a_disk_that_fills_up(tmp_path: Path, service: str, size: str, rate: str) -> None:
    command = on_a_small_disk(tmp_path, size, "load", f"{service}/ok", "--rate", rate, "--duration", "5s")
    assert command.end() == 1, command.said()
    ours = [line for line in command.said().splitlines() if line.startswith("sojourn: ")]
    assert len(ours) == 1 and "Traceback" not in command.said(), command.said()
    assert "No space left on device" in ours[0] and "small/run" in ours[0] and "free space" in ours[0]
    assert command.left() == []
    run = tmp_path / "kept/run"
    if (run / "manifest.json").exists():
        assert json.loads((run / "manifest.json").read_text())["status"] != "complete"
        assert RunFolder.open(run).manifest["status"] == "cut off"


def test_a_disk_that_is_full_from_the_start(tmp_path: Path, service: str) -> None:
    command = on_a_small_disk(tmp_path, "4k", "load", f"{service}/ok", "--rate", "20", "--duration", "1s")
    assert command.end() == 1, command.said()
    assert "No space left on device" in command.said() and "Traceback" not in command.said()
    assert list((tmp_path / "kept").iterdir()) == [] and command.left() == []
