"""A bulletin board's run with its database on a slow disk: the disk is a resource of the run, what the database did beside is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sojourn.lab.backends import environment
from sojourn.runs.busy_series import busy_series
from sojourn.study.system import Point
from sojourn_cases.ntier.bulletin_board import BulletinLoad, BulletinSystem, BulletinSystemOptions

pytestmark = [pytest.mark.live, pytest.mark.lab, pytest.mark.alone]  # at most 5 % of its samples may be late


@pytest.mark.skipif(os.geteuid() != 0, reason="a disk needs root")
def test_a_run_on_a_slow_disk(tmp_path: Path) -> None:
    load = BulletinLoad(duration_s=2.0, ramp_up_s=0.3, think_s=0.02, mix="readwrite", users=40)
    system = BulletinSystem(BulletinSystemOptions(database=True, scale=0.004, disk="500M"), load, tmp_path)
    asked = {"page_work_s": 0.0, "workers": 4, "pool": 4, "disk_bps": 2e6, "checkpoint_pause_s": 0.1}
    with environment("loopback") as place, system.open(place) as session:
        folder = session.run(Point("slow", system.settled(asked, "slow")), tmp_path / "slow", 1)
        assert session.disk and os.path.ismount(place_of_disk := session.disk.folder)
    shares, _ = busy_series(folder, ["slow_disk", "iowait"])
    assert shares[0].mean() > 0.3, "checkpoints of more than 2 MB/s can write"
    assert folder.manifest["resources"]["slow_disk"]["disk"].startswith("loop")
    activity = folder.manifest["database_activity"]
    assert activity["checkpoints_s"] and sum(activity["waiting"].values()) <= asked["pool"]
    assert str(place_of_disk) not in Path("/proc/mounts").read_text() and not place_of_disk.exists()
