"""Temporary folders of a process that was killed are removed by the next start; those of living ones and of strangers are not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sojourn.cli.lab import clean
from sojourn.lab.guest import PREFIX as GUEST
from sojourn.lab.owned_folder import make_owned_folder, owned_folder, remove_stale_folders, stale_folders

PREFIX = "sojourn-test-"
KILLED = f"""
import os
from sojourn.cli.lab import clean
from sojourn.lab.guest import PREFIX as GUEST
from sojourn.lab.owned_folder import make_owned_folder
print(make_owned_folder({PREFIX!r}), flush=True)
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_process_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True)
    left = Path(done.stdout.strip())
    assert done.returncode == -9 and left.is_dir(), done.stderr
    mine, stranger = make_owned_folder(PREFIX), tmp_path / f"{PREFIX}stranger"
    stranger.mkdir()
    assert list(stale_folders(PREFIX)) == [left]
    with owned_folder(PREFIX) as made:
        assert made.is_dir() and not left.exists() and mine.is_dir() and stranger.is_dir()
    assert not made.exists()


def test_an_owner_whose_start_was_not_known_is_gone_if_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    ended = subprocess.Popen(["true"])
    ended.wait()
    left = make_owned_folder(PREFIX)
    (left / "owner.json").write_text(json.dumps({"pid": ended.pid, "started": None}))
    assert list(stale_folders(PREFIX)) == [left]


def test_lab_clean_removes_the_folders_of_killed_guests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("sojourn.lab.cleanup_registry.clean_stale", list)
    killed = KILLED.replace(PREFIX, GUEST)
    left = Path(subprocess.run([sys.executable, "-c", killed], capture_output=True, text=True).stdout.strip())
    mine = make_owned_folder(GUEST)
    assert left.is_dir() and remove_stale_folders(PREFIX) == []
    clean()
    assert not left.exists() and mine.is_dir() and left.name in capsys.readouterr().out.replace("\n", "")
