"""Busy shares from made-up host samples whose answer is worked by hand: one core, two seconds."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sojourn.runs.core_utilisation import busy_shares, core_groups, run_time, softirq_shares
from sojourn.runs.host_samples import cache_miss_rates
from sojourn_cases.web import idle_baseline

SPINNER, SERVICE, OBSERVER = 10, 20, 30
EDGES = np.array([0.0, 1.0, 2.0])


def counter(source: str, key: str, item: str, values: list[float]) -> pl.DataFrame:
    times = np.linspace(0, 2, len(values))
    names = {"source": source, "key": key, "item": item}
    return pl.DataFrame({"t_s": times, "value": [float(v) for v in values]}).with_columns(
        **{k: pl.lit(v) for k, v in names.items()}
    )


def thread(pid: int, tid: int, run: list[float], core: float = 0) -> list[pl.DataFrame]:
    key = f"{pid}/{tid}"
    return [counter("thread", key, "run_s", run), counter("thread", key, "core", [core] * len(run))]


def host() -> pl.DataFrame:
    """Core 0, first and second: 0.3 s and 0.1 s softirq by ticks; spinner 0.5 s and 0.8 s; collector 0.01 s each."""
    ticks = {"user": [0, 0.2, 0.3], "softirq": [0, 0.3, 0.4], "nice": [0, 0.5, 1.3]}
    parts = [counter("cpu", "0", state, values) for state, values in ticks.items()]
    parts += thread(SPINNER, SPINNER + 1, [0, 0.5, 1.3])
    parts += thread(SERVICE, SERVICE, [0, 0.9, 0.9])
    parts += thread(SERVICE, SERVICE + 1, [0, 0.2, 0.25])
    parts += thread(OBSERVER, OBSERVER, [0, 0.01, 0.02])
    return pl.concat(parts)


def manifest(**more: Any) -> dict[str, Any]:
    return {"pids": {"spinners": SPINNER, "service": SERVICE, "observer": OBSERVER}, **more}


def shared(interrupts: list[int], client: list[int]) -> dict[str, Any]:
    return {"placement": {"server": [0], "interrupts": interrupts, "client": client, "client_shares": True}}


def test_where_the_client_takes_the_interrupts_busy_is_what_the_spinner_did_not_get() -> None:
    busy = busy_shares(host(), manifest(at_rest={"0": 0.002}, **shared([0], [0])), EDGES)[0]
    assert busy == pytest.approx([1 - 0.5 - 0.01 - 0.002, 1 - 0.8 - 0.01 - 0.002])


def test_where_interrupts_come_from_elsewhere_busy_is_by_ticks() -> None:
    """They hit the spinner, whose run time then holds them."""
    place = {"placement": {"server": [0], "interrupts": [0], "client": [1], "client_shares": False}}
    assert busy_shares(host(), manifest(**place), EDGES)[0] == pytest.approx([0.5, 0.2])


def test_without_spinners_what_the_machine_does_at_rest_is_no_work_for_the_service() -> None:
    """0.5 s and 0.2 s by ticks of one second each, of which 0.05 s at rest; with spinners it was measured by them."""
    place = {"placement": {"server": [0], "interrupts": [0], "client": [], "client_shares": False}}
    guest = {"pids": {"guest": SERVICE}, "at_rest": {"0": 0.05}, **place}
    assert busy_shares(host(), guest, EDGES)[0] == pytest.approx([0.45, 0.15])
    assert busy_shares(host(), manifest(at_rest={"0": 0.05}, **place), EDGES)[0] == pytest.approx([0.5, 0.2])


def test_a_trailing_core_is_as_busy_as_the_service_on_it() -> None:
    busy = busy_shares(host(), manifest(**shared([1], [1])), EDGES)[0]
    assert busy == pytest.approx([0.2, 0.05])


def test_without_spinners_busy_is_by_ticks() -> None:
    assert busy_shares(host(), {}, EDGES)[0] == pytest.approx([0.5, 0.2])


def test_interrupt_shares_are_by_ticks() -> None:
    assert softirq_shares(host(), EDGES)[0] == pytest.approx([0.3, 0.1])


def test_run_time_leaves_out_the_main_thread() -> None:
    assert run_time(host(), SERVICE, [0]) == pytest.approx(0.25)
    assert run_time(host(), SERVICE, [1]) == 0


def test_cache_misses_are_a_rate_of_each_core_where_they_are_counted() -> None:
    counted = pl.concat([counter("perf", str(core), "cache_misses", [0, 1000 * (core + 1), 4000]) for core in (0, 1)])
    assert cache_miss_rates(pl.concat([host(), counted]), 0.0, 1.0) == {0: 1000.0, 1: 2000.0}
    assert cache_miss_rates(host(), 0.0, 1.0) == {}


def test_core_groups() -> None:
    place = {"placement": {"server": [0, 1, 2], "interrupts": [0, 0], "client": [], "client_shares": True}}
    assert core_groups(place) == ([0], [1, 2])
    assert core_groups({"host": {"cores": [0, 1]}}) == ([0, 1], [])


def test_without_spinners_nothing_is_measured_at_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study on loopback had waited for three seconds of samples before each of its runs, and used none of them."""
    monkeypatch.setattr(idle_baseline, "WorkerProcess", None)
    assert idle_baseline.at_rest({"service": SERVICE}, 0, tmp_path) == {}
