"""A search that goes on with runs that are there takes them as long as they were."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sojourn.capacity import LightLoad, capacity
from sojourn.errors import InputError
from sojourn.runs.run_folder import RunFolder


class EnoughError(Exception):
    """No more of the search is needed."""


@pytest.mark.parametrize("text", ["p99 > 50ms", "rate > 100/s"])
def test_the_objective_is_checked_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    module = import_module("sojourn.capacity.capacity")
    monkeypatch.setattr(module, "measure", lambda *_, **__: pytest.fail("something was sent"))
    with pytest.raises(InputError, match="give an upper limit of mean, p99 or errors"):
        capacity("http://127.0.0.1:1/", text, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_run_of_another_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    RunFolder.create(tmp_path / "runs/rate-100", {"name": "rate-100", "load": {"duration_s": 7.0}})
    asked = []

    def measure(_urls: list[str], _where: Path, **load: Any) -> list[str]:
        asked.append((load["rates_per_s"], load["duration_s"]))
        return ["a run"]

    def search(run: Any, *_given: Any, **_more: Any) -> None:
        run(100.0, 4.0)
        run(200.0, 4.04)
        raise EnoughError

    module = import_module("sojourn.capacity.capacity")  # the package has the function by that name
    monkeypatch.setattr(module, "measure", measure)
    monkeypatch.setattr(module, "light_load", lambda *_: LightLoad(500, 1e-3))
    monkeypatch.setattr(module, "search", search)
    with pytest.raises(EnoughError):
        capacity("http://127.0.0.1:1/", "p99 < 5ms", out=tmp_path)
    assert asked == [([100.0], 7.0), ([200.0], 4.0)]
