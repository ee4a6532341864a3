"""Busy shares in time from a run's host record and from CSV files, by made-up samples worked by hand; the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner, Result

from sojourn.cli.app import command_line
from sojourn.diagnosis.oscillation import oscillation
from sojourn.diagnosis.oscillation_section import oscillation_section
from sojourn.diagnosis.share_columns import share_columns
from sojourn.errors import InputError, RunFolderError
from sojourn.measure.run_report import runs_document
from sojourn.report import Figure, Table
from sojourn.runs.busy_series import busy_series
from sojourn.runs.run_folder import RunFolder

sys.path.insert(0, str(Path(__file__).parents[3] / "benches/oscillation"))

from known_pairs import CASES, pair

STEP_S = 0.1


def counters(times: list[float], **shares: list[float]) -> pl.DataFrame:
    """Counters that grow by each share of the time to the next sample; a name is source__key__item."""
    rows = []
    for name, values in shares.items():
        scale = 1e3 if name.endswith("io_ms") else 1.0
        grown = [0.0, *np.cumsum(np.diff(times) * values * scale)]
        rows += [(t, *name.split("__"), float(value)) for t, value in zip(times, grown, strict=True)]
    return pl.DataFrame(rows, schema=["t_s", "source", "key", "item", "value"], orient="row")


def folder(path: Path, host: pl.DataFrame | None, **manifest: Any) -> RunFolder:
    path.mkdir()
    whole = {"format": "sojourn-run", "version": 1, "status": "complete", "window_s": [-1.0, 1e9], **manifest}
    (path / "manifest.json").write_text(json.dumps(whole))
    if host is not None:
        host.write_parquet(path / "host.parquet")
    return RunFolder.open(path)


def small(path: Path, **manifest: Any) -> RunFolder:
    """Four intervals on two cores. Core 0: user .5, then soft interrupts .5 besides; core 1: idle, then spinner (nice)."""
    times = [STEP_S * k for k in range(5)]
    host = counters(
        times,
        cpu__0__user=[0.5] * 4, cpu__0__softirq=[0.0, 0.0, 0.5, 0.5], cpu__0__idle=[0.5, 0.5, 0.0, 0.0],
        cpu__1__idle=[1.0, 1.0, 0.0, 0.0], cpu__1__nice=[0.0, 0.0, 1.0, 1.0],
        disks__vda__io_ms=[1.0, 0.2, 1.0, 0.2], disks__sr0__io_ms=[0.0] * 4,
        cgroups__db__usage_s=[0.6, 0.0, 0.6, 0.0], procs__7__run_s=[0.3, 0.0, 0.0, 0.3],
    )  # fmt: skip
    return folder(path, host, **manifest)


RESOURCES = {
    "db": {"capacity": 0.75, "cgroup": "db"},
    "app": {"capacity": 1.0, "pids": [7, 8]},
    "first": {"capacity": 1, "cores": [0]},
    "store": {"capacity": 1, "disk": "vda"},
}


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("cpu", [0.25, 0.25, 0.5, 0.5]),
        ("cpu:0", [0.5, 0.5, 1.0, 1.0]),
        ("cpu:0-1", [0.25, 0.25, 0.5, 0.5]),
        ("disk:vda", [1.0, 0.2, 1.0, 0.2]),
        ("cgroup:db", [0.8, 0.0, 0.8, 0.0]),
        ("db", [0.8, 0.0, 0.8, 0.0]),
        ("app", [0.3, 0.0, 0.0, 0.3]),
        ("first", [0.5, 0.5, 1.0, 1.0]),
        ("store", [1.0, 0.2, 1.0, 0.2]),
    ],
)
def test_busy_shares_of_what_was_recorded(tmp_path: Path, name: str, share: list[float]) -> None:
    shares, interval_s = busy_series(small(tmp_path / "run", resources=RESOURCES), [name])
    assert shares[0] == pytest.approx(share) and interval_s == pytest.approx(STEP_S)


def test_a_control_group_without_a_capacity_is_a_share_of_the_machine(tmp_path: Path) -> None:
    assert busy_series(small(tmp_path / "run"), ["cgroup:db"])[0][0] == pytest.approx([0.3, 0.0, 0.3, 0.0])


def test_only_the_window_counts_and_a_missed_sample_is_filled(tmp_path: Path) -> None:
    """Of 60 samples the 31st is missing: its two intervals have the share of both, .5."""
    times = [STEP_S * k for k in range(60) if k != 30]
    share = [0.1 if k < 29 else 0.5 if k == 29 else 0.9 for k in range(58)]
    run = folder(tmp_path / "run", counters(times, disks__vda__io_ms=share), window_s=[0.95, 5.95])
    shares, interval_s = busy_series(run, ["disk:vda"])
    assert shares[0] == pytest.approx([0.1] * 19 + [0.5] * 2 + [0.9] * 28) and interval_s == pytest.approx(STEP_S)


def test_a_record_with_holes_is_refused(tmp_path: Path) -> None:
    times = [STEP_S * k for k in range(60) if k % 7]
    run = folder(tmp_path / "run", counters(times, disks__vda__io_ms=[0.5] * (len(times) - 1)))
    with pytest.raises(RunFolderError, match=r"samples are missing for .*% of its window"):
        busy_series(run, ["disk:vda"])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("disk:vdb", "no disk:vdb in the host record; give one of disk:sr0, disk:vda"),
        ("cgroup:web", "give one of cgroup:db"),
        ("station:cpu", "no station:cpu in the host record; none was recorded; give cpu, cpu:0-1"),
        ("cpu:2", "cpu:2: no core 2; give some of 0, 1"),
        ("cpu:x", "cpu:x: 'x'; give cores like 0-2,5"),
        ("memory", "no memory; give cpu, .*its resources: db, app, first, store"),
    ],
)
def test_what_was_not_recorded_is_told_with_what_was(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        busy_series(small(tmp_path / "run", resources=RESOURCES), [name])


def test_a_resource_cannot_be_busier_than_its_capacity(tmp_path: Path) -> None:
    less = {"db": {"capacity": 0.25, "cgroup": "db"}}
    with pytest.raises(InputError, match=r"db is busy 1.20 of its capacity; set its true capacity in the study"):
        busy_series(small(tmp_path / "run", resources=less), ["db"])


def test_a_run_without_a_host_record_or_with_a_short_one(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="no host record"):
        busy_series(folder(tmp_path / "none", None), ["cpu"])
    with pytest.raises(RunFolderError, match="2 host samples in its window"):
        busy_series(small(tmp_path / "short", window_s=[0.05, 0.25]), ["cpu"])


def csv(path: Path, head: str, lines: list[str]) -> Path:
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


def test_columns_with_times_in_seconds_dates_or_an_interval(tmp_path: Path) -> None:
    seconds = csv(tmp_path / "s.csv", "t_s,cpu,disk", [f"{5 + k / 10:.1f},{k / 10},0.5" for k in range(4)])
    shares, interval_s = share_columns(seconds, ("cpu", "disk"))
    assert shares.tolist() == [[0.0, 0.1, 0.2, 0.3], [0.5] * 4] and interval_s == pytest.approx(0.1)
    lines = [f"2026-11-23T01:02:03.{k}00,{k},50" for k in range(4)]
    dates = csv(tmp_path / "d.csv", "when,cpu,disk", lines)
    shares, interval_s = share_columns(dates, ("cpu", "disk"), time="when", percent=True)
    assert shares.tolist() == [[0.0, 0.01, 0.02, 0.03], [0.5] * 4] and interval_s == pytest.approx(0.1)
    assert share_columns(dates, ("cpu", "disk"), interval_s=0.05)[1] == 0.05


@pytest.mark.parametrize(
    ("head", "lines", "told"),
    [
        ("t_s,cpu,dsk", ["0,1,1"] * 3, "no column 'disk'; it has t_s, cpu, dsk"),
        ("when,cpu,disk", ["0,1,1"] * 3, "no column of times; give --sample-interval 100ms, or --time-column COLUMN"),
        ("t_s,cpu,disk", ["0,1,1", "0.1,,1", "0.2,1,1"], r"x.csv:3: None in cpu; every line needs a number"),
        ("t_s,cpu,disk", ["0,1,1", "0.1,1,idle", "0.2,1,1"], r"x.csv:3: 'idle' in disk"),
        ("t_s,cpu,disk", ["0,1,1", "0.1,1,NaN"], r"x.csv:3: .*nan.* in disk"),
        ("t_s,cpu,disk", ["0,1,1", "0.1,1,1", "0.05,1,1", "0.2,1,1"], r"x.csv:4: times do not grow"),
        ("t_s,cpu,disk", ["0,1,1", "0.1,1,1", "0.2,1,1", "9,1,1"], r"x.csv:5: 8.8 s from one sample to the next, where 0.1"),
        ("t_s,cpu,disk", ["0,1,1"], "1 samples; give more"),
        ("t_s,cpu,disk", [], "0 samples; give more"),
    ],
)  # fmt: skip
def test_columns_that_cannot_be_read_are_named(tmp_path: Path, head: str, lines: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        share_columns(csv(tmp_path / "x.csv", head, lines), ("cpu", "disk"))


def test_what_is_no_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InputError, match="empty.csv: .*give a CSV file with a line of names"):
        share_columns(tmp_path / "empty.csv", ("a", "b"))


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(command_line(["oscillation"]), ["oscillation", *(str(a) for a in arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


RECORDED = sorted((Path(__file__).parents[3] / "benches/oscillation").glob("*/live/*.csv"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_counters_of_a_machine_under_a_load_whose_truth_is_known(path: Path) -> None:
    """Recorded by benches/oscillation/live.py: a core and a disk busy in turn, or each by itself; the file's name says the truth."""
    shares, interval_s = share_columns(path, ("core", "disk"))
    assert oscillation(shares[0], shares[1], interval_s).verdict == path.stem.partition("-")[0]


def test_recorded_counters_are_there() -> None:
    assert len(RECORDED) >= 9


def test_the_report_has_a_section_where_a_bottleneck_oscillates(tmp_path: Path) -> None:
    cpu, disk = pair(CASES[0], 1, 30.0)
    times = [STEP_S * k for k in range(301)]
    busy = {"cpu__0__user": cpu.tolist(), "cpu__0__idle": (1 - cpu).tolist(), "disks__vda__io_ms": disk.tolist()}
    host = counters(times, **busy, disks__vdb__io_ms=[0.05] * 300)
    run = folder(tmp_path / "run", host, window_s=[0.0, 30.0])
    section = oscillation_section([run])
    assert section is not None and "means over a second hide it" in section.lead
    table, *figures = section.blocks
    assert isinstance(table, Table) and [row[:3] for row in table.rows] == [("run", "cpu and disk:vda", "hidden")]
    assert sum(isinstance(block, Figure) for block in figures) == 3
    assert section in runs_document([run.path]).sections
    short = folder(tmp_path / "short", host, window_s=[0.0, 10.0])
    assert oscillation_section([short, folder(tmp_path / "none", None)]) is None


def test_the_command_says_the_same_of_a_run_and_of_its_columns(tmp_path: Path) -> None:
    cpu, disk = pair(CASES[0], 1, 30.0)
    lines = [f"{STEP_S * k:.1f},{100 * a},{100 * b}" for k, (a, b) in enumerate(zip(cpu, disk, strict=True))]
    columns = csv(tmp_path / "x.csv", "t_s,cpu,disk", lines)
    times = [STEP_S * k for k in range(301)]
    host = counters(times, cpu__0__user=cpu.tolist(), cpu__0__idle=(1 - cpu).tolist(), disks__vda__io_ms=disk.tolist())
    folder(tmp_path / "run", host)
    out = tmp_path / "page.html"
    told = run(columns, "--resource-a", "cpu", "--resource-b", "disk", "--shares-in-percent", "--out", out)
    assert "The bottleneck oscillates between cpu and disk, and means over a second hide it" in told.output
    assert out.read_text().startswith("<!")
    found = json.loads(run(tmp_path / "run", "--resource-a", "cpu", "--resource-b", "disk:vda", "--json").output)
    by_columns = json.loads(
        run(columns, "--resource-a", "cpu", "--resource-b", "disk", "--shares-in-percent", "--json").output
    )
    assert found["verdict"] == "hidden" and found["samples"] == 300
    assert found["correlation"] == pytest.approx(by_columns["correlation"], abs=1e-6)
    with pytest.raises(InputError, match="a run folder with --sample-interval, --time-column or --shares-in-percent"):
        run(tmp_path / "run", "--resource-a", "cpu", "--resource-b", "disk:vda", "--shares-in-percent")
