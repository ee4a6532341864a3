"""What new users of a plain HTTP service stumbled over: each is told, and nothing is passed over without a word."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from mmm_runs import mmm_run
from typer.testing import CliRunner, Result

from sojourn.cli import measure_table
from sojourn.cli.app import command_line
from sojourn.errors import InputError, NoSuchRow
from sojourn.fit import FitRuns, fit, observe_runs
from sojourn.measure.run_report import runs_document
from sojourn.model import Model
from sojourn.report.terminal_output import print_terminal
from sojourn.runs.run_folder import RunFolder, run_folders
from sojourn.simulate.simulated_folder import write_run
from sojourn.table import Metrics

ROOT = Path(__file__).parents[3]
ONE = """[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 1
[demands_s.cpu]
user = { free = true }
"""
OTHERS_WORDS = re.compile(r"leading|trailing|NIC|Table 3")
RATES = (60, 120, 180, 240)


def sojourn(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command_line(), [str(a) for a in arguments])


def run_at(where: Path, rate: float, mean_s: float = 0.002, failed: bool = False) -> RunFolder:
    """Independent exponential response times, 20 s of them: a service without a queue."""
    rng = np.random.default_rng(int(rate))
    due = np.sort(rng.uniform(0, 20, int(20 * rate)))
    requests = {
        "intended_s": due,
        "done_s": due + rng.exponential(mean_s, due.size),
        "failure": np.full(due.size, int(failed)),
    }
    manifest = {"name": where.name, "factors": {"rate_per_s": float(rate)}, "duration_s": 20.0}
    write_run(where / f"rate-{rate:g}", manifest=manifest, requests=requests)
    return RunFolder.open(where / f"rate-{rate:g}")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("runs")
    for rate in RATES:
        assert run_at(where, rate).manifest["valid"]
    return where


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One core that is full at 1/(2 ms) = 500/s."""
    path = tmp_path_factory.mktemp("fitted") / "fitted.toml"
    runs = FitRuns([mmm_run(rate, service_s=0.002, servers=1, delay_s=0.0) for rate in (60.0, 120.0, 240.0, 360.0)])
    fit(runs, Model.parse(ONE), draws=20).write(path)
    return path


def test_a_page_that_fails_every_time_is_a_line_of_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run_at(tmp_path, 50, failed=True)
    measure_table.show([(folder, [])], tmp_path)
    said = " ".join(capsys.readouterr().out.split())
    assert "rate-50 0 /s – – – no:" in said
    after = folder.manifest["checks"]["flow balance"]["arrivals"]
    assert f"{after} of {after} requests after the warm-up failed (refused: {after})" in said


def test_response_times_say_from_when_to_when(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measure_table.show([(RunFolder.open(runs / "rate-60"), [])], runs)
    assert measure_table.MEANT in capsys.readouterr().out
    assert "until its answer arrived at this host" in measure_table.MEANT
    print_terminal(runs_document(run_folders([runs])))
    page = " ".join(capsys.readouterr().out.split())
    assert page.count("from when a request was due until its answer arrived at this host") == 1
    assert "{'" not in page and '{"' not in page, "a dict of Python"


def test_a_folder_without_a_manifest_is_told(runs: Path, tmp_path: Path) -> None:
    run_at(tmp_path, 60)
    (tmp_path / "half").mkdir()
    (tmp_path / "half/requests.parquet").write_bytes((runs / "rate-60/requests.parquet").read_bytes())
    told = f"{tmp_path / 'half'}: no manifest.json, so it is not a run folder"
    assert told in observe_runs([tmp_path]).left_out
    answer = sojourn("report", tmp_path, "--out", tmp_path / "report.html")
    assert answer.exit_code == 0 and f"left out: {told}" in answer.stderr


@pytest.mark.parametrize("every", ["1ms", "11s"])
def test_the_time_between_samples_is_checked_before_any_load(tmp_path: Path, every: str) -> None:
    answer = sojourn(
        "measure", "http://127.0.0.1:1/", "--rate", "5", "--sample-interval", every, "--out", tmp_path / "out"
    )
    assert isinstance(answer.exception, InputError) and str(answer.exception).startswith("--sample-interval: ")
    assert "choose 0.01 to 10 s" in str(answer.exception) and not (tmp_path / "out").exists()


def test_words_of_the_web_study_stay_there(runs: Path, tmp_path: Path) -> None:
    """A service that has cores, and no NICs that anybody told of."""
    out = tmp_path / "fitted.toml"
    said = [
        sojourn("fit", runs, "--out", out),
        sojourn("validate", runs, "--model", out),
        sojourn("predict", out, "--rate", "60..4000:500"),
        sojourn("report", runs, "--model", out, "--out", tmp_path / "report.html"),
    ]
    for answer in said:
        assert answer.exit_code == 0, answer.output
        assert not OTHERS_WORDS.search(answer.output), answer.output
    page = re.sub(r"<script.*?</script>", "", (tmp_path / "report.html").read_text(), flags=re.DOTALL)
    assert not OTHERS_WORDS.search(page)


def test_validate_says_each_rate_and_what_the_model_calls_saturated(fitted: Path, tmp_path: Path) -> None:
    for rate in (100, 600):
        run_at(tmp_path, rate)
    answer = sojourn("validate", tmp_path, "--model", fitted)
    assert answer.exit_code == 0, answer.output
    lines = [" ".join(line.split()) for line in answer.output.splitlines()]
    assert any(line.startswith("rate-100 response time") and "%" in line for line in lines)
    assert any(
        re.match(r"rate-600 response time .* not in the interval, outside what was measured$", line) for line in lines
    )
    assert any("1 falsely predicted as saturated" in line for line in lines)
    points = json.loads(sojourn("validate", tmp_path, "--model", fitted, "--json").output, parse_constant=pytest.fail)[
        "rows"
    ]
    assert [p["error"] for p in points if p["predicted"] is None] == [None], "null: JSON knows no infinity"


OLD = """model = "two-class"
variant = "priority"
level = 0.95
[parameters]
mu1_per_s = [3301.0, 3200.0, 3400.0]
"""
KINDS = {
    "study.toml": ("a study file", "`sojourn study` runs it"),
    "shop.toml": ("a model file", "`sojourn solve` answers it"),
    "fitted.toml": ("a fitted model file", "`sojourn predict` and `sojourn validate --model` read it"),
    "old.toml": ("a two-class or mmm fit of an earlier version", "`sojourn fit RUNS --model web-models`"),
    "notes.md": ("a page of text", ""),
}


@pytest.mark.parametrize(
    ("verb", "wrong"),
    [
        (("fit", "RUNS", "--model"), ("study.toml", "fitted.toml", "old.toml", "notes.md")),
        (("validate", "RUNS", "--model"), ("study.toml", "old.toml", "notes.md")),
        (("predict",), ("study.toml", "old.toml", "notes.md")),
        (("solve",), ("study.toml", "old.toml", "notes.md")),
        (("simulate",), ("study.toml", "old.toml", "notes.md")),
        (("methods",), ("study.toml", "old.toml", "notes.md")),
        (("study",), ("shop.toml", "fitted.toml", "notes.md")),
        (("fit",), ("study.toml", "shop.toml", "fitted.toml", "notes.md")),
        (("report",), ("study.toml", "shop.toml", "fitted.toml", "notes.md")),
    ],
    ids=lambda value: value[0],
)
def test_a_file_of_another_kind_is_named(
    runs: Path, fitted: Path, tmp_path: Path, verb: tuple[str, ...], wrong: tuple[str, ...]
) -> None:
    there = {
        "study.toml": ROOT / "studies/web/study.toml",
        "shop.toml": ROOT / "examples/shop.toml",
        "fitted.toml": fitted,
    }
    (tmp_path / "notes.md").write_text("# Notes\n")
    (tmp_path / "old.toml").write_text(OLD)
    for name in wrong:
        error = sojourn(
            *(runs if word == "RUNS" else word for word in verb), there.get(name, tmp_path / name)
        ).exception
        kind, taken_by = KINDS[name]
        assert isinstance(error, InputError) and kind in str(error) and "give " in str(error), (verb, name, error)
        assert taken_by in str(error) or "no run folder" in str(error)


def test_another_spelling_of_a_metric_gets_its_name() -> None:
    table = Metrics.of([{"metric": "utilisation", "station": "cpu", "value": 0.5}])
    with pytest.raises(NoSuchRow, match=r"no metric 'utilization'; did you mean utilisation\?"):
        table.value("utilization", "cpu")
    with pytest.raises(NoSuchRow, match=r"no station 'cpus'; did you mean cpu\?"):
        table.value("utilisation", "cpus")
    with pytest.raises(InputError, match=r"metric: 'utilization'; did you mean utilisation\?"):
        Metrics.of([{"metric": "utilization", "value": 0.5}])


def test_a_fit_writes_over_no_file_unless_told(fitted: Path, tmp_path: Path) -> None:
    """Issue 29, point 16: a second fit took the place of the first without a word."""
    there = tmp_path / "fitted.toml"
    there.write_text(fitted.read_text())
    again = sojourn("fit", tmp_path / "none", "--out", there)
    assert isinstance(again.exception, InputError) and "is there already" in str(again.exception)
    assert "--overwrite" in again.exception.remedy
    forced = sojourn("fit", tmp_path / "none", "--out", there, "--overwrite")
    assert isinstance(forced.exception, InputError) and "none" in str(forced.exception)
    assert there.read_text() == fitted.read_text()


def test_what_a_prediction_says_of_what_was_measured_is_in_its_table(fitted: Path) -> None:
    """Issue 29, point 16: the message spoke of `inside = false`, and no column had that name."""
    told = sojourn("predict", fitted, "--rate", "120,450").output
    assert "inside = " not in told and told.count("outside what was measured") == 2
