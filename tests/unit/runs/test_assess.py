"""The verdict on a run: each reason for which a run is not valid, from records made up to show it."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sojourn.measure.run_report import validity_rule
from sojourn.runs.assess_run import assess
from sojourn.runs.disturbances import disturbed as disturbances
from sojourn.runs.run_folder import RunFolder
from sojourn.table import Metrics

RATE, SECONDS, RESPONSE = 200.0, 10.0, 0.004


def requests(seed: int = 1, response: Any = None, failure: int = 0, late_s: float = 1e-5) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    intended = np.sort(rng.uniform(0, SECONDS, int(RATE * SECONDS)))
    took = rng.exponential(RESPONSE, intended.size) if response is None else response(intended)
    return pl.DataFrame(
        {
            "intended_s": intended,
            "sent_s": intended + late_s,
            "received_s": intended + late_s + took,
            "done_s": intended + late_s + took + 1e-5,
            "failure": np.full(intended.size, failure, np.uint8),
            "class": np.zeros(intended.size, np.uint16),
        }
    )


def judged(path: Path, frame: pl.DataFrame, late_s: float = 1e-5, late_p99_s: float = 0.0, **more: Any) -> RunFolder:
    folder = RunFolder.create(
        path / "run", {"load": {"lanes": [{"arrivals": {}}]}, "factors": {"rate_per_s": RATE}} | more
    )
    folder.manifest["generator"] = {
        "start_s": 0.0,
        "end_s": SECONDS,
        "own_lateness": {"mean_s": late_s, "p99_s": late_p99_s},
        "failures": {"status": 9},
    }
    frame.write_parquet(folder.path / "requests.parquet")
    assess(folder)
    return folder


def test_a_good_run_is_valid_and_its_metrics_are_those_of_its_records(tmp_path: Path) -> None:
    folder = judged(tmp_path, requests())
    assert folder.manifest["valid"], folder.manifest["reasons"]
    metrics = Metrics.read(folder.path / "metrics.parquet")
    assert metrics.value("response_time", run="run") == pytest.approx(RESPONSE, rel=0.1)
    assert metrics.value("response_time_quantile", q=0.99) == pytest.approx(RESPONSE * np.log(100), rel=0.2)


@pytest.mark.parametrize(("mean", "holds"), [(RATE * RESPONSE, True), (2 * RATE * RESPONSE, False), (None, None)])
def test_littles_law_is_checked_by_what_the_generator_counted(tmp_path: Path, mean: float, holds: bool) -> None:
    """The number in flight of an M/G/inf is Poisson with mean X R = 0.8. Without counts there is nothing to check: the number
    by the records' own time stamps is a sum of the response times."""
    counts = np.random.default_rng(3).poisson(mean, 1000).tolist() if mean else []
    folder = RunFolder.create(tmp_path / "run", {"load": {"lanes": [{"arrivals": {}}]}, "factors": {}})
    in_flight = list(zip(np.linspace(0, SECONDS, 1000).tolist(), counts, strict=False))
    folder.manifest["generator"] = {"start_s": 0.0, "end_s": SECONDS, "own_lateness": {}, "in_flight": in_flight}
    requests().write_parquet(folder.path / "requests.parquet")
    assess(folder)
    said = [line for line in folder.manifest["checks"]["laws"] if "Little" in line]
    assert [line.startswith("Little's law holds") for line in said] == ([] if holds is None else [holds])
    assert any("Little's law is off" in reason for reason in folder.manifest["reasons"]) == (holds is False)


def test_a_warm_up_that_may_go_on_is_a_warning(tmp_path: Path) -> None:
    cold = lambda t: RESPONSE * (1 + 9 * np.clip(1 - t / 4, 0, 1)) * np.random.default_rng(1).exponential(1, t.size)  # noqa: E731
    assert "the warm-up may last longer" in "; ".join(
        judged(tmp_path / "cold", requests(response=cold)).manifest["warnings"]
    )
    assert judged(tmp_path / "warm", requests()).manifest["warnings"] == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"frame": requests(failure=5)}, "1903 of 1903 requests after the warm-up failed"),
        ({"late_s": 0.002, "frame": requests(late_s=0.002)}, "it sent 2 ms late on average"),
        (
            {"late_s": 0.0005, "frame": requests(response=lambda t: 0.001 + 0 * t, late_s=0.0005)},
            "it sent 0.5 ms late on average, 33%",
        ),
        ({"frame": requests(response=lambda t: 0.001 + 0.002 * t)}, r"not stationary.*\(overload\?\)"),
        ({"frame": requests(response=lambda t: 0.021 - 0.002 * t)}, r"not stationary.*-\d+%.*\(not yet warm"),
        ({"frame": requests(response=lambda t: np.full(t.size, 6.0))}, "flow is not balanced"),
    ],
)
def test_each_reason(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    folder = judged(tmp_path, **{"frame": requests(), **change})
    assert not folder.manifest["valid"]
    assert re.search(reason, "; ".join(folder.manifest["reasons"]))


def test_a_pulse_is_not_asked_for_a_steady_state_and_for_all_else(tmp_path: Path) -> None:
    """A mean over a planned window: its trend is told, and is no reason; that answers do not keep up with requests is one."""
    drifting = requests(response=lambda t: 0.001 + 0.002 * t)
    folder = judged(tmp_path / "drift", drifting, pulse=True)
    assert folder.manifest["valid"], folder.manifest["reasons"]
    assert folder.manifest["checks"]["trend"]["drift"] > 1
    late = judged(tmp_path / "late", requests(response=lambda t: np.full(t.size, 6.0)), pulse=True)
    assert "flow is not balanced" in "; ".join(late.manifest["reasons"])
    assert "stationary" not in validity_rule([folder]) and "stationary" in validity_rule([judged(tmp_path, requests())])


@pytest.mark.parametrize(("sent", "done", "orderly"), [(-40e-6, 0, True), (-60e-6, 0, False), (0, -60e-6, False)])
def test_an_answer_is_received_between_sent_and_done(tmp_path: Path, sent: float, done: float, orderly: bool) -> None:
    """`sent`, `done`: by how much one answer's receive time lies after its send, its read after the receive time, s."""
    time = pl.when(pl.int_range(pl.len()) == 1000).then
    frame = requests().with_columns(
        received_s=time(pl.col("sent_s") + sent).otherwise("received_s") if sent else "received_s"
    )
    frame = frame.with_columns(done_s=time(pl.col("received_s") + done).otherwise("done_s") if done else "done_s")
    reasons = "; ".join(judged(tmp_path, frame).manifest["reasons"])
    assert ("times are out of order" in reasons) is not orderly


def test_lateness_of_a_client_that_shares_the_interrupts_core_is_part_of_the_system(tmp_path: Path) -> None:
    folder = judged(tmp_path, requests(), late_s=0.002, placement={"client_shares": True})
    assert folder.manifest["valid"], folder.manifest["reasons"]


def test_in_a_closed_loop_on_memcached_the_generators_own_time_is_think_time(tmp_path: Path) -> None:
    users, own_s = 4, 0.004
    rng = np.random.default_rng(1)
    parts = []
    for _ in range(users):
        took = rng.exponential(RESPONSE, int(SECONDS / (RESPONSE + own_s)))
        start = np.concatenate([[0.0], np.cumsum(took + own_s)[:-1]])
        columns = {"intended_s": start, "sent_s": start, "received_s": start + took, "done_s": start + took + own_s}
        kinds = {"failure": np.zeros(took.size, np.uint8), "class": np.zeros(took.size, np.uint16)}
        parts.append(pl.DataFrame(columns | kinds))
    frame = pl.concat(parts).filter(pl.col("intended_s") < SECONDS).sort("intended_s")
    load = {"lanes": [{"closed": {"users": users}}]}
    assert judged(tmp_path / "kv", frame, load=load | {"kv": {}}).manifest["valid"]
    assert "interactive" in "; ".join(judged(tmp_path / "http", frame, load=load).manifest["reasons"])


def host(steal: float, others_s: float) -> pl.DataFrame:
    """One core for 10 s: `steal` of it stolen, spinner and service use all but `others_s` seconds."""
    rows = []
    for t in np.linspace(0, SECONDS, 51):
        share = t / SECONDS
        rows += [(t, "cpu", "0", "steal", steal * t), (t, "cpu", "0", "idle", (1 - steal) * t)]
        rows += [(t, "procs", "7", "run_s", (SECONDS - others_s) * share)]
    return pl.DataFrame(rows, schema=["t_s", "source", "key", "item", "value"], orient="row")


@pytest.mark.parametrize(
    ("steal", "others_s", "reason"), [(0.05, 0.5, "hypervisor took 5.0%"), (0.0, 1.0, "other processes used 1")]
)
def test_a_disturbed_run_is_marked(tmp_path: Path, steal: float, others_s: float, reason: str) -> None:
    folder = RunFolder.create(
        tmp_path / "run", {"load": {"lanes": [{"arrivals": {}}]}, "factors": {}, "pids": {"spinners": 7}}
    )
    folder.manifest["generator"] = {"start_s": 0.0, "end_s": SECONDS, "own_lateness": {"mean_s": 0.0}}
    requests().write_parquet(folder.path / "requests.parquet")
    host(steal, others_s).write_parquet(folder.path / "host.parquet")
    assess(folder)
    assert reason in "; ".join(folder.manifest["reasons"])


@pytest.mark.parametrize(("ticks", "disturbed"), [(1, False), (2, False), (3, True)])
def test_one_tick_of_stolen_time_is_what_the_kernel_cannot_tell_from_none(
    tmp_path: Path, ticks: int, disturbed: bool
) -> None:
    """In half a second a tick of 10 ms is 2 % of a core: as much as is allowed at all."""
    folder = RunFolder(tmp_path, {"pids": {}})
    rows = [
        (t, "cpu", "0", item, value * t / 0.5)
        for t in (0.0, 0.5)
        for item, value in (("steal", 0.01 * ticks), ("idle", 0.5 - 0.01 * ticks))
    ]
    samples = pl.DataFrame(rows, schema=["t_s", "source", "key", "item", "value"], orient="row")
    assert bool(disturbances(folder, samples, (0.0, 0.5), {})[0]) is disturbed


def test_a_run_without_a_request_is_not_valid(tmp_path: Path) -> None:
    folder = judged(tmp_path, requests().clear())
    assert folder.manifest["reasons"] == ["no request was recorded"]
    folder.save()
    assert json.loads((folder.path / "manifest.json").read_text())["valid"] is False


@pytest.mark.parametrize(("own_s", "disturbed"), [(3.1, False), (2.9, True)])
def test_without_spinners_others_are_what_was_used_and_not_by_the_run(
    tmp_path: Path, own_s: float, disturbed: bool
) -> None:
    """A core busy for 4 of 10 s, at most 10 % of it for others; where it is not known who belongs to the run, nobody asks."""
    rows: list[tuple[float, str, str, str, float]] = []
    for t in np.linspace(0, SECONDS, 51):
        share = t / SECONDS
        rows += [
            (t, "cpu", "0", "user", 4 * share),
            (t, "cpu", "0", "idle", 6 * share),
            (t, "procs", "7", "run_s", own_s * share),
        ]
    for known in (True, False):
        where = tmp_path / str(known) / "run"
        folder = RunFolder.create(where, {"load": {"lanes": [{"arrivals": {}}]}, "factors": {}, "all_known": known})
        requests().write_parquet(folder.path / "requests.parquet")
        names = ["t_s", "source", "key", "item", "value"]
        pl.DataFrame(rows, schema=names, orient="row").write_parquet(folder.path / "host.parquet")
        assess(folder)
        assert any("disturbed: other processes" in r for r in folder.manifest["reasons"]) == (disturbed and known)


def test_the_warm_up_is_what_the_manifest_says_at_least(tmp_path: Path) -> None:
    usual, said = (judged(tmp_path / name, requests(), **more).manifest["window_s"][0]
                   for name, more in (("usual", {}), ("said", {"warm_up_s": 6.0})))  # fmt: skip
    assert 0.5 <= usual < 6.0 == pytest.approx(said)
