"""The agents of a run in its report, and what `--agents dask://` says where dask is not installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from sojourn.errors import InputError
from sojourn.measure.agents import AgentLoad, execute_on_agents
from sojourn.measure.agents_section import COLUMNS, agents_section
from sojourn.report import Table
from sojourn.runs.run_folder import RunFolder

LOAD = {"lanes": [{"arrivals": {"kind": "poisson", "rate_per_s": 90.0}}], "duration_s": 1.0}


def agent(number: int, reasons: list[str]) -> dict[str, Any]:
    return {
        "agent": number, "machine": {"host": f"host-{number}"}, "valid": not reasons, "reasons": reasons,
        "clock": {"offset_s": 0.05 * number, "bound_s": 0.0002, "drift_s": 0.00001},
        "generator": {"offered_per_s": 100.0 * number, "sent": 1000 * number, "own_lateness": {"p99_s": 0.003 * number}},
    }  # fmt: skip


def test_every_agent_is_a_row_with_its_own_verdict(tmp_path: Path) -> None:
    made = RunFolder.create(tmp_path / "run", {"agents": [agent(1, []), agent(2, ["too late"])]})
    section = agents_section([made])
    assert section is not None
    table = section.blocks[0]
    assert isinstance(table, Table) and table.columns == COLUMNS
    first, second = (dict(zip(COLUMNS, row, strict=True)) for row in table.rows)
    assert first == {
        "run": "run", "agent": "1", "on": "host-1", "rate": "100 /s", "sent": "1000", "late p99": "3.00 ms",
        "clock before": "50.0 ms ± 200 µs", "drift": "10.0 µs", "valid": "yes",
    }  # fmt: skip
    assert (second["sent"], second["late p99"], second["valid"]) == ("2000", "6.00 ms", "too late")


def test_a_run_of_one_generator_has_no_agents(tmp_path: Path) -> None:
    assert agents_section([RunFolder.create(tmp_path / "run", {})]) is None


def test_agents_of_dask_without_dask_say_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)  # an import of it fails, as if it were not there
    monkeypatch.delitem(sys.modules, "sojourn.parallel.dask_workers", raising=False)
    with pytest.raises(InputError, match=r"--agents.*no package distributed; pip install 'sojourn\[dask\]'"):
        execute_on_agents(tmp_path / "a" / "run", LOAD, AgentLoad("dask://127.0.0.1:8786"), what={})
    assert not (tmp_path / "a").exists()
