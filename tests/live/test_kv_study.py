"""The key-value study on this machine: one short run of each design."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sojourn.study.kv.analysis import laws
from sojourn.study.kv.live import LiveSystem
from sojourn.study.kv.points import Point
from sojourn.study.kv.seen import frame

pytestmark = [pytest.mark.live, pytest.mark.skipif(not shutil.which("memcached"), reason="no memcached here")]


def test_each_design_is_read_whole(tmp_path: Path) -> None:
    points = [
        Point("live", "none", 1, 0, 0, "get", False, 8, 1, 0.4),
        Point("live", "direct", 2, 1, 0, "set", False, 8, 1, 0.4),
        Point("live", "staged", 3, 2, 8, "multi-6", True, 8, 1, 0.4),
    ]
    with LiveSystem(tmp_path, servers=3, keys=500, warm_up_s=0.2) as system:
        assert 0 < system.ping()["median_s"] < 0.1
        seen = frame(system.run(point) for point in points)
    assert seen["misses"].to_list() == [0, 0, 0]
    assert seen["errors"].to_list() == [0, 0, 0]
    assert (seen["throughput_per_s"] > 0).all()
    assert laws(seen)["interactive_error"].abs().max() < 0.3
    through = seen.filter(seen["design"] != "none")
    for column in ("mw_response_s", "service_s", "net_cpu_s", "server_cpu_s", "client_cpu_s"):
        assert (through[column] > 0).all(), column
    assert (through["mw_response_s"] < through["response_s"]).all()
    assert not list((tmp_path / "scratch").iterdir())
