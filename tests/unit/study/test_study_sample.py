"""A section that fills ranges with a sample."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from small_study import mistaken

from sojourn.study.checked_study import read_plan
from sojourn.study.file_schema import StudySection
from sojourn.study.study_points import sampled

STUDY = """
name = "sample"
[system]
kind = "virtual"
model = "model.toml"
factors = { workers = "stations.cpu.servers" }
[[section]]
name = "spread"
sample = 8
ranges = { rate_per_s = { low = 1.0, high = 256.0 }, workers = [1, 2] }
"""
MODEL = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 30.0
[demands_s]
cpu = { user = 0.001 }
"""


def test_each_slice_of_every_range_has_a_point() -> None:
    part = StudySection(name="spread", sample=8, ranges={"workers": [1, 2], "rate_per_s": {"low": 1.0, "high": 256.0}})
    points = sampled(part)
    assert [p["workers"] for p in points].count(1) == 4
    assert sorted(int(math.log2(p["rate_per_s"])) for p in points) == list(range(8)), (
        "eight doublings, one point in each"
    )
    assert points == sampled(part), "the same in every study"


def file_of(folder: Path, text: str) -> Path:
    (folder / "model.toml").write_text(MODEL)
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


def test_a_study_runs_the_sample_with_each_combination(tmp_path: Path) -> None:
    alone = read_plan(file_of(tmp_path, STUDY)).measured
    assert len(alone) == 8 and {p.factors["workers"] for p in alone} == {1, 2}
    text = STUDY.replace(", workers = [1, 2]", "") + "vary = { workers = [1, 2, 3] }\n"
    assert len(read_plan(file_of(tmp_path, text)).measured) == 24


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("sample = 8\n", "", "sample and ranges; give both"),
        ("workers = [1, 2]", "workers = 2", "ranges.workers = 2"),
        ("sample = 8", "sample = 8\nset = { workers = 2 }", "workers in both"),
        ("low = 1.0", "low = 0", "0 < low < high"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = STUDY.replace(old, new)
    assert text != STUDY and said in mistaken(file_of(tmp_path, STUDY), text, read_plan)
