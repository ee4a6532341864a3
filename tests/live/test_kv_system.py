"""The memcached middleware as a system: one short run of each design is a judged run folder with all its parts."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from sojourn.system import Point
from sojourn.system.kv import KvLoad, KvOptions, KvSystem, frame, histograms

pytestmark = [pytest.mark.live, pytest.mark.skipif(not shutil.which("memcached"), reason="no memcached here")]


def test_each_design_is_read_whole(tmp_path: Path) -> None:
    load = KvLoad.model_validate({"for": 0.5, "warm_up": 0.2, "keys": 500})
    of = KvSystem(KvOptions(servers=3, proxies=2), load, tmp_path)
    given = [
        {"design": "none", "clients": 8},
        {"design": "direct", "servers": 2, "workload": "set", "clients": 8},
        {"servers": 3, "proxies": 2, "workers": 8, "workload": "multi-6", "sharded": True, "clients": 8},
    ]
    points = [Point("live", of.settled(one, "x")) for one in given]
    with of.place() as place, of.open(place) as session:
        folders = [session.run(point, tmp_path / point.name, 1) for point in points]
    seen = frame(folders)
    assert seen["misses"].to_list() == seen["errors"].to_list() == [0, 0, 0]
    assert (seen["throughput_per_s"] > 0).all()
    cycle = seen["throughput_per_s"] * (seen["response_s"] + seen["own_s"]) / seen["clients"]
    assert (cycle - 1).abs().max() < 0.3  # type: ignore[operator]
    through = seen.filter(pl.col("design") != "none")
    for column in ("mw_response_s", "service_s", "net_cpu_s", "server_cpu_s", "client_cpu_s", "p25_s", "p99_s"):
        assert (through[column] > 0).all(), column
    assert (through["mw_response_s"] < through["response_s"] + through["own_s"]).all()
    for folder in folders:
        manifest = folder.manifest
        assert manifest["status"] == "complete" and 0 < manifest["ping"]["median_s"] < 0.1
        assert manifest["checks"]["others"] is not None
        assert set(manifest["resources"]) >= {"client", "servers"}
    sides = histograms.read([folders[-1].path])
    assert set(sides) == {"client", "middleware"} and all(bins["count"].sum() for bins in sides.values())
    assert sorted(tmp_path.iterdir()) == sorted(folder.path for folder in folders), "logs are in the folders"
