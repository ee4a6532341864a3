"""A study of a simulated system from its file to its report: what is known comes out, predictions are blind, mistakes are told."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from small_study import mistaken

from sojourn.errors import RunFolderError, StudyError
from sojourn.study import run_study
from sojourn.study.checked_study import StudyFile, read_plan
from sojourn.study.study_findings import StudyFindings
from sojourn.study.study_report import study_document

TRUTH = """
[stations.cpu]
[stations.disk]
[classes.user]
kind = "open"
rate_per_s = 30.0
[demands_s]
cpu = { user = 0.02 }
disk = { user = 0.01 }
"""
MODEL = (
    TRUTH.replace("0.02", "{ free = true }").replace("0.01", "{ free = true }")
    + """
[factors]
workers = "stations.cpu.servers"
"""
)
STUDY = """
name = "shop"
[system]
kind = "virtual"
model = "truth.toml"
factors = { workers = "stations.cpu.servers" }
[load]
for = "200s"
[[section]]
name = "ramp"
vary = { rate_per_s = "10..30:10", workers = [1, 2] }
repetitions = 2
[fit]
model = "shop.toml"
[[predict]]
name = "four"
set = { workers = 4 }
vary = { rate_per_s = [40, 70, 120] }
x = "rate_per_s"
[quick]
for = "60s"
"""


def written(folder: Path, study: str = STUDY) -> Path:
    (folder / "truth.toml").write_text(TRUTH)
    (folder / "shop.toml").write_text(MODEL)
    (folder / "study.toml").write_text(study)
    return folder / "study.toml"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StudyFindings, list[str]]:
    folder = tmp_path_factory.mktemp("study")
    result = run_study(written(folder), out=folder / "out", say=lambda _: None)
    return folder, result.findings, result.verdict


def test_known_demands_come_out(done: tuple[Path, StudyFindings, list[str]]) -> None:
    fitted = done[1].fitted
    assert fitted is not None
    assert fitted.estimates["demands_s.cpu.user"].value == pytest.approx(0.02, rel=0.03)
    assert fitted.estimates["demands_s.disk.user"].value == pytest.approx(0.01, rel=0.03)


def test_what_was_predicted_is_beside_what_was_measured(done: tuple[Path, StudyFindings, list[str]]) -> None:
    """The disk is full at 100/s: 120/s is predicted to saturate, and its run is not valid."""
    rows = done[1].blind.filter(done[1].blind["metric"] == "response_time")
    assert rows.height == 3 and rows["valid"].to_list().count(False) == 1
    saturated = rows.filter(~rows["valid"]).row(0, named=True)
    assert saturated["predicted"] is None and saturated["status"] == "unstable" and saturated["inside"] is None
    known = rows.filter(rows["valid"])
    assert known["error"].abs().max() < 0.15  # type: ignore[operator]
    assert known["inside"].null_count() == 0
    assert "2 of 3 predicted values could be checked, " in done[2][0]


def test_predictions_are_hashed_before_their_runs(done: tuple[Path, StudyFindings, list[str]]) -> None:
    out = done[0] / "out"
    sums = dict(line.split()[::-1] for line in (out / "predictions.sha256").read_text().splitlines())
    assert set(sums) == {"predictions.json", "fitted.toml"}
    assert all(hashlib.sha256((out / name).read_bytes()).hexdigest() == number for name, number in sums.items())
    stamps = [path.stat().st_mtime for path in (out / "runs").glob("four-*/manifest.json")]
    assert len(stamps) == 3 and (out / "predictions.sha256").stat().st_mtime <= min(stamps)


def test_report_and_tables_are_there(done: tuple[Path, StudyFindings, list[str]]) -> None:
    out = done[0] / "out"
    page = (out / "report.html").read_text()
    assert "<dd>2 of 2</dd>" in page or "<dd>1 of 2</dd>" in page
    assert page.index('class="numbers"') < page.index('class="headline"')
    assert "Predicted before it was run" in page and "What a request takes" in page and "demands_s.cpu.user" in page
    assert (out / "verdict.txt").read_text().splitlines() == done[2]
    assert (out / "validation.csv").read_text().startswith("section,run,valid,class,metric,predicted,low,high")


def test_response_times_are_drawn_predicted_against_measured(done: tuple[Path, StudyFindings, list[str]]) -> None:
    """The two predictions whose runs are valid."""
    document = study_document(done[1], read_plan(done[0] / "study.toml"), done[2])
    figure = dict(document.figures())["predicted-measured"]
    rows = done[1].blind.filter((done[1].blind["metric"] == "response_time") & done[1].blind["valid"])
    points, right = figure.series
    assert list(points.x) == pytest.approx((1e3 * rows["measured"]).to_list())
    assert list(points.y) == pytest.approx((1e3 * rows["predicted"]).to_list())
    assert list(right.x) == list(right.y) == pytest.approx(sorted(points.x))  # type: ignore[type-var]


def test_the_curve_of_a_prediction_is_what_was_written_before(done: tuple[Path, StudyFindings, list[str]]) -> None:
    """And not what the model says of the rate at which requests then came."""
    document = study_document(done[1], read_plan(done[0] / "study.toml"), done[2])
    figures = {one.id: one for _, one in document.figures()}
    measured, model = figures["four-response_time"].series
    told = json.loads((done[0] / "out/predictions.json").read_text())["configurations"]
    rows = {one["factors"]["rate_per_s"]: row for one in told if one["section"] == "four" for row in one["rows"]
            if (row["station"], row["class"], row["metric"]) == ("", "", "response_time")}  # fmt: skip
    for x, y, low, high in zip(model.x, model.y, model.low or (), model.high or (), strict=True):
        assert x is not None
        expected = [rows[x][key] for key in ("value", "low", "high")]
        assert [y, low, high] == [None if v is None else pytest.approx(1e3 * v) for v in expected]
    assert not measured.joined, "the model draws the curve"


def test_the_same_again_runs_nothing_and_says_the_same(done: tuple[Path, StudyFindings, list[str]]) -> None:
    runs = done[0] / "out/runs"
    before = {path: path.stat().st_mtime for path in runs.rglob("*")}
    said: list[str] = []
    again = run_study(done[0] / "study.toml", out=done[0] / "out", say=said.append)
    assert again.verdict == done[2]
    assert {path: path.stat().st_mtime for path in runs.rglob("*")} == before
    assert said == ["12 of 12 runs already exist", "3 of 3 runs already exist"]


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short study that is done, to be copied."""
    folder = tmp_path_factory.mktemp("short")
    run_study(written(folder), out=folder / "out", quick=True, say=lambda _: None)
    return folder


@pytest.fixture
def quick(short: Path, tmp_path: Path) -> Path:
    """The same, of which a test may change what it wants."""
    shutil.copytree(short, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_changed_prediction_is_refused(quick: Path) -> None:
    file = quick / "out/predictions.json"
    file.write_text(file.read_text().replace('"level": 0.9', '"level": 0.8'))
    with pytest.raises(StudyError, match="is not what was written before the runs"):
        run_study(quick / "study.toml", out=quick / "out", quick=True, say=lambda _: None)


def test_what_was_run_cannot_be_predicted(quick: Path) -> None:
    (quick / "out/predictions.json").unlink()
    with pytest.raises(StudyError, match="was run before it was predicted"):
        run_study(quick / "study.toml", out=quick / "out", quick=True, say=lambda _: None)


def test_a_mixture_of_packages_is_refused(quick: Path) -> None:
    file = next((quick / "out/runs").glob("ramp-*/manifest.json"))
    manifest = json.loads(file.read_text())
    manifest["machine"]["sojourn"] = "0.0.1"
    file.write_text(json.dumps(manifest))
    with pytest.raises(RunFolderError, match='machine.sojourn is "0.0.1" there'):
        run_study(quick / "study.toml", out=quick / "out", quick=True, say=lambda _: None)


def test_a_lost_run_is_done_again_and_no_other(quick: Path) -> None:
    lost = next((quick / "out/runs").glob("ramp-*"))
    shutil.rmtree(lost)
    said: list[str] = []
    run_study(quick / "study.toml", out=quick / "out", quick=True, say=said.append)
    assert [line for line in said if line.startswith("run ")] and sum(line.startswith("run ") for line in said) == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('kind = "virtual"', 'kind = "vritual"', "system.kind = 'vritual'"),
        (
            'kind = "virtual"',
            'kind = "virtual"\nmodle = 1',
            "study.toml:5: system.modle: unknown key 'modle'; did you mean model?",
        ),
        (
            'for = "200s"',
            'fro = "200s"',
            "study.toml:8: load.fro: unknown key 'fro'; did you mean for? (use one of for, rate_per_s",
        ),
        (
            "vary = { rate",
            "vray = { rate",
            "study.toml:11: [[section]] ramp: vray: unknown key 'vray'; did you mean vary?",
        ),
        (
            "repetitions = 2",
            'repetitions = "two"',
            "study.toml:12: [[section]] ramp: repetitions: 'two'; give a whole number",
        ),
        ('for = "200s"', 'for = "200 parsecs"', "study.toml:8: load.for: duration: '200 parsecs'; give a time above 0"),
        (
            "workers = 4",
            "wokers = 4",
            "study.toml:17: four: set, vary: factor 'wokers'; did you mean workers? (use one of",
        ),
        ("set = { workers = 4 }", "set = { workers = 4, rate_per_s = 3 }", "rate_per_s in both"),
        ("[1, 2]", "[1, 2.5]", "workers = 2.5; give a whole number"),
        ('"10..30:10"', '"30..10:10"', "'30..10:10'"),
        ("vary = { rate_per_s = [40, 70, 120] }", "vary = { rate_per_s = [10] }\n", ""),
        ("workers = 4", "workers = 2", "is measured before it is predicted"),
        ('name = "four"', 'name = "ramp"', "'ramp' twice"),
        ('model = "shop.toml"', 'model = "none.toml"', "fit.model = 'none.toml': no such file"),
        ('model = "shop.toml"', 'model = "shop.toml"\nsections = ["peak"]', "fit.sections: 'peak'"),
        ('[fit]\nmodel = "shop.toml"\n', "", "[[predict]] without [fit]"),
        (
            "[system]",
            "topology_probe = true\n[system]",
            "study.toml:3: topology_probe: true; leave this out: the system is simulated",
        ),
    ],
)
def test_mistakes_in_the_file(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = written(tmp_path)
    text = STUDY.replace(old, new)
    if old == "workers = 4":
        text = text.replace("[40, 70, 120]", "[10]")
    assert text != STUDY
    if said:
        assert said in mistaken(file, text, read_plan)
    else:
        file.write_text(text)
        assert len(read_plan(file).predicted) == 1


def test_credentials_are_not_in_the_studys_folder(tmp_path: Path) -> None:
    study: dict[str, Any] = {
        "name": "x", "system": {"kind": "virtual", "environment": {"DB_PASSWORD": "hunter2", "API_KEY": "env:KEY"}},
        "load": {"headers": {"Authorization": "Bearer abc"}, "bearer_env": "TOKEN"}, "section": [{"name": "s"}],
    }  # fmt: skip
    told = StudyFile(**study).model_dump_json()
    assert "hunter2" not in told and "Bearer abc" not in told
    assert "env:KEY" in told and '"TOKEN"' in told


def test_a_factor_that_changes_nothing_in_the_model_is_refused(tmp_path: Path) -> None:
    """It would be predicted as if nothing had been changed."""
    file = written(tmp_path, STUDY.replace("[1, 2]", "[1]"))
    (tmp_path / "shop.toml").write_text(MODEL.split("[factors]")[0])
    with pytest.raises(
        StudyError, match=r"\[\[predict\]\] four: workers = 4 changes nothing in the model; add what it"
    ):
        run_study(file, out=tmp_path / "out", quick=True, say=lambda _: None)
    assert not (tmp_path / "out/predictions.json").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[factors]", '[observed]\ncpu = "cppu"\n[factors]',
         r"shop.toml:12: observed.cpu: the system has no resource 'cppu'; did you mean cpu"),
        ("[stations.disk]", "[stations.disk]\nbreakdowns = { up = 3.0, down = 1.0 }",
         r"shop.toml, with the factors of \[\[section\]\] ramp: no analytic method .*the station `disk` has breakdowns"),
        ("workers = ", "worker = ", r"shop.toml: \[\[predict\]\] four: workers = 4 changes nothing in the model"),
    ],
)  # fmt: skip
def test_a_model_that_cannot_be_fitted_is_told_before_any_run(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = written(tmp_path)
    (tmp_path / "shop.toml").write_text(MODEL.replace(old, new))
    with pytest.raises(StudyError, match=said):
        read_plan(file)


def test_auto_takes_a_model_by_itself(tmp_path: Path) -> None:
    """One queue of the cpu alone is the truth."""
    text = STUDY.replace("shop.toml", "auto").replace("[1, 2]", "[1]").replace("set = { workers = 4 }", "")
    file = written(tmp_path, text.replace("[40, 70, 120]", "[15, 25]"))
    (tmp_path / "truth.toml").write_text(TRUTH.replace("[stations.disk]\n", "").replace("disk = { user = 0.01 }\n", ""))
    result = run_study(file, out=tmp_path / "out", say=lambda _: None)
    assert "best of" in result.findings.why
    rows = result.findings.blind.filter(result.findings.blind["metric"] == "response_time")
    assert rows["error"].abs().max() < 0.15
