"""A study of the web service on a virtual host from its file to its report: small, in simulated time."""

from pathlib import Path
from typing import Any

import pytest

from sojourn.errors import FitError, InputError
from sojourn.fit import FittedModel
from sojourn.runs.run_folder import RunFolder
from sojourn.study import StudyResult, run_study
from sojourn.study.checked_study import CheckedStudy, read_plan
from sojourn.study.study_findings import StudyFindings
from sojourn.table import Metrics
from sojourn_cases.web.chen_errors import errors_by_kind, table3_lines
from sojourn_cases.web.fitted_web import FittedWeb, parameters
from sojourn_cases.web.interval_coverage import CoveragePoint, covered, own_error, points_at, said_saturated
from sojourn_cases.web.model_files import TEMPLATE
from sojourn_cases.web.web_configurations import WebConfiguration, parts_of
from sojourn_cases.web.web_shop_simulated import WebVirtualSystem

STUDY = """
name = "tiny"
title = "Tiny"
[system]
kind = "web-virtual"
crossing_s = 2e-4
interrupt_s = 5e-4
page_s = 3e-3
[load]
for = 20
[saturation]
users = 32
[[section]]
name = "two cores one NIC"
set = { cores = 2, nics = 1 }
vary.share = [0.3, 0.5, 0.65, 0.8]
[[section]]
name = "one core"
set = { cores = 1, nics = 1, page_s = 2e-3 }
vary.share = [0.3, 0.5, 0.65, 0.8]
[fit]
model = "web-models"
level = 0.95
options = { variants = ["priority"], group_by = "cores" }
[[predict]]
name = "two cores two NICs"
set = { cores = 2, nics = 2 }
vary.share = [0.3, 0.6]
[[analysis]]
name = "two-class"
[[analysis]]
name = "two-class.truth"
requests = 100_000
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("virtual") / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def study(file: Path) -> StudyResult:
    return run_study(file, out=file.parent / "out", say=lambda text: None)


@pytest.fixture(scope="module")
def plan(file: Path) -> CheckedStudy:
    return read_plan(file)


@pytest.fixture(scope="module")
def parts(study: StudyResult, plan: CheckedStudy) -> dict[str, WebConfiguration]:
    return {part.name: part for part in parts_of(found(study), plan)}


def found(study: StudyResult) -> StudyFindings:
    findings: StudyFindings = study.findings
    return findings


def model(study: StudyResult) -> FittedWeb:
    fitted = found(study).fitted
    assert isinstance(fitted, FittedWeb)
    return fitted


def test_known_demands_come_back(study: StudyResult) -> None:
    for cores, page_s in ((2, 3e-3), (1, 2e-3)):
        fitted = parameters(model(study).of({"cores": cores}))
        assert fitted["interrupt_s"].value == pytest.approx(5e-4, rel=0.02)
        assert fitted["page_s"].value == pytest.approx(page_s, rel=0.05)


def test_saturation_is_where_the_law_has_it(parts: dict[str, WebConfiguration]) -> None:
    """m/(S + p A): one NIC, p = 1/2: 500/s; two NICs: 571/s; one core of 2 ms pages: 400/s; within 5 % (20 s)."""
    for name, rate in (("two cores one NIC", 500), ("two cores two NICs", 2 / 3.5e-3), ("one core", 400)):
        saturation = parts[name].saturation
        assert saturation is not None and saturation.value == pytest.approx(rate, rel=0.05)


def test_the_verdict_and_the_report_say_what_is_known(study: StudyResult) -> None:
    text = "\n".join(study.verdict)
    for words in (
        "known: interrupt 500 µs, page 3.00 ms",
        "truth known:",
        "the model's own error",
        "Num. of Cores",
        "before it was run",
        "interrupt_s (cores 1)",
    ):
        assert words in text, words
    assert text.startswith("Two cores two NICs: saturates at")
    assert sum("saturation rate predicted" in line for line in study.verdict) == 1
    html = study.report.read_text()
    for words in (
        "error with the truth known",
        "Which model, and why",
        "The virtual hosts",
        "Relative errors, priority",
    ):
        assert words in html, words


def test_table_3_has_every_configuration_and_kind(study: StudyResult, parts: dict[str, WebConfiguration]) -> None:
    rows = errors_by_kind(list(parts.values()), model(study), "priority")
    head, cores = table3_lines(rows)[:2]
    assert cores.split() == ["Num.", "of", "Cores", "1", "2", "2"]
    assert head.split() == ["1", "NIC", "2", "NICs", "Training", "Held", "out", "Blind"]
    response = rows[0]
    assert response["training"] == pytest.approx((response["1/1"] + response["1/2"]) / 2)
    assert response["blind"] == response["2/2"]


def test_training_and_blind_errors_are_told_apart(study: StudyResult) -> None:
    evaluation = found(study).evaluation
    kinds = evaluation.select("section", "kind").unique().rows()
    assert set(kinds) == {
        ("two cores one NIC", "training"), ("one core", "training"), ("two cores two NICs", "blind"), ("saturation", "blind"),
        ("two cores two NICs", "blind, at the achieved rate"),
    }  # fmt: skip
    assert set(evaluation["model"]) == {"priority", "mmm"}


def truth_of(study: StudyResult, plan: CheckedStudy, part: WebConfiguration) -> list[CoveragePoint]:
    assert isinstance(plan.system, WebVirtualSystem)
    host, fitted = plan.system.options.host(part.factors), model(study)
    each = [
        points_at(part.name, host, fitted, {**part.factors, "rate_per_s": rate}, 500_000, 1) for rate in (200.0, 300.0)
    ]
    return each[0] + each[1]


def test_the_models_own_error_is_small_where_the_model_fits(
    study: StudyResult, plan: CheckedStudy, parts: dict[str, WebConfiguration]
) -> None:
    points = [point for part in parts.values() for point in truth_of(study, plan, part)]
    assert said_saturated(points) == (0, 6)
    error, busy = own_error(points), own_error(points, "lead_busy")
    assert error is not None and error[0] < 0.03
    assert busy is not None and busy[0] < 0.01


def test_runs_are_run_folders_that_say_simulated(study: StudyResult) -> None:
    again = RunFolder.open(found(study).runs[0].path)
    assert again.manifest["simulated"] and again.manifest["lab"] == {"kind": "virtual"}
    assert Metrics.read(again.path / "metrics.parquet").frame["source"].unique().to_list() == ["simulated"]


def test_the_fitted_file_is_read_back(study: StudyResult) -> None:
    path = study.folder / "fitted.toml"
    for cores in (1, 2):
        assert FittedModel.read(path).at({"cores": cores}).estimates == model(study).of({"cores": cores}).estimates
    point = {"cores": 1, "nics": 1, "rate_per_s": 200.0, "page_s": 2e-3, "interrupt_s": 5e-4}
    again, now = (one.predict(point, 0.95).frame for one in (TEMPLATE.read(path), model(study)))
    assert again.equals(now)


def test_runs_that_are_there_are_not_repeated(study: StudyResult, file: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in (study.folder / "runs").glob("*/manifest.json")}
    resumed = run_study(file, out=study.folder, say=lambda text: None)
    assert {p: p.stat().st_mtime_ns for p in (study.folder / "runs").glob("*/manifest.json")} == before
    assert found(resumed).evaluation.equals(found(study).evaluation)


def test_coverage_names_truth_value_and_interval(
    study: StudyResult, plan: CheckedStudy, parts: dict[str, WebConfiguration]
) -> None:
    part = parts["two cores one NIC"]
    assert isinstance(plan.system, WebVirtualSystem)
    rows = covered("two", model(study).of({"cores": 2}), plan.system.options.host(part.factors))
    assert {row.name: row.truth for row in rows} == {
        "interrupt": pytest.approx(5e-4), "page": pytest.approx(3e-3), "crossing": 2e-4, "interrupt_scv": 0.0,
    }  # fmt: skip
    assert all(row.low <= row.value <= row.high for row in rows)


def test_a_configuration_takes_the_fit_of_its_group_alone(study: StudyResult) -> None:
    fits = model(study)
    assert [one.model.where for one in fits.each] == [{"cores": 1}, {"cores": 2}]
    assert fits.of({"cores": 2}).estimates == fits.each[1].estimates
    with pytest.raises(FitError, match="no model describes runs with cores = 16"):
        fits.of({"cores": 16})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"group_by": "page_s"}, "group_by = 'page_s'; give a factor of all runs with whole numbers"),
        ({"variant": ["priority"]}, "variant; give variants, group_by"),
        ({"variants": ["best"]}, "give some of priority, shared, paper, mmm"),
    ],
)
def test_options_that_it_cannot_have(study: StudyResult, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        TEMPLATE.fit(found(study).runs, 1, options)
    assert said in str(error.value)


def test_runs_at_no_known_rate_carry_no_fit(study: StudyResult) -> None:
    with pytest.raises(FitError, match="no run at a known rate"):
        TEMPLATE.fit(found(study).of("saturation"), 1, {})


def test_a_fit_sees_the_runs_of_its_group_only(study: StudyResult) -> None:
    alone = [run for run in found(study).of("one core") if "rate_per_s" in run.manifest["factors"]]
    rivals = TEMPLATE.fit(alone, 1, {"variants": ["priority"]})
    one, of_two = rivals.fitted["priority"], model(study).of({"cores": 1})
    assert isinstance(one, FittedWeb)
    assert one.fitted.estimates == of_two.estimates


def test_what_was_measured_is_the_mean_of_the_runs_at_a_rate(parts: dict[str, WebConfiguration]) -> None:
    part = parts["one core"]
    rate = part.runs[0].manifest["factors"]["rate_per_s"]
    own = [r.metrics().value("response_time") for r in part.runs if r.manifest["factors"]["rate_per_s"] == rate]
    assert part.measured.value("response_time", rate_per_s=rate) == pytest.approx(sum(own) / len(own))
