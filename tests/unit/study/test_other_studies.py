"""Studies that a study file names beside itself: `--only-parts` takes them like its own parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import written

from sojourn.errors import StudyError
from sojourn.study import run_study
from sojourn.study.checked_study import read_plan

MODEL = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 30.0
[demands_s]
cpu = { user = 0.02 }
"""
STUDY = """
name = "{name}"
[system]
kind = "virtual"
model = "model.toml"
[load]
for = "20s"
[[section]]
name = "{section}"
vary = {{ rate_per_s = [10] }}
"""
OURS = Path(__file__).parents[3] / "studies/ntier"


def files(folder: Path, other: str = "") -> Path:
    (folder / "model.toml").write_text(MODEL)
    (folder / "disk.toml").write_text(other or STUDY.format(name="shop-disk", section="writes"))
    return written(folder, STUDY.format(name="shop", section="ramp") + '[studies]\nslow = "disk.toml"\n')


def test_only_takes_another_study_by_its_name_and_without_it_only_its_own_parts(tmp_path: Path) -> None:
    file = files(tmp_path)
    both = run_study(file, out=tmp_path / "both", only_parts=("slow", "ramp"), say=lambda _: None)
    assert [one.folder for one in (both, *both.others)] == [tmp_path / "both", tmp_path / "both/slow"]
    assert [run.manifest["section"] for one in (both, *both.others) for run in one.findings.runs] == ["ramp", "writes"]
    alone = run_study(file, out=tmp_path / "alone", only_parts=("slow",), say=lambda _: None)
    assert alone.folder == tmp_path / "alone" and [run.manifest["section"] for run in alone.findings.runs] == ["writes"]
    usual = run_study(file, out=tmp_path / "usual", say=lambda _: None)
    assert usual.others == () and [run.manifest["section"] for run in usual.findings.runs] == ["ramp"]


def test_mistakes_are_found_before_anything_runs(tmp_path: Path) -> None:
    wrong = STUDY.format(name="shop-disk", section="writes").replace("rate_per_s", "rate")
    with pytest.raises(StudyError, match="disk.toml"):
        run_study(files(tmp_path, wrong), out=tmp_path / "out", only_parts=("ramp", "slow"), say=lambda _: None)
    assert not (tmp_path / "out").exists()
    with pytest.raises(StudyError, match="'slwo'; did you mean slow"):
        read_plan(files(tmp_path), only=("slwo",))
    file = files(tmp_path)
    file.write_text(file.read_text().replace("slow =", "ramp ="))
    with pytest.raises(StudyError, match="a name that no part of this study uses"):
        read_plan(file)


def test_the_study_of_the_site_knows_all_parts_by_name() -> None:
    plan = read_plan(OURS, quick=True, only=("scaleup", "mapping", "iomix", "demands", "blind"))
    assert {"mapping", "drawn mixes", "one core", "two cores", "ntier.demands"} <= set(plan.parts)
    own = read_plan(OURS / plan.study.studies["iomix"], quick=True)
    assert {point.section for point in own.measured} == {"steady", "strategies"}
