"""`sojourn simulate`, and the run folder that it writes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.errors import InputError, RunFolderError
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_run import as_run

MODEL = """
[stations.cpu]
servers = 2
[classes.user]
kind = "open"
rate_per_s = 120.0
[demands_s.cpu]
user = 0.01
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.toml"
    path.write_text(MODEL)
    return path


def told(*arguments: str | Path) -> str:
    result = CliRunner().invoke(command_line(), ["simulate", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_json_has_method_status_message_and_rows(file: Path) -> None:
    found = json.loads(told(file, "--precision", "0.05", "--json"))
    assert found["status"] == "ok" and found["method"].startswith("simulation")
    assert {row["source"] for row in found["rows"]} == {"simulated"}


def test_the_seed_repeats_the_answer(file: Path) -> None:
    arguments = (file, "--until", "20s", "--seed", "4", "--json")
    assert told(*arguments) == told(*arguments)


def test_csv_and_table(file: Path) -> None:
    assert told(file, "--completions", "2000", "--output-format", "csv").startswith("station,class,metric")
    assert "response_time" in told(file, "--until", "10s", "--replications", "3")


def test_response_times_of_a_run_that_is_too_short_say_so_in_each_form(file: Path) -> None:
    short = (file, "--completions", "2000")
    rows = csv.DictReader(told(*short, "--output-format", "csv").splitlines())
    assert {row["status"] for row in rows if row["metric"].startswith("response_time")} == {"too_short"}
    found = json.loads(told(*short, "--json"))
    assert found["status"] == "too_short"
    assert {row["status"] for row in found["rows"] if row["metric"].startswith("response_time")} == {"too_short"}
    assert {row["status"] for row in found["rows"] if row["metric"] in ("throughput", "utilisation")} == {"ok"}
    table = told(*short)
    assert "too_short" in table.partition("station")[2]


def test_two_forms_at_once_are_refused(file: Path) -> None:
    with pytest.raises(InputError):
        told(file, "--json", "--output-format", "csv")


def test_a_run_folder_stands_where_a_measured_one_does(file: Path, tmp_path: Path) -> None:
    told(file, "--precision", "0.05", "--until", "60s", "--out", tmp_path / "run")
    folder = RunFolder.open(tmp_path / "run")
    assert folder.manifest["valid"], folder.manifest["reasons"]
    assert folder.manifest["simulated"] and folder.manifest["factors"] == {"cores": 2, "rate_per_s": 120.0}
    requests, metrics = folder.frame("requests"), sj.Metrics.read(tmp_path / "run/metrics.parquet")
    assert requests is not None and requests.height == pytest.approx(7200, rel=0.05)
    assert metrics.value("response_time") == pytest.approx(0.01 / (1 - 0.6**2), rel=0.1)  # M/M/2: 1/(mu (1 - rho^2))
    assert metrics.value("utilisation", "core 0") == pytest.approx(0.6, rel=0.1)


def test_samples_of_a_run_folder_are_counters_from_zero(tmp_path: Path) -> None:
    as_run(sj.Model.parse(MODEL), tmp_path / "run", until_s=10.0, period_s=0.5)
    host = RunFolder.open(tmp_path / "run").frame("host")
    assert host is not None
    arrivals = host.filter((host["source"] == "station") & (host["key"] == "cpu") & (host["item"] == "arrivals"))
    assert arrivals["t_s"].to_list() == pytest.approx(np.arange(0, 10.01, 0.5))
    values = arrivals["value"].to_numpy()
    assert values[0] == 0 and np.all(np.diff(values) >= 0) and values[-1] == pytest.approx(1200, rel=0.1)


def test_a_recorded_run_drives_a_model(tmp_path: Path) -> None:
    as_run(sj.Model.parse(MODEL), tmp_path / "run", until_s=20.0)
    trace = sj.Open("user", arrivals=sj.Trace(run=str(tmp_path / "run")))
    model = sj.Model([sj.Queue("cpu", 4)], [trace], {"cpu": {"user": 0.01}})
    found = sj.simulate(model, until_s=19.0)
    assert found.value("throughput") == pytest.approx(120, rel=0.05)


def test_a_run_folder_is_not_written_over_nor_too_long(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(RunFolderError):
        as_run(sj.Model.parse(MODEL), tmp_path / "run")
    with pytest.raises(InputError, match="--until"):
        as_run(sj.Model.parse(MODEL), tmp_path / "other", until_s=1e6)


def test_the_completions_asked_for_are_in_the_run_folder_or_refused_before_anything_is_simulated(
    file: Path, tmp_path: Path
) -> None:
    told(file, "--completions", "5000", "--out", tmp_path / "run")
    requests = RunFolder.open(tmp_path / "run").frame("requests")
    assert requests is not None and requests.height == pytest.approx(5000, rel=0.06)  # Poisson: 4 of its deviations
    with pytest.raises(InputError, match="2000000"):
        told(file, "--completions", "10000000", "--out", tmp_path / "long")
    assert not (tmp_path / "long").exists()
    with pytest.raises(InputError, match="precision"):
        told(file, "--precision", "2", "--out", tmp_path / "other")
    assert not (tmp_path / "other").exists()
