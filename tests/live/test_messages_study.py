"""The message study on this machine: a small study from file to report."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from message_cluster import needs_postgres

from sojourn.query import query
from sojourn.query.query import as_source
from sojourn.runs.run_folder import RunFolder
from sojourn.study import run_study
from sojourn_cases import messages

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from query_golden import NUMBERS, SETS, YES

pytestmark = [pytest.mark.live, pytest.mark.alone, needs_postgres]

SMALL = """
name = "small"
title = "small"
[system]
kind = "messages"
[load]
for = "1s"
[[section]]
name = "reference"
set = { workers = 4, connections = 4, clients = 8, retry_s = 0.01 }
[[section]]
name = "calibration"
set = { workers = 12, clients = 12, retry_s = 0.0 }
vary = { connections = [1, 2, 4] }
[[section]]
name = "clients"
set = { workers = 4, connections = 4, retry_s = 0.01 }
vary = { clients = [4, 16] }
x = "clients"
[fit]
model = "usl.toml"
sections = ["reference", "calibration", "clients"]
[choose]
set = { clients = 16, retry_s = 0.01 }
vary = { workers = [2, 4, 8], connections = [2, 4, 8] }
[[analysis]]
name = "messages.service"
[[analysis]]
name = "messages.times"
[[analysis]]
name = "messages.limits"
[[analysis]]
name = "messages.laws"
"""


def test_from_a_file_to_a_report(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SMALL)
    (tmp_path / "usl.toml").write_text((Path(messages.__file__).parent / "usl.toml").read_text())
    result = run_study(tmp_path, out=tmp_path / "out", say=lambda _: None)
    assert any(line.startswith("reference (4 workers, 4 connections, 8 clients)") for line in result.verdict)
    assert any("0 errors, 0 wrong messages" in line for line in result.verdict)
    assert any(line.startswith("on PostgreSQL ") for line in result.verdict)
    choices = json.loads((tmp_path / "out/choices.json").read_text())
    assert [c["model"] for c in choices] == ["usl"]
    page = result.report.read_text()
    for heading in ("The best by each model", "Completions of the service", "Limits", "Laws"):
        assert heading in page
    drawn = any(
        run.manifest["valid"] for run in result.findings.of("clients")
    )  # a busy machine may disturb all of them
    assert ("clients: throughput" in page) == drawn
    for run in result.findings.runs:
        ask(run)


def ask(run: RunFolder) -> None:
    """The golden queries: each has an answer, or says what the run does not hold; clients see no `cpu` and no waits."""
    source = as_source(run)
    for text in (*NUMBERS, *SETS, *YES):
        found = query(text, source)
        assert found.value is not None or found.reason, text
        if any(word in text for word in ("cpu", "wait")):
            assert "cannot tell" in found.verdict and run.path.name in found.reason, text
    for text in (
        "mean(response)",
        "p99(response)",
        "mean(n())",
        "rate(departures)",
        "probability({n() >= 4})",
        "errors{class=take}",
    ):
        found = query(text, source)
        assert found.value is not None and found.low is not None and found.low <= found.value, text
    assert query("errors < 5%", source).verdict == "yes" and query("p50(response) < 1s", source).verdict == "yes"
