"""What new users of a plain HTTP service stumbled over: each is told, and nothing is passed over without a word."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from one_core import observations
from typer.testing import CliRunner, Result

from sojourn.cli import measure_table
from sojourn.cli.app import command_line
from sojourn.errors import InputError, NoSuchRow
from sojourn.fit import fit, observe_runs
from sojourn.measure.run_report import runs_document
from sojourn.predict import predict
from sojourn.report.terminal_output import print_terminal
from sojourn.runs.run_folder import RunFolder, run_folders
from sojourn.simulate.simulated_folder import write_run
from sojourn.table import Metrics

ROOT = Path(__file__).parents[3]
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
    fit(observations("mmm"), "mmm", resamples=20).write(path)
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
    assert "until its answer had come to this host" in measure_table.MEANT
    print_terminal(runs_document(run_folders([runs])))
    page = " ".join(capsys.readouterr().out.split())
    assert page.count("from when a request was due until its answer had come to this host") == 2
    assert "{'" not in page and '{"' not in page, "a dict of Python"


def test_a_folder_without_a_manifest_is_told(runs: Path, tmp_path: Path) -> None:
    run_at(tmp_path, 60)
    (tmp_path / "half").mkdir()
    (tmp_path / "half/requests.parquet").write_bytes((runs / "rate-60/requests.parquet").read_bytes())
    told = f"{tmp_path / 'half'}: no manifest.json, so it is no run folder"
    assert told in observe_runs([tmp_path]).left_out
    answer = sojourn("report", tmp_path, "--out", tmp_path / "report.html")
    assert answer.exit_code == 0 and f"left out: {told}" in answer.stderr


@pytest.mark.parametrize("every", ["1ms", "11s"])
def test_the_time_between_samples_is_checked_before_any_load(tmp_path: Path, every: str) -> None:
    answer = sojourn("measure", "http://127.0.0.1:1/", "--rate", "5", "--every", every, "--out", tmp_path / "out")
    assert isinstance(answer.exception, InputError) and str(answer.exception).startswith("--every: ")
    assert "choose 0.01 to 10 s" in str(answer.exception) and not (tmp_path / "out").exists()


@pytest.mark.parametrize("model", ["mmm", "two-class"])
def test_words_of_the_web_study_stay_there(runs: Path, tmp_path: Path, model: str) -> None:
    """A service that has cores, and no NICs that anybody told of."""
    out = tmp_path / "fitted.toml"
    said = [
        sojourn("fit", runs, "--model", model, "--out", out),
        sojourn("validate", runs, "--model", out),
        sojourn("predict", out, "--rate", "60..4000:500"),
        sojourn("report", runs, "--model", out, "--out", tmp_path / "report.html"),
    ]
    for answer in said:
        assert answer.exit_code == 0, answer.output
        assert not OTHERS_WORDS.search(answer.output), answer.output
    page = re.sub(r"<script.*?</script>", "", (tmp_path / "report.html").read_text(), flags=re.DOTALL)
    assert "each measured rate" in page and not OTHERS_WORDS.search(page)


def test_validate_says_each_rate_and_what_the_model_calls_saturated(fitted: Path, tmp_path: Path) -> None:
    for rate in (100, 600):
        run_at(tmp_path, rate)
    answer = sojourn("validate", tmp_path, "--model", fitted)
    assert answer.exit_code == 0, answer.output
    lines = [" ".join(line.split()) for line in answer.output.splitlines()]
    assert any(line.startswith("100 /s response time") and "%" in line for line in lines)
    assert any(re.match(r"600 /s response time saturated [\d.]+ ms .* not in the interval$", line) for line in lines)
    told = next(line for line in lines if line.startswith("response time: mean error"))
    assert "over 1 of 2 points, worst ∞" in told and "1 called saturated that was not" in told
    points = json.loads(sojourn("validate", tmp_path, "--model", fitted, "--json").output, parse_constant=pytest.fail)[
        "points"
    ]
    assert [p["relative_error"] for p in points if p["predicted"] is None], "null: JSON knows no infinity"


def test_the_saturation_rate_and_the_response_times_say_the_same() -> None:
    """The utilisation is off by a third where it was held out: the saturation rate may be far below its value, and no
    response time above its lower end has an upper limit."""
    wrong = observations().with_columns(util_leading=pl.col("util_leading") * (1 + 0.4 * (pl.col("rate_per_s") > 150)))
    found = predict(
        fit(wrong, variant="shared", given={"capacity": 1000}, resamples=40), [20, 100, 320], cores=1, nics=1
    )
    low, high = found.interval("saturation_rate", rate_per_s=20.0)
    assert low is not None and high is not None
    rows = found.where(metric="response_time", station="").frame
    assert [row["high"] is None for row in rows.to_dicts()] == [rate >= low for rate in (20.0, 100.0, 320.0)]
    assert low < 320


KINDS = {
    "study.toml": ("a study file", "`sojourn study` runs it"),
    "shop.toml": ("a model file", "`sojourn solve` answers it"),
    "fitted.toml": ("a fit of two-class or mmm", "`sojourn predict` and `sojourn validate --model` take it"),
    "notes.md": ("a page of text", ""),
}


@pytest.mark.parametrize(
    ("verb", "wrong"),
    [
        (("fit", "RUNS", "--model"), ("study.toml", "fitted.toml", "notes.md")),
        (("validate", "RUNS", "--model"), ("study.toml", "notes.md")),
        (("predict",), ("study.toml", "notes.md")),
        (("solve",), ("study.toml", "fitted.toml", "notes.md")),
        (("simulate",), ("study.toml", "fitted.toml", "notes.md")),
        (("methods",), ("study.toml", "fitted.toml", "notes.md")),
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
