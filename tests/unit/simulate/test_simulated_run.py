"""A simulated run stands where a measured one does: written, opened, judged, observed."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn.errors import InputError, RunFolderError
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_folder import cpu_rows, write_run
from sojourn.simulate.virtual_host import VirtualHost, simulate_host, write_host_run
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


def test_columns_that_do_not_fit_are_refused_and_nothing_is_left(tmp_path: Path) -> None:
    for requests, words in (
        ({"intended_s": [0.0]}, "no column done_s.*give intended_s and done_s"),
        ({"intended_s": [0.0], "done_s": [1.0], "colour": [1]}, "colour.*use columns of"),
        ({"intended_s": [0.0], "done_s": [1.0, 2.0]}, "equal length"),
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


def test_refused_and_late_requests_are_failures_by_name(tmp_path: Path) -> None:
    """One core that takes 0.1 s for a page, with room for two; a client that waits 0.15 s: the second is late."""
    law = {"kind": "deterministic", "mean": 0.1}
    host = VirtualHost(1, 1, {"kind": "deterministic", "mean": 0.0}, law, capacity=2)
    trace = {"kind": "trace", "times_s": [0.0, 0.01, 0.02, 1.0]}
    run = simulate_host(host, arrivals=trace, duration_s=2.0)
    folder = write_host_run(tmp_path / "run", run, {"factors": {"cores": 1, "nics": 1}}, timeout_s=0.15)
    requests = folder.frame("requests")
    assert requests is not None
    names = folder.manifest["records"]["requests"]["failures"]
    assert [names[k] for k in requests["failure"]] == ["ok", "timeout", "refused", "ok"]
    assert requests["done_s"].to_list() == pytest.approx([0.1, 0.16, 0.02, 1.1])
    assert folder.manifest["generator"]["failures"] == {"timeout": 1, "refused": 1}


def test_counters_every_100_ms_are_the_hosts_own(tmp_path: Path) -> None:
    host = VirtualHost(
        2, 1, {"kind": "deterministic", "mean": 1e-3}, {"kind": "exponential", "mean": 2e-3}, switch_s=1e-4
    )
    run = simulate_host(host, rate_per_s=300.0, duration_s=5.0)
    folder = write_host_run(tmp_path / "run", run, {"factors": {"cores": 2, "nics": 1, "rate_per_s": 300.0}})
    frame = folder.frame("host")
    assert frame is not None
    cpu = frame.filter(pl.col("source") == "cpu")
    assert cpu["t_s"].unique().sort().to_list()[:3] == pytest.approx([0.0, 0.1, 0.2])
    for item, work in (("softirq", "interrupt_s"), ("user", "page_s")):
        last = cpu.filter(pl.col("item") == item, pl.col("t_s") == run.end_s)["value"].sum()
        assert last == pytest.approx(run.requests[work].sum())
    app = folder.frame("app")
    assert app is not None
    assert app["drawn_s"].sum() == pytest.approx(run.requests["page_s"].sum())
    assert app["fixed_s"].sum() == pytest.approx(run.states["system"][-1].sum())
