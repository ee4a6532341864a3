"""Requests to each server for a request of a client, on manifests made up by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sojourn.runs.run_folder import RunFolder
from sojourn_cases.kv.server_load import server_figures


def run(path: Path, keys: int, sharded: bool, each: list[list[int]], answered: list[int], **more: Any) -> RunFolder:
    """`each`: requests by middleware and server; `answered`: by middleware."""
    factors = {"design": "staged", "servers": 3, "workload": f"multi-{keys}", "sharded": sharded}
    ends = [
        {"completions": done, "servers": [{"requests": n} for n in counts]}
        for counts, done in zip(each, answered, strict=True)
    ]
    return RunFolder.create(path, {"valid": True, "factors": factors, "service": {"middlewares": ends}, **more})


def test_a_split_get_makes_a_request_to_each_server(tmp_path: Path) -> None:
    """Two middlewares answer 300 and 600 gets: whole, each server has 100 and 200 of them; split, all of them."""
    whole = run(tmp_path / "1", 9, False, [[100] * 3, [200] * 3], [300, 600])
    again = run(tmp_path / "2", 9, False, [[130, 80, 90], [200] * 3], [300, 600])
    split = run(tmp_path / "3", 9, True, [[300] * 3, [600] * 3], [300, 600])
    one = run(tmp_path / "4", 1, False, [[5, 5, 5]], [15])
    between = run(tmp_path / "5", 3, False, [[5, 5, 5]], [15])
    wrong = run(tmp_path / "6", 12, False, [[5, 5, 5]], [15], valid=False)
    few, many = server_figures([whole, again, split, one, between, wrong])
    assert few.title == "staged, gets of 1 key: requests to each server"
    assert many.title == "staged, gets of 9 keys: requests to each server" and many.x_names == ("1", "2", "3")
    bars = {series.name: series for series in many.series}
    assert bars["split"].y == (1.0, 1.0, 1.0) and bars["split"].low is None
    assert bars["whole"].y == pytest.approx(((300 / 900 + 330 / 900) / 2, (300 + 280) / 1800, (300 + 290) / 1800))
    assert bars["whole"].low == pytest.approx((300 / 900, 280 / 900, 290 / 900))


def test_without_what_the_middlewares_said_there_is_no_figure(tmp_path: Path) -> None:
    assert not list(server_figures([run(tmp_path / "1", 9, False, [], [])]))
