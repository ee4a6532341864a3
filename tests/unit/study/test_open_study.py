"""The folder of a study: two at once in it, of which the second is told so and changes nothing, and a disk without room for it."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sojourn.errors import Busy, StorageFull
from sojourn.study.study_folder import open_study

PLAN: Any = SimpleNamespace(
    study=SimpleNamespace(name="test", model_dump=lambda: {"name": "test"}), fingerprint="0", of_runs="1"
)
HOLDS = """
import sys, types
from pathlib import Path
from sojourn.study.study_folder import open_study
plan = types.SimpleNamespace(study=types.SimpleNamespace(name="test", model_dump=lambda: {"name": "test"}), fingerprint="0", of_runs="1")
with open_study(Path(sys.argv[1]), plan, print):
    print("held", flush=True)
    sys.stdin.read()
"""


def opened(out: Path) -> None:
    with open_study(out, PLAN, lambda _: None):
        pass


def test_a_folder_in_which_a_study_runs_is_refused_until_it_ends(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(out)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert first.stdout and first.stdout.readline() == "held\n"
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        with pytest.raises(
            Busy, match=r"out: a study is running in it; wait for it or stop it, or choose another --out"
        ):
            opened(out)
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before
        opened(tmp_path / "other")
    finally:
        first.kill()  # as one that cannot put anything back
        first.communicate()
    opened(out)
    opened(out)


def test_a_disk_without_room_is_nobodys_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("sojourn.study.study_folder.write_whole", full)
    with pytest.raises(StorageFull, match=r"out: No space left on device; free space") as raised:
        opened(tmp_path / "out")
    assert raised.value.exit_code == 1
