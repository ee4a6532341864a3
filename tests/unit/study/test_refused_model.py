"""A model that is refused after the runs were made: the runs are kept for the next one (issue 29, point 11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_engine_features import FREE, STUDY, TRUTH
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.errors import FitError, StudyError
from sojourn.study import run_study

ONE = STUDY.replace('["shop.toml", "wrong.toml"]', '"shop.toml"').replace("hold_out = { rate_per_s = [20.0] }\n", "")
# a further queue, of which the true model has none: its time wanders off to nothing, which is found after the runs
UNTOLD = FREE.replace("[stations.cpu]", "[stations.cpu]\n[stations.disk]").replace(
    "cpu = { user = { free = true } }",
    "cpu = { user = { free = true, start = 0.015 } }\ndisk = { user = { free = true, start = 0.001 } }",
)
# two queues that are alike: which of them has which time, no response time tells
ALIKE = UNTOLD.replace(", start = 0.015", "").replace(", start = 0.001", "")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {"truth": TRUTH, "shop": UNTOLD, "study": ONE}.items():
        (tmp_path / f"{name}.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("out", [None, Path("out")])
def test_the_next_model_is_fitted_to_the_runs_that_are_there(folder: Path, out: Path | None) -> None:
    said: list[str] = []
    with pytest.raises(FitError):
        run_study(folder / "study.toml", out=out, say=said.append)
    assert sum(text.startswith("run ") for text in said) == 4
    ends = {path: path.stat().st_mtime_ns for path in folder.rglob("requests.parquet")}
    (folder / "shop.toml").write_text(FREE)
    (folder / "study.toml").write_text(ONE.replace("[10, 20, 30, 40]", "[10, 20, 25, 40]"))
    said.clear()
    found = run_study(folder / "study.toml", out=out, say=said.append)
    assert "3 of 4 runs already exist" in said and any("has changed" in text for text in said)
    assert sum(text.startswith("run ") for text in said) == 1 and len(found.findings.runs) == 4
    assert ends.items() <= {path: path.stat().st_mtime_ns for path in folder.rglob("requests.parquet")}.items()
    assert found.findings.rivals.fitted["shop"].estimates["demands_s.cpu.user"].low < 0.021


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("study", ONE.replace('for = "200s"', 'for = "100s"')),
        ("study", ONE.replace('for = "200s"', 'for = "200s"\nseed = 7')),
        ("truth", TRUTH.replace("0.02", "0.03")),
    ],
)
def test_another_load_or_system_is_another_study(folder: Path, name: str, text: str) -> None:
    with pytest.raises(FitError):
        run_study(folder / "study.toml", out=Path("out"), say=lambda _: None)
    (folder / f"{name}.toml").write_text(text)
    with pytest.raises(StudyError, match="it holds another study"):
        run_study(folder / "study.toml", out=Path("out"), say=lambda _: None)


def test_check_judges_the_file_and_its_models_and_runs_nothing(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    good = CliRunner().invoke(command_line(["study"]), ["study", str(folder / "study.toml"), "--check-only"])
    assert good.exit_code == 0 and "ramp: 4 runs measured" in good.output
    assert "shop.toml: 2 unknowns (demands_s.cpu.user, demands_s.disk.user)" in " ".join(good.output.split())
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (FREE + '[observed]\ncpu = "nothing"\n', "the system has no resource 'nothing'"),
        (ALIKE, "the planned runs would not determine demands_s.cpu.user and demands_s.disk.user separately"),
        (FREE + "[visits.cpu]\nuser = { free = true, start = 2.0 }\n", "demands_s.cpu.user and visits.cpu.user"),
        (
            FREE.replace(
                "[stations.cpu]", "[stations.cpu]\nserver_schedule = [[0, 1], [5, 2]]\nschedule_period_s = 10"
            ),
            "schedule",
        ),
    ],
)
def test_check_refuses_what_the_study_would_refuse(folder: Path, text: str, told: str) -> None:
    """Also a model that no method answers."""
    (folder / "shop.toml").write_text(text)
    for options in (["--check-only"], []):
        bad = CliRunner().invoke(command_line(["study"]), ["study", str(folder / "study.toml"), *options])
        assert isinstance(bad.exception, StudyError) and told in str(bad.exception)
        assert not (folder / "runs").exists()
