"""A system of a user's own: the second class of docs/howto/add-a-study.md, and what is checked before a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from sojourn.runs.resources import MeasuredResource
from sojourn.study.kinds.call_system import CallLoad, CallOptions, CallSystem

PAGE = Path(__file__).resolve().parents[3] / "docs/howto/add-a-study.md"


def made(kind: type[CallSystem]) -> CallSystem:
    return kind(CallOptions(kind="x.py:X"), CallLoad(rate_per_s=5.0), Path())


def test_the_page_watches_a_program_of_its_own() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(blocks[-1], "page", "exec"), names)
    system = made(names["Echo"])
    values = system.settled({}, "x")
    assert values == {"line_bytes": 1000, "rate_per_s": 5.0}
    with pytest.raises(AttributeError):
        system.watched(values)  # as the page says: before a run nobody knows the process
    with system.start(values) as call:
        call()
        program = vars(system)["program"]
        assert system.watched(values) == {"cat": MeasuredResource(1.0, pids=(program.pid,))}
    assert program.returncode == 0


def test_by_default_this_process_is_watched_on_all_its_cores() -> None:
    resource = made(CallSystem).resources["cpu"]
    assert resource is not None and len(resource.pids) == 1 and resource.capacity >= 1
