"""Whatever differs has a folder or a file of its own."""

from __future__ import annotations

from typing import Any

import pytest

from sojourn.measure.measure import levels
from sojourn.study.fit_templates import RivalModels
from sojourn.study.predictions import _files
from sojourn.study.system import Point


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Point("a b", {"x": 1}), Point("a_b", {"x": 1})),
        (Point("a", {"x": "b c"}), Point("a", {"x": "b_c"})),
        (Point("a" * 120, {"x": 1}), Point("a" * 120, {"x": 2})),
        (Point("a", {"x": 0.1}), Point("a", {"x": 0.1 + 1e-14})),
        (Point("a", {"x": 1234567.0}), Point("a", {"x": 1234568.0})),
        (Point("spread", {"x": 1}), Point("not-spread", {"x": 1})),
    ],
)
def test_points_that_differ_have_folders_that_differ(one: Point, other: Point) -> None:
    assert one.name != other.name
    assert one.name == Point(one.section, dict(one.factors), one.repetition).name


def test_rivals_whose_names_are_alike_on_disk_have_files_of_their_own() -> None:
    names = ("M/M/1", "m-m-1", "M M 1", "best")
    fitted: dict[str, Any] = dict.fromkeys(names)
    files = _files(RivalModels(fitted, "best"))
    assert list(files) == list(names) and len(set(files.values())) == len(names)
    assert files["best"] == "fitted.toml" and files["M/M/1"] == "fitted-m-m-1.toml"


def test_levels_that_differ_in_the_seventh_digit_are_two_runs() -> None:
    assert set(levels([1234567.0, 1234568.0], ())) == {"rate-1234567", "rate-1234568"}
    assert set(levels((), [1234567, 1234568])) == {"users-1234567", "users-1234568"}
