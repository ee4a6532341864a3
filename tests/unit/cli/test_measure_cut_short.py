"""A service that ends between two levels: the table of what was finished comes before the error (issue 29, point 16)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_new_user import run_at, sojourn

import sojourn.measure as package
from sojourn.errors import ServiceError


@pytest.mark.parametrize("as_json", [False, True])
def test_what_was_finished_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    def dies(urls: Any, out: Path, **_: Any) -> None:
        run_at(out, 60)
        raise ServiceError("nothing listens at 127.0.0.1:1", "load", "start the service or check the port")

    monkeypatch.setattr(package, "measure", dies)
    options = ["--json"] if as_json else []
    told = sojourn("measure", "http://127.0.0.1:1/", "--rate", "60,120", "--out", tmp_path / "runs", *options)
    assert isinstance(told.exception, ServiceError)
    if as_json:
        assert [one["name"] for one in json.loads(told.output)["runs"]] == ["runs"]
    else:
        assert "rate-60" in told.output and "rate-120" not in told.output and "run folders in" in told.output


def test_where_nothing_was_finished_there_is_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: Any, **__: Any) -> None:
        raise ServiceError("nothing listens at 127.0.0.1:1", "load", "start the service or check the port")

    monkeypatch.setattr(package, "measure", dies)
    told = sojourn("measure", "http://127.0.0.1:1/", "--rate", "60,120", "--out", tmp_path / "runs")
    assert isinstance(told.exception, ServiceError) and told.output == ""
