"""The memcached middleware as a system on this machine: one short run of each design is a judged run folder with all its parts;
hosts of their own with limits, and their removal."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from machine import OWN, made_by_labs

from sojourn.lab.cleanup_registry import clean_stale
from sojourn.lab.cpu_topology import cores
from sojourn.lab.namespaces import in_namespace
from sojourn.study.system import Point
from sojourn_cases.kv.kv_laws import laws
from sojourn_cases.kv.limits import limited_by, uses
from sojourn_cases.kv.middleware import KvLoad, KvOptions, KvSystem, frame, response_bins
from sojourn_cases.kv.middleware.hosts import CLIENT, PORT, HostOptions, Hosts, open_hosts

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not shutil.which("memcached"), reason="no memcached here"),
]


def test_each_design_is_read_whole(tmp_path: Path) -> None:
    load = KvLoad.model_validate({"for": 0.5, "warm_up": 0.2, "keys": 500})
    of = KvSystem(KvOptions(servers=3, proxies=2), load, tmp_path)
    given = [
        {"design": "none", "clients": 8},
        {"design": "direct", "servers": 2, "workload": "set", "clients": 8, "value_bytes": 300},
        {
            "servers": 3,
            "proxies": 2,
            "workers": 8,
            "workload": "multi-6",
            "sharded": True,
            "clients": 8,
            "value_bytes": 5000,
        },
    ]
    points = [Point("live", of.settled(one, "x")) for one in given]
    with of.place() as place, of.open(place) as session:
        folders = [session.run(point, tmp_path / point.name, 1) for point in points]
    seen = frame(folders)
    assert seen["misses"].to_list() == seen["errors"].to_list() == [0, 0, 0], "stored again with each size"
    assert seen["value_bytes"].to_list() == [1024, 300, 5000]
    assert (seen["throughput_per_s"] > 0).all()
    assert laws(seen)["interactive_error"].abs().max() < 0.3  # type: ignore[operator]
    through = seen.filter(pl.col("design") != "none")
    for column in ("mw_response_s", "service_s", "net_cpu_s", "server_cpu_s", "client_cpu_s", "p25_s", "p99_s"):
        assert (through[column] > 0).all(), column
    assert (through["mw_response_s"] < through["response_s"] + through["own_s"]).all()
    for folder in folders:
        manifest = folder.manifest
        assert manifest["status"] == "complete" and 0 < manifest["ping"]["median_s"] < 0.1
        assert manifest["checks"]["others"] is not None
        assert set(manifest["resources"]) >= {"client", "servers"}
    sides = response_bins.read([folders[-1].path])
    assert set(sides) == {"client", "middleware"} and all(bins["count"].sum() for bins in sides.values())
    assert sorted(tmp_path.iterdir()) == sorted(folder.path for folder in folders), "logs are in the folders"


def test_every_value_of_an_option_is_run(tmp_path: Path) -> None:
    """What docs/howto/write-a-study.md allows, each value and both ends of what is cheap to run, once."""
    least = KvLoad.model_validate({"for": 0.3, "warm_up": 0.1, "keys": 10, "value_bytes": 1, "every": 0.01})
    most = KvLoad.model_validate({"for": 0.5, "warm_up": 0.1, "keys": 20, "value_bytes": 1_000_000, "every": 0.1})
    staged = {"design": "staged", "proxies": 2, "workers": 1, "servers": 3, "clients": 4}
    given = [
        (KvOptions(servers=1, proxies=1, pinned=False), least, [
            {"design": "none", "clients": 1}, {"design": "none", "workload": "multi-10", "clients": 2},
            {"design": "direct", "workload": "mixed", "clients": 3, "value_bytes": 16384},
        ]),
        (KvOptions(servers=3, proxies=2), least, [
            staged | {"workload": "multi-9", "sharded": sharded, "value_bytes": 1} for sharded in (False, True)
        ]),
        (KvOptions(servers=1, proxies=1), most, [
            {"design": "none", "workload": "set", "clients": 1}, {"design": "direct", "workload": "get", "clients": 2},
            {"design": "staged", "workload": "mixed", "clients": 2},
        ]),
    ]  # fmt: skip
    for number, (options, load, each) in enumerate(given):
        of = KvSystem(options, load, tmp_path)
        points = [Point(f"s{number}", of.settled(one, "x")) for one in each]
        with of.place() as place, of.open(place) as session:
            seen = frame([session.run(point, tmp_path / point.name, 1) for point in points])
        assert seen["misses"].to_list() == seen["errors"].to_list() == [0] * len(each), number
        assert (seen["throughput_per_s"] > 0).all(), number


RATE_BIT_PER_S = 10e6
TRIES = 5
Row = dict[str, Any]
KEYS, VALUE_BYTES = 500, 1024
HEADER_BYTES = 14 + 20 + 32  # Ethernet, IPv4, TCP with time stamps (RFC 7323)
ANSWER_BYTES = len("VALUE sojourn-123 0 1024\r\n") + VALUE_BYTES + len("\r\nEND\r\n") + HEADER_BYTES


def mark_of(found: Hosts) -> str:
    """What all names of this lab begin with: `sojourn-` and six digits."""
    return Path(found.path(CLIENT) or "").name.rpartition("-")[0]


def left_of(mark: str) -> list[str]:
    """What is left of one lab, by name."""
    return [Path(path).name for path in made_by_labs() if mark in path or f"lab-{mark[8:]}" in path]


@dataclass
class Limited:
    """A system on hosts of its own."""

    hosts: Hosts
    folder: Path
    options: KvOptions
    count: int = 0

    def once(
        self, design: str, servers: int, workload: str, clients: int, seconds: float, client_hosts: int = 1
    ) -> Row:
        load = KvLoad.model_validate({"for": seconds, "warm_up": 0.3, "keys": KEYS, "value_bytes": VALUE_BYTES})
        of = KvSystem(self.options, load, self.folder)
        given = {"design": design, "servers": servers, "workers": 8, "workload": workload, "clients": clients}
        given |= {"client_hosts": client_hosts} if client_hosts > 1 else {}
        self.count += 1
        with of.open(self.hosts) as session:
            (row,) = frame(
                [session.run(Point("live", of.settled(given, "x")), self.folder / str(self.count), 1)]
            ).to_dicts()
        assert row["misses"] == row["errors"] == 0
        return row


@contextmanager
def limited(**options: Any) -> Iterator[Limited]:
    """A system on hosts of its own, of which nothing is left."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = KvOptions(hosts="namespaces", servers=2, proxies=1, **options)
        with open_hosts(wanted, 2, 1, wanted.client_hosts) as hosts:
            mark = mark_of(hosts)
            yield Limited(hosts, Path(folder), wanted)
    assert left_of(mark) == []


def reached(system: Limited, most_per_s: float, *point: Any) -> Row:
    """A run that has what the limit allows within 5 %. None has more; some have less, where other processes of this
    machine keep ours from its cores: then again."""
    for _ in range(TRIES):
        row = system.once(*point)
        assert row["throughput_per_s"] < 1.03 * most_per_s
        if row["throughput_per_s"] > 0.95 * most_per_s:
            return row
    raise AssertionError(f"{row['throughput_per_s']:.0f}/s of {most_per_s:.0f}/s: {uses(row, len(cores()))}")


@pytest.mark.lab
def test_a_rate_bounds_what_a_server_answers_and_is_found_to_limit() -> None:
    most = RATE_BIT_PER_S / 8 / ANSWER_BYTES
    with limited(server_rate_bit_per_s=RATE_BIT_PER_S) as system:
        for design, servers in (("none", 1), ("none", 2), ("staged", 1)):
            row = reached(system, servers * most, design, servers, "get", 16, 1.0)
            assert limited_by(row, len(cores())) == "network of a server"
        # a set's answer has 8 bytes: the upload carries many more of them, and a fast machine fills it with these too
        assert system.once("none", 1, "set", 8, 1.0)["throughput_per_s"] > 1.5 * most


@pytest.mark.lab
def test_each_client_host_sends_at_its_rate_so_two_set_twice_as_much() -> None:
    request = len("set sojourn-123 0 0 1024\r\n") + VALUE_BYTES + len("\r\n")
    most = RATE_BIT_PER_S / 8 / (request + HEADER_BYTES)
    with limited(client_rate_bit_per_s=RATE_BIT_PER_S, client_hosts=2) as system:
        for hosts in (1, 2):
            row = reached(system, hosts * most, "none", 1, "set", 16, 1.0, hosts)
            assert row["client_hosts"] == hosts and limited_by(row, len(cores())) == "network of a client"


@pytest.mark.lab
def test_a_rate_bounds_what_a_middleware_sends() -> None:
    """A set goes to both servers, and one answer to the client."""
    stored, request = len("STORED\r\n"), len("set sojourn-123 0 0 1024\r\n") + VALUE_BYTES + len("\r\n")
    most = RATE_BIT_PER_S / 8 / (2 * (request + HEADER_BYTES) + stored + HEADER_BYTES)
    with limited(proxy_rate_bit_per_s=RATE_BIT_PER_S) as system:
        row = reached(system, most, "staged", 2, "set", 16, 1.0)
    assert limited_by(row, len(cores())) == "network of a middleware"


@pytest.mark.lab
def test_a_share_of_a_core_bounds_what_a_server_works_and_is_found_to_limit() -> None:
    share, used = 0.03, 0.0
    with limited(server_cores=share) as system:
        for _ in range(TRIES):
            row = system.once("none", 1, "set", 16, 2.0)
            used = row["throughput_per_s"] * row["server_cpu_s"]
            assert used < 1.1 * share
            if used > 0.9 * share:
                break
    assert used > 0.9 * share, uses(row, len(cores()))
    assert limited_by(row, len(cores())) == "server CPU"


@pytest.mark.lab
def test_hosts_reach_each_other_and_nothing_outside() -> None:
    def connect(host: str) -> None:
        socket.create_connection((host, PORT), timeout=0.5).close()

    with open_hosts(HostOptions(hosts="namespaces"), 2, 1) as found:
        address = found.address("server2")
        with in_namespace(found.path("server2"), lambda: socket.create_server((address, PORT))) as listener:
            for host in (CLIENT, "proxy1"):
                in_namespace(found.path(host), lambda: connect(address))
                _, (peer, _) = listener.accept()
                assert peer == found.address(host)
        with pytest.raises(OSError, match="unreachable"):
            in_namespace(found.path(CLIENT), lambda: connect("192.0.2.1"))
        here = subprocess.run(["ip", "-4", "address"], capture_output=True, text=True, check=True).stdout
        assert "10.78.0." not in here
        mark = mark_of(found)
    assert left_of(mark) == []


CRASHED = f"""{OWN}
import signal
from sojourn_cases.kv.middleware.hosts import HostOptions, open_hosts
with open_hosts(HostOptions(hosts="namespaces", server_rate_bit_per_s=1e7, server_cores=0.5), 2, 1) as found:
    print(found.path("client"), flush=True)
    signal.pause()
"""


@pytest.mark.lab
@pytest.mark.usefixtures("own_registries")
def test_what_a_crash_leaves_is_removed_by_the_next_start() -> None:
    crashed = subprocess.Popen([sys.executable, "-c", CRASHED], stdout=subprocess.PIPE, text=True)
    try:
        assert crashed.stdout is not None
        mark = Path(crashed.stdout.readline().strip()).name.rpartition("-")[0]
    finally:
        crashed.send_signal(signal.SIGKILL)
        crashed.wait()
    hosts = {f"{mark}-{name}" for name in ("switch", "client", "server1", "server2", "proxy1")}
    assert set(left_of(mark)) == hosts | {f"lab-{mark[8:]}.json"}
    assert {Path(name).name for name in clean_stale() if mark in name} == hosts
    assert left_of(mark) == []
