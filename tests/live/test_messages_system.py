"""The message service as a system: runs of each kind, read whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from message_cluster import needs_postgres

from sojourn.laws import check_laws
from sojourn.runs.run_series import differences
from sojourn.study.system import Point
from sojourn.table import Metrics
from sojourn_cases.messages.message_service import MessagesLoad, MessagesOptions, MessagesSystem
from sojourn_cases.messages.message_service_metrics import frame

pytestmark = [pytest.mark.live, needs_postgres]
POINTS = [
    {"workers": 4, "connections": 2, "clients": 8, "retry_s": 0.02},
    {"workers": 20, "connections": 2, "clients": 20, "retry_s": 0.0},
    {"workers": 4, "connections": 2, "clients": 8, "retry_s": 0.02, "middlewares": 2},
]


@pytest.mark.alone
def test_each_kind_of_run_is_read_whole(tmp_path: Path) -> None:
    system = MessagesSystem(MessagesOptions(), MessagesLoad.model_validate({"for": 1.2}), tmp_path)
    with system.place() as place, system.open(place) as session:
        points = [Point("x", system.settled(given, "x")) for given in POINTS]
        folders = [session.run(point, tmp_path / point.name, 1) for point in points]
        assert session.conditions(points[0])["conditions"]["database"].startswith("PostgreSQL ")
    seen = frame(folders)
    assert seen["errors"].to_list() == seen["wrong"].to_list() == [0, 0, 0]
    assert seen["empty_share"].is_between(0.02, 0.6).all()  # 1/5 in the long run: 1.5 takes a put
    for column in ("dispatch_s", "parse_s", "database_s", "respond_s", "client_cpu_s", "middleware_cpu_s",
                   "database_cpu_s", "in_use"):  # fmt: skip
        assert (seen[column] > 0).all(), column
    assert (seen["mw_response_s"] < 1.1 * seen["response_s"]).all()  # an answer is there before its worker is free
    assert seen["throughput_per_s"][1] * seen["database_s"][1] < 2.2  # two connections
    assert seen["wait_s"][1] > seen["database_s"][1]  # twenty clients for two
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(point.name for point in points)
    for point, folder in zip(points, folders, strict=True):
        metrics = Metrics.read(folder.path / "metrics.parquet")
        whole = Metrics(metrics.frame.filter(metrics.frame["station"] == "", metrics.frame["class"] == ""))
        assert all(abs(finding.relative) < 0.3 for finding in check_laws(whole, 0.05))
        assert differences(folder.manifest, session.conditions(point)) == []  # ports differ from run to run


def test_every_value_of_an_option_is_run(tmp_path: Path) -> None:
    """What docs/howto/write-a-study.md allows, each value and both ends of what is cheap to run, once."""
    least = {"for": 0.6, "put": 1e-3, "take": 1.0, "message_bytes": 16, "queues": 1}
    most = {"for": 0.8, "put": 1e6, "take": 1.0, "message_bytes": 65536, "queues": 1000}
    small = {"workers": 1, "connections": 1, "clients": 1, "retry_s": 0.0, "middlewares": 1}
    large = {"workers": 64, "connections": 24, "clients": 100, "retry_s": 0.4, "middlewares": 3}
    for number, (durability, load, factors) in enumerate((("off", least, small), ("full", most, large))):
        system = MessagesSystem(MessagesOptions(durability=durability), MessagesLoad.model_validate(load), tmp_path)
        with system.place() as place, system.open(place) as session:
            point = Point(f"s{number}", system.settled(factors, "x"))
            seen = frame([session.run(point, tmp_path / point.name, 1)])
        assert (seen["errors"][0], seen["wrong"][0]) == (0, 0) and seen["throughput_per_s"][0] > 0, durability
