"""The message study on this machine: one short run of each kind, read whole; a small study from file to report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from message_cluster import needs_postgres

from sojourn.study import run_study
from sojourn.study.messages.analysis import laws
from sojourn.study.messages.live import LiveSystem
from sojourn.study.messages.plan import Load
from sojourn.study.messages.points import Point
from sojourn.study.messages.seen import frame

pytestmark = [pytest.mark.live, needs_postgres]

SMALL = """
name = "small"
title = "small"
testbed = "messages"
[load]
seconds = 0.5
warm_up_s = 0.2
repetitions = 1
tries = 1
[reference]
workers = 4
connections = 4
clients = 8
retry_s = 0.01
[calibration]
connections = [1, 2, 4]
[best]
clients = 16
workers_most = 8
connections_most = 8
[[section]]
name = "clients"
clients = [4, 16]
"""


def test_each_kind_of_run_is_read_whole(tmp_path: Path) -> None:
    points = [
        Point("one", 4, 2, 8, 0.02, 1, seconds=0.5),
        Point("calibration", 20, 2, 20, 0.0, 1, seconds=0.5),
        Point("two", 4, 2, 8, 0.02, 2, seconds=0.5),
    ]
    with LiveSystem(tmp_path, Load(warm_up_s=0.2)) as system:
        assert system.kind.startswith("PostgreSQL ")
        seen = frame(system.run(point) for point in points)
    assert seen["errors"].to_list() == seen["wrong"].to_list() == [0, 0, 0]
    assert (seen["throughput_per_s"] > 0).all()
    assert seen["empty_share"].is_between(0.02, 0.6).all()  # 1/5 in the long run: 1.5 takes a put
    assert laws(seen)["interactive_error"].abs().max() < 0.3
    for column in (
        "dispatch_s",
        "parse_s",
        "database_s",
        "respond_s",
        "service_cpu_s",
        "database_cpu_s",
        "client_cpu_s",
    ):
        assert (seen[column] > 0).all(), column
    assert (seen["mw_response_s"] < seen["response_s"]).all()
    calibration = seen.row(1, named=True)
    assert calibration["throughput_per_s"] * calibration["database_s"] < 2.2  # two connections
    assert calibration["wait_s"] > calibration["database_s"]  # twenty clients for two
    assert not list((tmp_path / "scratch").iterdir())


def test_from_a_file_to_a_report(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SMALL)
    result = run_study(tmp_path, out=tmp_path / "out", say=lambda _: None)
    assert result.verdict[0].startswith("reference (4 workers, 4 connections, 8 clients)")
    assert any("0 errors, 0 wrong messages" in line for line in result.verdict)
    assert [c["model"] for c in json.loads((tmp_path / "out" / "best.json").read_text())] == [
        "document",
        "measured",
        "usl",
    ]
    page = result.report.read_text()
    for heading in ("Best pool sizes", "Completions of the database", "clients: throughput", "Limits", "Laws"):
        assert heading in page
