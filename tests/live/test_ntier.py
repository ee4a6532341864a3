"""The n-tier study, as short as can be: tiers on one core, two cores written down and run, counts of all tiers equal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from machine import Command

import sojourn_cases.ntier
from sojourn.runs.run_folder import RunFolder
from sojourn_cases.ntier.host_balance import host_loads

MODELS = Path(sojourn_cases.ntier.__file__).parent
pytestmark = pytest.mark.live

STUDY = """
name = "ntier"
title = "short"
repetitions = 2

[system]
kind = "bulletin"
scale = 0.002

[load]
for = "3s"
ramp_up = "0.8s"
users = 60
think = "100ms"
mix = "readwrite"

[[section]]
name = "one core"
set = { cores = 1, page_work_s = 0.002 }
vary = { users = [40, 160], mix = ["browse", "readwrite"] }

[fit]
model = ["MODELS/hand-over.toml", "MODELS/constant.toml"]

[[predict]]
name = "twice the work"
set = { cores = 1, page_work_s = 0.002 }
vary = { users = [100] }
"""


@pytest.mark.alone
def test_tiers_are_started_counted_and_predicted(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace("MODELS", str(MODELS)))
    command = Command(tmp_path, "study", "study.toml", "--out", "out")
    assert command.end(180) == 0, command.said()
    assert command.left() == []
    runs = [RunFolder.open(path) for path in sorted((tmp_path / "out/runs").iterdir())]
    for run in runs:
        service, sent = run.manifest["service"], run.manifest["generator"]["sent"]
        assert service["nginx"]["requests"] == sent
        assert sum(one["completions"] for one in service["application"]) == sent
    predicted = json.loads((tmp_path / "out/predictions.json").read_text())["configurations"][0]["rows"]
    rates = {row["metric"]: row["value"] for row in predicted}
    assert 300 < rates["throughput"] < 500, "pages of 2 ms and some tenths for their making, of a core that is full"


def test_a_rate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        STUDY.replace("users = 60\n", "rate_per_s = 60\n").replace("users = [40, 160]", "rate_per_s = [60.0]")
    )
    command = Command(tmp_path, "study", "study.toml", "--out", "out")
    assert command.end() == 2 and "set users: sessions are a closed loop" in command.said()


HOSTS = """
name = "hosts"
[system]
kind = "bulletin"
database = true
scale = 0.002
hosts = "namespaces"
web_servers = 2
application_servers = 4
host_cores = 0.2
[load]
for = "2s"
ramp_up = "0.5s"
users = 40
think = "50ms"
mix = "readwrite"
[[section]]
name = "hosts"
set = { page_work_s = 0.002 }
vary = { web_servers = [2], replicas = [4] }
[[analysis]]
name = "ntier.hosts"
"""


@pytest.mark.lab
def test_servers_on_hosts_of_their_own_share_the_load(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(HOSTS)
    command = Command(tmp_path, "study", "study.toml", "--out", "out")
    assert command.end(180) in (0, 3), command.said()  # 3: disturbed by others, which changes no count
    assert command.left() == []
    run = RunFolder.open(next((tmp_path / "out/runs").iterdir()))
    service, sent = run.manifest["service"], run.manifest["generator"]["sent"]
    assert sum(one["requests"] for one in service["nginx"]) == sent > 100
    assert sum(one["completions"] for one in service["application"]) == sent
    found = {one.name: one for one in host_loads(run)}
    assert len(found) == 6 and all(0.8 < one.balance < 1.2 for one in found.values())
    assert all((one.busy_cores or 0.0) < 0.23 for one in found.values()), "a fifth of a core each"
    assert run.manifest["lab"]["kind"] == "namespaces"
