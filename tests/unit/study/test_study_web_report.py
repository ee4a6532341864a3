"""Lines and sections of a web study whose runs come from the event simulator: no live run, known demands."""

import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from sojourn.fit import AVERAGED, FitRuns, fit_rivals
from sojourn.report import Document, render_html
from sojourn.runs.run_folder import RunFolder
from sojourn.study.study_findings import BLIND, TRAINING
from sojourn.table import Metrics
from sojourn_cases.web.chen_errors import errors_by_kind
from sojourn_cases.web.fitted_web import FittedWeb
from sojourn_cases.web.known_demands import KnownDemands, RequestOverheads
from sojourn_cases.web.model_files import NAMES, fit_for, model_file
from sojourn_cases.web.two_class_analysis import FinishedWebStudy, analysed
from sojourn_cases.web.web_configurations import Interval, WebConfiguration, measured_gain, predicted_gain

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests/cross"))
from test_fit_simulated import CLIENT, A, S, simulated  # noqa: E402

BASELINE = (100.0, 200.0, 300.0, 400.0)
SPREAD = (200.0, 400.0, 600.0)
KNOWN = KnownDemands(S, A, RequestOverheads(client_s=CLIENT))


def folders(path: Path, runs: FitRuns) -> list[RunFolder]:
    manifest = {
        "valid": True,
        "placement": {"client_shares": True},
        "lab": {"spinner cost": {"0": 0.0}},
        "load": {"lanes": [{"connections": 8}]},
        "service": {"interrupt work": {"packets": 10, "seconds": 0.015}},
        "observer": {"own_share": 0.004},
    }
    return [RunFolder(path / run.name, manifest) for run in runs.runs]


def measured(runs: FitRuns) -> Metrics:
    rows = []
    for run in runs.runs:
        at = {name: run.factors[name] for name in ("cores", "nics", "rate_per_s")}
        lead, behind = run.factors["nics"], run.factors["cores"] - run.factors["nics"]
        rows += [{"metric": metric, "value": value, **at} for (_, metric), (value, _) in run.means.items()]
        for name, metric, cores in (
            ("leading", "utilisation", lead),
            ("trailing", "utilisation", behind),
            ("leading interrupts", "softirq_utilisation", lead),
        ):
            if name in run.busy:
                rows.append({"station": name.split()[0], "metric": metric, "value": run.busy[name] / cores, **at})
    return Metrics.of(rows)


def part(
    path: Path, name: str, kind: str, runs: FitRuns, most: float, rivals: dict[str, FittedWeb]
) -> WebConfiguration:
    factors = {key: value for key, value in runs.runs[0].factors.items() if key != "rate_per_s"}
    rates = [run.factors["rate_per_s"] for run in runs.runs]
    said = {model: fitted.predict({**factors, "rate_per_s": rates}, 0.95) for model, fitted in rivals.items()}
    saturation = Interval(most, 0.97 * most, 1.03 * most)
    return WebConfiguration(name, kind, factors, folders(path, runs), measured(runs), KNOWN, saturation, said)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> FinishedWebStudy:
    path = tmp_path_factory.mktemp("study")
    before, later = simulated(1, BASELINE, 21), simulated(2, SPREAD, 22)
    chosen = fit_rivals(before, {name: fit_for(model_file(name), before, CLIENT) for name in NAMES})
    rivals = {name: FittedWeb(fitted) for name, fitted in chosen.fits.items()}
    rivals[AVERAGED] = FittedWeb(chosen.best)
    most = 1 / (S + CLIENT + A / 2)
    parts = [
        part(path, "interrupts on core 0", TRAINING, before, most, rivals),
        part(path, "interrupts spread", BLIND, later, 2 / (S + CLIENT + A), rivals),
    ]
    return FinishedWebStudy(parts, rivals, AVERAGED, tuple(chosen.why.splitlines()), "before")


def test_the_numbers_of_the_lines(web: FinishedWebStudy) -> None:
    below, above = web.parts
    truth = 2 * (S + CLIENT + A / 2) / (S + CLIENT + A)
    seen = measured_gain(below, above)
    assert seen is not None and seen.value == pytest.approx(truth)
    predicted = predicted_gain(below, above, web.model)
    assert predicted.low < truth < predicted.high
    assert above.saturation is not None
    assert abs(above.saturates(web.best).value / above.saturation.value - 1) < 0.03
    errors = above.errors(web.best)
    assert errors is not None
    median = errors.filter(quantity="response_time")["error"].abs().median()
    assert isinstance(median, float) and median < 0.1


def test_the_lines_say_what_the_issue_asks_for(web: FinishedWebStudy) -> None:
    found = analysed(web, {})
    assert "saturates at" in found.headline and "before it was run" in found.headline
    text = "\n".join(found.lines)
    for words in ("known: interrupt 1.50 ms", "the fit is off by", "bottleneck (interrupts spread)", "Response Time",
                  "Util. Core 0 to m-1", "Num. of Cores", "Training  Held out  Blind",
                  "(NICs/cores: 1/2 training, 2/2 blind)"):  # fmt: skip
        assert words in text, words
    assert len(text.splitlines()) <= 16


def test_errors_of_the_three_kinds_are_never_averaged(web: FinishedWebStudy) -> None:
    """The mean of a kind with one configuration is that configuration; what was held out lies in no column of one."""
    for row in errors_by_kind(web.parts, web.model, web.best):
        assert row[TRAINING] == row["1/2"] and row[BLIND] == row["2/2"]
        assert row["held out"] is not None


def test_without_a_prediction_it_says_where_it_saturates(web: FinishedWebStudy) -> None:
    alone = FinishedWebStudy(web.parts[:1], web.rivals, web.best, web.why)
    found = analysed(alone, {})
    assert found.headline.startswith("interrupts on core 0 saturates at")
    assert not any("spread" in line for line in found.lines)


def test_the_report_has_the_documents_figures(web: FinishedWebStudy) -> None:
    document = Document("t", "s", ["v"], "ok", analysed(web, {}).sections, {})
    names = [name for name, _ in document.figures()]
    assert len(names) == 6
    assert {"throughput", "response-time"} <= set(names)  # Figure 4
    assert any(name.startswith("blind-prediction") for name in names)
    chain = next(figure for _, figure in document.figures() if figure.title.startswith("Mean number of requests"))
    closed_form, numerical = chain.series
    assert closed_form.y == pytest.approx(numerical.y, rel=1e-9)
    page = render_html(document)
    for words in ("Relative errors, averaged", "interrupt work known to the lab", "Where each configuration saturates"):
        assert words in page, words


def test_all_rivals_are_judged_on_the_same_points(web: FinishedWebStudy) -> None:
    """Up to 80 % of what was measured, whatever each of them predicts; one that says saturated has an infinite error there."""
    for one in web.parts:
        found = {model: one.errors(model) for model in web.rivals}
        points = {m: each.filter(quantity="response_time").height for m, each in found.items() if each is not None}
        assert len(points) == len(web.rivals) and len(set(points.values())) == 1, points
    slow = replace(web.parts[0].saturation, value=1e9)
    assert replace(web.parts[0], saturation=slow).below.frame.height == web.parts[0].measured.frame.height
    last = (pl.col("metric") == "response_time") & (pl.col("rate_per_s") == BASELINE[-1])
    said = web.parts[0].predicted["mmm"].frame
    full = said.with_columns(
        value=pl.when(last).then(None).otherwise(pl.col("value")),
        status=pl.when(last).then(pl.lit("unstable")).otherwise(pl.col("status")),
    )
    wrong = replace(web.parts[0], predicted={"mmm": Metrics(full)})
    rows = {row["quantity"]: row[TRAINING] for row in errors_by_kind([wrong], web.model, "mmm")}
    assert rows["Response Time"] == float("inf") > rows["Throughput"]
