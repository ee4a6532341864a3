"""`sojourn measure`, `fit --model auto` and `predict`, one after the other, on what is no HTTP (issue 30)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.lab.embedded_kv import EmbeddedKv
from sojourn.runs.run_folder import RunFolder
from sojourn_cases.common.memcached import Memcached

pytestmark = pytest.mark.live
KIND: type[Memcached] = Memcached if shutil.which("memcached") else EmbeddedKv  # loads on both: test_kv_load.py


def said(*words: object, codes: tuple[int, ...] = (0,)) -> str:
    line = [str(word) for word in words]
    done = CliRunner().invoke(command_line(line), line)
    assert getattr(done.exception, "exit_code", done.exit_code) in codes, (done.output, done.exception)
    return done.stdout


def test_memcached_is_measured_fitted_and_predicted(tmp_path: Path) -> None:
    """The rates are those that were asked for; a prediction has the rate's throughput, and saturates above what was measured."""
    server, runs, fitted = KIND(memory_bytes=64 << 20), tmp_path / "runs", tmp_path / "fitted.toml"
    line = (
        "measure",
        server.url,
        "--rate",
        "300,600,900,1200",
        "--get-weight",
        "3",
        "--set-weight",
        "1",
        "--key-count",
        "200",
        "--for",
        "1s",
        "--out",
        runs,
    )
    try:
        said(*line, codes=(0, 3))  # 3: other work on this machine made a run invalid
        again = said(*line, "--json", codes=(0, 3))  # all are there
    finally:
        server.stop()
    folders = [RunFolder.open(path) for path in sorted(runs.glob("rate-*"))]
    assert len(folders) == 4 == len(json.loads(again)["runs"])
    for folder in folders:
        manifest, rate = folder.manifest, folder.manifest["factors"]["rate_per_s"]
        assert manifest["generator"]["kv"]["populated"] == 200 and manifest["generator"]["failures"] == {}
        assert abs(manifest["generator"]["requested"] - rate) < 5 * rate**0.5  # Poisson
        assert 0 < manifest["demands_s"][next(iter(manifest["demands_s"]))] < 1 / 1200
    said("fit", runs, "--model", "auto", "--out", fitted)
    rows = json.loads(said("predict", fitted, "--rate", "1000", "--json"))["rows"]
    throughput = [row["value"] for row in rows if row["metric"] == "throughput" and row["station"] == ""]
    assert throughput and throughput[0] == pytest.approx(1000, rel=0.01)


def test_a_file_is_measured_by_rates(tmp_path: Path) -> None:
    image, runs = tmp_path / "disk.img", tmp_path / "runs"
    said(
        "measure",
        f"file:{image}",
        "--rate",
        "50,100",
        "--region-size",
        "8m",
        "--read-fraction",
        "0.5",
        "--for",
        "2s",
        "--out",
        runs,
        codes=(0, 3),
    )
    for folder in (RunFolder.open(path) for path in runs.glob("rate-*")):
        rate = folder.manifest["factors"]["rate_per_s"]
        assert abs(folder.manifest["storage"]["due"] - 2 * rate) < 5 * (2 * rate) ** 0.5
        assert folder.manifest["load"]["block"]["read_share"] == 0.5


def test_users_of_messages_nobody_serves(tmp_path: Path) -> None:
    line = ["measure", "messages://127.0.0.1:1", "--users", "1,2", "--for", "1s", "--out", str(tmp_path / "runs")]
    done = CliRunner().invoke(command_line(line), line)
    assert "127.0.0.1:1" in str(done.exception) and not list(tmp_path.glob("runs/*/manifest.json"))
