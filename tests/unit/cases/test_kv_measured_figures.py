"""Figures of the key-value study, on runs made up by hand: curves by clients and by keys, CPU in time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from kv_rows import row, rows_of

from sojourn.runs.record_logs import write_parquet
from sojourn.runs.run_folder import RunFolder
from sojourn_cases.kv.measured_figures import client_figures, key_figures, load_figures

SECONDS = 2.0


def at(clients: int, x: float, queue_s: float, service_s: float = 2e-3, **more: Any) -> dict[str, Any]:
    """A run whose queue has the length that Little's law gives it."""
    return row(x, clients, queue_length=x * queue_s, queue_s=queue_s, service_s=service_s, **more)


def test_queue_waiting_and_service_time_are_there_for_every_number_of_clients() -> None:
    """X W of 1000/s x 0.1 ms, 2000/s x (1 and 3) ms, 2500/s x 10 ms: 0.1, 2 and 6, 25 requests; invalid runs do not count."""
    rows = rows_of(
        at(2, 1000.0, 1e-4), at(10, 2000.0, 1e-3), at(10, 2000.0, 3e-3, repetition=2), at(42, 2500.0, 1e-2),
        at(42, 9000.0, 1.0, valid=False), at(2, 1000.0, 5e-5, workers=64), at(10, 3000.0, 5e-5, workers=64),
        at(42, 4000.0, 1e-3, workers=64),
    )  # fmt: skip
    queue, waiting, service = client_figures("proxy", rows)
    assert queue.title == "proxy, staged, get: queue of a middleware"
    few, many = queue.series
    assert (few.name, many.name) == ("workers 8", "workers 64")
    assert few.x == (2.0, 10.0, 42.0)
    assert few.y == pytest.approx((0.1, 4.0, 25.0))
    assert few.low is not None and few.high is not None
    assert (few.low[0], few.high[0]) == (None, None), "one run has no spread"
    assert (few.low[1], few.high[1]) == pytest.approx((2.0, 6.0))
    assert waiting.series[0].y == pytest.approx((0.1, 2.0, 10.0))  # ms
    assert service.series[1].y == pytest.approx((2.0, 2.0, 2.0))


def test_curves_need_three_numbers_of_clients_and_a_middleware() -> None:
    two = rows_of(at(2, 1000.0, 1e-4), at(10, 2000.0, 1e-3))
    bare = rows_of(*(row(1000.0, n, design="none", proxies=0, workers=0) for n in (2, 10, 42)))
    assert list(client_figures("s", two)) == list(client_figures("s", bare)) == []


def test_response_times_by_the_number_of_keys() -> None:
    """N/X: 12 clients at 4000, 3000, 2000 and 1500/s wait 3, 4, 6 and 8 ms."""
    rates = {1: 4000.0, 3: 3000.0, 6: 2000.0, 9: 1500.0}
    whole = [row(x, 12, workload=f"multi-{keys}", p99_s=4 * 12 / x) for keys, x in rates.items()]
    few = [row(x, 32, workload=f"multi-{keys}", sharded=True) for keys, x in list(rates.items())[:2]]
    figure, throughput = key_figures(rows_of(*whole, *few))
    assert figure.title == "staged, whole: response time by keys"
    mean, tail = figure.series
    assert (mean.name, tail.name) == ("mean", "p99")
    assert mean.x == (1.0, 3.0, 6.0, 9.0)
    assert mean.y == pytest.approx((3.0, 4.0, 6.0, 8.0))
    assert tail.y == pytest.approx((12.0, 16.0, 24.0, 32.0))
    assert throughput.title == "staged: throughput by keys" and throughput.series[0].y == tuple(rates.values())


def test_whole_and_split_gets_stand_side_by_side_by_keys() -> None:
    """A server takes 1 ms for each key; split over three servers it takes as long as the keys of the server with the most."""
    rows = rows_of(*(
        row(1000.0, 12, workload=f"multi-{keys}", sharded=split, service_s=1e-3 * (-(-keys // 3) if split else keys))
        for keys in (1, 3, 6, 9) for split in (False, True)
    ))  # fmt: skip
    service = {figure.title: figure for figure in key_figures(rows)}["staged: service time by keys"]
    whole, split = service.series
    assert (whole.name, whole.y) == ("whole", pytest.approx((1.0, 3.0, 6.0, 9.0)))
    assert (split.name, split.y) == ("split", pytest.approx((1.0, 1.0, 2.0, 3.0)))


def test_a_mix_has_the_times_of_sets_and_of_gets_by_keys() -> None:
    """1 : i, a set for each get of i keys: sets take 2 ms whatever i is, a get 1 ms and one for each key; the mean is between them."""
    rows = rows_of(*(
        row(12 / (1e-3 * (3 + keys) / 2), 12, workload=f"mixed-{keys}", set_response_s=2e-3, get_response_s=1e-3 * (1 + keys))
        for keys in (1, 3, 6, 9)
    ))  # fmt: skip
    figure, throughput = key_figures(rows)
    assert figure.title == "staged, whole, a set for each get: response time by keys"
    lines = {series.name: series for series in figure.series}
    assert lines["sets"].y == pytest.approx((2.0,) * 4)
    assert lines["gets"].y == pytest.approx((2.0, 4.0, 7.0, 10.0))
    assert lines["mean"].y == pytest.approx((2.0, 3.0, 4.5, 6.0))
    assert throughput.title == "staged, a set for each get: throughput by keys"
    alone = rows_of(*(row(1000.0, 12, workload=f"multi-{keys}") for keys in (1, 3, 6)))
    assert figure.title in [one.title for one in key_figures(pl.concat([alone, rows]))], "each kind by itself"


def folder(path: Path, cores: dict[int, float], until_s: float = SECONDS) -> RunFolder:
    """A run whose processes used so many cores all the time, sampled every 0.1 s."""
    times = 0.1 * np.arange(round(until_s / 0.1) + 1)
    frames = [
        pl.DataFrame({"t_s": times, "source": "procs", "key": str(pid), "item": "run_s", "value": used * times})
        for pid, used in cores.items()
    ]
    resources = {
        "client": {"capacity": 1.0, "pids": [1]}, "servers": {"capacity": 2.0, "pids": [2, 3]},
        "middleware": {"capacity": 1.0, "pids": [4]},
    }  # fmt: skip
    made = RunFolder.create(path, {"window_s": [0.0, until_s], "resources": resources})
    write_parquet(pl.concat(frames), path / "host.parquet")
    return made


def test_busy_cores_in_time_are_those_of_the_run_with_the_most_throughput(tmp_path: Path) -> None:
    """Two servers of 0.2 and 0.5 cores: together 0.7 of the two that they may have."""
    folders = {
        "slow": folder(tmp_path / "slow", {1: 0.1, 2: 0.1, 3: 0.1, 4: 0.1}),
        "best": folder(tmp_path / "best", {1: 0.6, 2: 0.2, 3: 0.5, 4: 0.9}),
    }
    rows = rows_of(row(1000.0, 2, run="slow"), row(5000.0, 42, run="best"), row(9000.0, 66, run="wrong", valid=False))
    (figure,) = load_figures("proxy", rows, folders)
    assert "42 clients" in figure.note
    assert [series.name for series in figure.series] == ["client", "servers", "middleware"]
    for series, used in zip(figure.series, (0.6, 0.7, 0.9), strict=True):
        assert len(series.x) == 20 and series.x[0] == pytest.approx(0.05)
        assert series.y == pytest.approx((used,) * 20)


def test_what_hosts_send_is_drawn_where_it_was_counted(tmp_path: Path) -> None:
    """1 MB in each 0.1 s are 80 Mbit/s; before the window it was more; a counter of another kind is none of bytes."""
    run = folder(tmp_path / "best", {1: 0.6, 2: 0.2, 3: 0.5, 4: 0.9})
    host = run.frame("host")
    assert host is not None
    times = 0.1 * np.arange(-3, round(SECONDS / 0.1) + 1)
    sent = {"proxy1": 1e7 * times, "server1": np.where(times < 0, 1e9 * times, 2e7 * times)}
    rows = [
        pl.DataFrame({"t_s": times, "source": "hosts", "key": name, "item": item, "value": value})
        for name, value in sent.items() for item in ("sent_bytes", "periods")
    ]  # fmt: skip
    write_parquet(pl.concat([host, *rows]), tmp_path / "best/host.parquet")
    _, network = load_figures("proxy", rows_of(row(5000.0, 42, run="best")), {"best": run})
    assert [series.name for series in network.series] == ["proxy1", "server1"]
    for series, rate in zip(network.series, (80.0, 160.0), strict=True):
        assert len(series.x) == 20 and series.x[0] == pytest.approx(0.05)
        assert series.y == pytest.approx((rate,) * 20)


def test_runs_without_samples_have_no_figure(tmp_path: Path) -> None:
    bare = RunFolder.create(tmp_path / "bare", {"resources": {"client": {"capacity": 1.0, "pids": [1]}}})
    short = folder(tmp_path / "short", {1: 0.1, 2: 0.1, 3: 0.1, 4: 0.1}, until_s=0.1)
    for name, run in (("bare", bare), ("short", short)):
        assert list(load_figures("s", rows_of(row(1.0, run=name)), {name: run})) == []
