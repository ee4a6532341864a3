"""Workers of the workbench: too slow, ended, out of memory."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from ui_folder import work_folder

pytest.importorskip("starlette")

from sojourn.ui.work_folder import WorkFolder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return work_folder(tmp_path / "work")


def test_what_takes_too_long_is_ended_and_said(folder: Path) -> None:
    from sojourn.ui.workbench import Workbench

    it = Workbench(WorkFolder(folder), longest_s=1.5)

    async def asked() -> Any:
        import time

        return await it.computed(time.sleep, 30.0)

    import anyio

    answer = anyio.run(asked)
    assert answer.status_code == 503 and "no answer within" in json.loads(answer.body)["error"]["value"]


@pytest.mark.parametrize(
    ("ends", "status", "said"), [((os._exit, 3), 503, "was ended"), ((bytes, 1 << 40), 422, "MemoryError")]
)
def test_a_process_that_ends_or_has_no_memory_is_said(
    folder: Path, ends: tuple[Any, int], status: int, said: str
) -> None:
    import anyio

    from sojourn.ui.workbench import Workbench

    answer = anyio.run(Workbench(WorkFolder(folder)).computed, *ends)
    assert answer.status_code == status and said in json.loads(answer.body)["error"]["value"]
