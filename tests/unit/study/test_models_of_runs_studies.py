"""A study whose runs need different models (`[where]`), compared with another that is not averaged with them (`[fit] against`)."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_engine_features import FREE, STUDY, TRUTH, done

from sojourn.errors import StudyError
from sojourn.fit import FittedModel
from sojourn.study import StudyResult

ONE = FREE + "\n[where]\nworkers = 1\n"
TWO = (
    TRUTH.replace("0.02", "{ free = true }").replace("[stations.cpu]", "[stations.cpu]\nservers = 2")
    + "\n[where]\nworkers = 2\n"
)
TEXT = (
    STUDY.replace(
        "vary = { rate_per_s = [10, 20, 30, 40] }", "vary = { rate_per_s = [10, 20, 30, 40], workers = [1, 2] }"
    )
    .replace('model = ["shop.toml", "wrong.toml"]', 'model = ["one.toml", "two.toml"]\nagainst = "shop.toml"')
    .replace("hold_out = { rate_per_s = [20.0] }", "hold_out = { rate_per_s = [30.0] }")
) + '\n[[predict]]\nname = "later"\nvary = { rate_per_s = [35], workers = [1, 2] }\n'


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    folder = tmp_path_factory.mktemp("study")
    (folder / "one.toml").write_text(ONE)
    (folder / "two.toml").write_text(TWO)
    return done(folder, TEXT)


def test_each_configuration_is_predicted_by_the_model_that_is_of_it(result: StudyResult) -> None:
    found = result.findings
    assert found.rivals is not None and found.rivals.best == "model files"
    assert set(found.rivals.fitted) == {"model files", "shop"}, "the other is beside them, and not averaged"
    fitted = FittedModel.read(result.folder / "fitted.toml")
    assert [one.model.where for one in (fitted, *fitted.models_of_other_runs)] == [{"workers": 1}, {"workers": 2}]
    for one in (fitted, *fitted.models_of_other_runs):
        assert one.estimates["demands_s.cpu.user"].value == pytest.approx(0.02, rel=0.05)
    rows = found.blind.filter(model="model files", metric="response_time")
    # M/M/1 and M/M/2 at 35/s of 20 ms: 1/(50 - 35), and 0.02/(1 - 0.35²)
    by_workers = {1: 1 / 15, 2: 0.02 / (1 - 0.35**2)}
    for row in rows.iter_rows(named=True):
        workers = 2 if "workers=2" in row["run"] else 1
        assert row["predicted"] == pytest.approx(by_workers[workers], rel=0.1)
    assert rows.height == 2


def test_a_fit_of_an_earlier_version_is_read(result: StudyResult, tmp_path: Path) -> None:
    text = (result.folder / "fitted.toml").read_text()
    former = text.replace("models_of_other_runs", "elsewhere")
    assert former != text
    (tmp_path / "fitted.toml").write_text(former)
    assert [one.model.where for one in FittedModel.read(tmp_path / "fitted.toml").models_of_other_runs] == [
        {"workers": 2}
    ]


def test_verdict_and_report_have_every_model(result: StudyResult) -> None:
    text = "\n".join(result.verdict)
    assert "one: fitted, intervals at" in text and "two: fitted, intervals at" in text
    assert "one: best of" not in text, "it has no rival"
    assert any(line.startswith("blind error") and "shop" in line for line in result.verdict)
    page = result.report.read_text()
    for words in ("Values found: one", "Values found: two", "Values found: shop"):
        assert words in page


def test_two_files_that_could_be_of_the_same_run_are_refused_before_any(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(ONE)
    (tmp_path / "two.toml").write_text(FREE)
    with pytest.raises(StudyError, match="some runs may belong to both"):
        done(tmp_path, TEXT)
    assert not (tmp_path / "out/runs").exists()
