"""A simulated run stands where a measured one does: written, opened, judged, observed."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn.errors import InputError, RunFolderError
from sojourn.measure.folder import RunFolder
from sojourn.measure.observations import observe
from sojourn.simulate.run_folder import cpu_rows, write_run
from sojourn.table import Metrics

RATE, SECONDS, RESPONSE = 200.0, 10.0, 0.004


def written(path: Path, **more: object) -> RunFolder:
    """Two cores: core 0 with 0.2 of softirq and 0.1 of user time, core 1 with 0.3 of user time."""
    rng = np.random.default_rng(3)
    intended = np.sort(rng.uniform(0, SECONDS, int(RATE * SECONDS)))
    requests = {"intended_s": intended, "done_s": intended + rng.exponential(RESPONSE, intended.size)}
    t = np.arange(0, SECONDS + 0.05, 0.1)
    states = {
        "softirq": np.outer(t, [0.2, 0.0]),
        "user": np.outer(t, [0.1, 0.3]),
        "idle": np.outer(t, [0.7, 0.7]),
    }
    manifest = {
        "name": "made up",
        "seed": 3,
        "factors": {"rate_per_s": RATE, "cores": 2, "nics": 1},
        "placement": {"server": [0, 1], "interrupts": [0], "client": [], "client_shares": False, "observer": 0},
        "duration_s": SECONDS,
    }
    return write_run(path, manifest=manifest, requests=requests, host=cpu_rows(t, states), **more)


def test_what_was_written_is_read_back_as_a_run(tmp_path: Path) -> None:
    written(tmp_path / "run")
    folder = RunFolder.open(tmp_path / "run")
    assert folder.manifest["valid"], folder.manifest["reasons"]
    assert folder.manifest["simulated"] and folder.manifest["testbed"] == "virtual"
    metrics = Metrics.read(tmp_path / "run/metrics.parquet")
    assert metrics.frame["source"].unique().to_list() == ["simulated"]
    assert metrics.value("response_time") == pytest.approx(RESPONSE, rel=0.1)
    assert metrics.value("utilisation", "core 0") == pytest.approx(0.3)
    assert metrics.value("softirq_utilisation", "core 0") == pytest.approx(0.2)
    assert metrics.value("utilisation", "core 1") == pytest.approx(0.3)


def test_it_gives_observations_like_a_measured_run(tmp_path: Path) -> None:
    seen = observe([written(tmp_path / "run")], blocks=10)
    assert seen.height == 10
    assert seen["rate_per_s"].unique().to_list() == [RATE]
    assert seen["util_leading"].to_list() == pytest.approx([0.3] * 10)
    assert seen["util_trailing"].to_list() == pytest.approx([0.3] * 10)
    assert seen["softirq_leading"].to_list() == pytest.approx([0.2] * 10)
    assert seen["response_s"].mean() == pytest.approx(RESPONSE, rel=0.1)


def test_columns_that_do_not_fit_are_refused_and_nothing_is_left(tmp_path: Path) -> None:
    for requests, words in (
        ({"intended_s": [0.0]}, "no column done_s.*give intended_s and done_s"),
        ({"intended_s": [0.0], "done_s": [1.0], "colour": [1]}, "colour.*use columns of"),
        ({"intended_s": [0.0], "done_s": [1.0, 2.0]}, "one length"),
    ):
        with pytest.raises(InputError, match=words):
            write_run(tmp_path / "run", manifest={}, requests=requests)
        assert not (tmp_path / "run").exists()


def test_a_run_is_not_written_over(tmp_path: Path) -> None:
    written(tmp_path / "run")
    with pytest.raises(RunFolderError, match="the folder exists"):
        written(tmp_path / "run")


def test_requests_still_under_way_count_as_present_and_not_as_answers(tmp_path: Path) -> None:
    intended = np.linspace(0, 10, 1001)
    done = np.where(intended > 9.995, np.nan, intended + 1e-3)
    folder = write_run(tmp_path / "run", manifest={}, requests=pl.DataFrame({"intended_s": intended, "done_s": done}))
    requests = folder.frame("requests")
    assert requests is not None
    assert requests["done_s"].is_nan().sum() == 1
    assert Metrics.read(folder.path / "metrics.parquet").value("throughput") == pytest.approx(100, rel=0.02)
