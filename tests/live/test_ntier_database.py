"""The bulletin board with PostgreSQL behind it: counts of all tiers equal, CPU time by tier, a tier that dies, nothing left."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from machine import Command, command_words, made_here

from sojourn.lab.backends import environment
from sojourn.lab.counted_groups import CountedGroups
from sojourn.lab.process_tree import children, wait_until
from sojourn.runs.run_folder import RunFolder
from sojourn.study.system import Point
from sojourn_cases.common.memcached import free_port
from sojourn_cases.common.postgres_processes import working_in
from sojourn_cases.ntier.bulletin_board import BulletinLoad, BulletinSession, BulletinSystem, BulletinSystemOptions
from sojourn_cases.ntier.bulletin_cluster import bulletin_cluster
from sojourn_cases.ntier.nginx import Nginx

pytestmark = pytest.mark.live

SCALE = 0.004
ASKED = {"users": 30, "cores": 1, "page_work_s": 0.001, "replicas": 2, "workers": 4, "pool": 3}
STUDY = f"""
name = "tiers"
title = "short"

[system]
kind = "bulletin"
database = true
scale = {SCALE}

[load]
for = "20s"
users = 30
think = "50ms"

[[section]]
name = "one"
set = {{ cores = 1 }}
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BulletinSession]:
    before = made_here()
    load = BulletinLoad(duration_s=1.5, ramp_up_s=0.3, think_s=0.05, mix="readwrite", users=30)
    system = BulletinSystem(BulletinSystemOptions(database=True, scale=SCALE), load, tmp_path_factory.mktemp("tiers"))
    with environment("loopback") as place, system.open(place) as found:
        yield found
    assert made_here() <= before


def run(session: BulletinSession, name: str, **factors: object) -> RunFolder:
    settled = session.system.settled({**ASKED, **factors}, name)
    return session.run(Point(name, settled), session.system.base_folder / name, 1)


def told(folder: RunFolder, metric: str) -> dict[str, float]:
    frame = folder.frame("metrics")
    assert frame is not None
    rows = frame.filter(pl.col("metric") == metric, pl.col("class") == "")
    return dict(rows.select("station", "value").iter_rows())


def test_client_nginx_application_and_database_count_the_same(session: BulletinSession) -> None:
    for again in range(2):  # the second begins with the rows of the first's beginning, not of its end
        folder = run(session, f"counts-{again}")
        service, sent = folder.manifest["service"], folder.manifest["generator"]["sent"]
        assert sent > 100 and service["nginx"]["requests"] == sent
        assert sum(one["completions"] for one in service["application"]) == sent
        asked = sum(one["transactions"] for one in service["application"])
        assert service["database"]["transactions"] == asked > sent, "a page asks the database once or more in the mean"
        assert "died" not in service


def test_each_tier_has_a_demand_and_they_add_up(session: BulletinSession) -> None:
    folder = run(session, "demands")
    busy, demands = told(folder, "utilisation"), told(folder, "service_demand")
    tiers = {"nginx", "application", "database"}
    assert set(session.system.tiers) == tiers and tiers <= {name for name, value in demands.items() if value > 1e-5}
    shared = tiers | ({"client"} if len(os.sched_getaffinity(0)) == 1 else set())
    assert busy["cpu"] == pytest.approx(sum(busy[name] for name in shared))
    assert demands["application"] > 1e-3, "the work of a page is the application's"
    assert set(folder.manifest["resources"]) == tiers | {"client", "cpu"}
    said = folder.manifest["tiers"]
    assert set(said["cores"]) == tiers | {"client"} and len(said["cores"]["database"]) == 1
    if session.groups.made:
        assert (
            said["cpu_time_by"] == "control groups" and len(folder.manifest["resources"]["application"]["cgroups"]) == 2
        )


def test_without_control_groups_processes_are_counted(
    session: BulletinSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CountedGroups, "path", lambda *_: None)
    monkeypatch.setattr(session.groups, "made", False)
    folder = run(session, "processes", synchronous_commit=False)
    assert folder.manifest["tiers"]["cpu_time_by"].startswith("processes")
    assert all(told(folder, "service_demand")[name] > 1e-5 for name in ("nginx", "application", "database"))


@pytest.mark.parametrize(
    ("tier", "line"),
    [("nginx", "nginx: master process"), ("application 1", "worker_main bulletin"), ("database", "bin/postgres -D")],
)
def test_a_tier_that_dies_is_named(session: BulletinSession, tier: str, line: str) -> None:
    name = f"dies-{tier.split()[0]}"

    def kill() -> None:
        wait_until((session.system.base_folder / name / "requests.rec").exists, 60.0)
        time.sleep(0.3)  # the load has begun
        lines = {pid: command_words(Path(f"/proc/{pid}")) for pid in children(os.getpid())}
        os.kill(min(pid for pid, text in lines.items() if line in text), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    folder = run(session, name)
    killer.join()
    assert not folder.manifest["valid"]
    assert folder.manifest["reasons"][0].startswith(f"{tier} was ended by SIGKILL; it")


def test_a_killed_study_leaves_nothing_behind_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    command = Command(tmp_path, "study", "study.toml", "--out", "out")
    command.wait_for(lambda: list(tmp_path.glob("out/runs/one-*/manifest.json")), 120.0)
    data = [Path(path, "data") for path in command.left() if Path(path).name.startswith("sojourn-bulletin-")]
    assert len(data) == 2 and any(map(working_in, data)), "the cluster and its copy, which is served"
    command.process.send_signal(signal.SIGKILL)
    assert command.end() == -signal.SIGKILL
    assert wait_until(lambda: not command.processes() and not any(map(working_in, data)), 15.0), (
        "all end with the study"
    )
    with environment("loopback"), bulletin_cluster(0.001, 1):
        nginx = Nginx(f"127.0.0.1:{free_port()}", ["127.0.0.1:9"])
        left = command.left()
        nginx.close()
    assert left == [], "what a start removes is gone before the first run"
