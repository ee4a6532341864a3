"""Verdict and report of a study whose observations come from the event simulator: no live run, known demands."""

import sys
from pathlib import Path

import polars as pl
import pytest

from sojourn.fit import compare
from sojourn.measure.folder import RunFolder
from sojourn.predict import predict
from sojourn.report import render_html
from sojourn.study.document import study_document
from sojourn.study.judge import blind_errors, measured_gain, predicted_gain, saturation_error
from sojourn.study.phases import Findings, Prediction, Saturation, rounded, slug
from sojourn.study.plan import Configuration, Plan, read_plan
from sojourn.study.verdict import verdict_lines

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/cross"))
from test_fit_simulated import CLIENT, A, S, observations  # noqa: E402

BASELINE = (100.0, 200.0, 300.0, 400.0)
SPREAD = (200.0, 400.0, 600.0)


def runs(path: Path, frame: pl.DataFrame, configuration: str) -> list[RunFolder]:
    manifest = {
        "valid": True,
        "configuration": configuration,
        "factors": {"rate_per_s": 1.0},
        "placement": {"client_shares": True},
        "lab": {"spinner cost": {"0": 0.0}},
        "machine": {"kernel": "k", "cores": 2},
        "start": {"wall": "then"},
        "service": {"interrupt work": {"packets": 10, "seconds": 0.015}},
        "observer": {"own_share": 0.004},
    }
    return [RunFolder(path / str(name), manifest) for name in frame["run"].unique()]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Plan]:
    path = tmp_path_factory.mktemp("study")
    plan = read_plan(ROOT / "studies/web")
    known = plan.demand.model_copy(update={"interrupt_s": S, "page_s": A})
    plan = Plan(plan.study, plan.options, known, plan.fingerprint)
    baseline, spread = plan.study.configuration
    seen = observations(1, BASELINE, 21)
    chosen = compare(seen, given={"client_s": CLIENT})
    by_variant = {name: predict(fitted, SPREAD, cores=2, nics=2) for name, fitted in chosen.fits.items()}
    later = observations(2, SPREAD, 22)
    prediction = Prediction(
        spread,
        by_variant,
        "before",
        later,
        runs(path, later, spread.name),
        Saturation(2 / (S + CLIENT + A), 940.0, 1000.0),
    )
    most = 1 / (S + CLIENT + A / 2)
    found = Findings(
        path, baseline, Saturation(most, most * 0.97, most * 1.03), runs(path, seen, baseline.name), seen, chosen.fits,
        chosen.best, chosen.why, CLIENT, A, 0.0, 0.0, [prediction],
    )  # fmt: skip
    return found, plan


def test_the_numbers_of_the_verdict(study: tuple[Findings, Plan]) -> None:
    found, _ = study
    prediction = found.predictions[0]
    truth = 2 * (S + CLIENT + A / 2) / (S + CLIENT + A)
    assert measured_gain(found, prediction).value == pytest.approx(truth)
    foreseen = predicted_gain(found, prediction)
    assert foreseen.low < truth < foreseen.high
    assert abs(saturation_error(prediction, found.best)) < 0.03
    errors = blind_errors(prediction, found.best)
    assert errors is not None
    assert errors.of("response_time")["median_abs"] < 0.1


def test_the_verdict_says_what_the_issue_asks_for(study: tuple[Findings, Plan]) -> None:
    text = "\n".join(verdict_lines(*study))
    for words in ("saturates at", "before it was run", "known: interrupt 1.50 ms", "the fit is off by", "bottleneck (interrupts spread)",
                  "Response Time", "Util. Core 0 to m-1", "Overall"):  # fmt: skip
        assert words in text, words
    assert len(text.splitlines()) <= 16


def test_what_could_not_be_shown_is_in_verdict_and_report(study: tuple[Findings, Plan]) -> None:
    found, plan = study
    lacking = Findings(**{**vars(found), "predictions": [], "not_shown": ["interrupts spread: it needs 2 NICs"]})
    lines = verdict_lines(lacking, plan)
    assert "not shown here: interrupts spread: it needs 2 NICs" in lines
    document = study_document(lacking, plan, lines)
    assert document.status == "warn"
    assert "What could not be shown here" in render_html(document)


def test_the_report_has_the_documents_figures(study: tuple[Findings, Plan]) -> None:
    document = study_document(*study, verdict_lines(*study))
    names = [name for name, _ in document.figures()]
    assert len(names) == 5
    assert any(name.startswith("blind-prediction") for name in names)
    assert "Relative errors, priority" in render_html(document)


def test_names_of_folders() -> None:
    assert slug(Configuration(name="Interrupts on core 0", cores=0, nics=1)) == "interrupts-on-core-0"
    assert rounded(123.456) == 123.0
