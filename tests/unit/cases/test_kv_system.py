"""The memcached middleware as a system: what a study file may say, what is counted, and a run in simulated time."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from sojourn.errors import InputError, PermissionLacking, StudyError
from sojourn.lab.cgroups import CpuShareCgroup
from sojourn.runs.run_folder import RunFolder
from sojourn.study.study_file import checked
from sojourn.study.system import Point
from sojourn_cases.kv.middleware import KvLoad, KvOptions, KvSystem, frame, name_of
from sojourn_cases.kv.middleware.host_counters import HostCounterSampler, grown, sent_bytes
from sojourn_cases.kv.middleware.hosts import HostOptions, Hosts, open_hosts
from sojourn_cases.kv.middleware.simulated_system import KnownTimes, SimulatedKv, SimulatedLoad

NET_DEV = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
  nic0: 1234567    1000    0    0    0     0          0         0 98765432   70000    0    0    0     0       0          0
"""


def system(**options: Any) -> KvSystem:
    return KvSystem(KvOptions.model_validate(options), KvLoad(), Path())


def test_points_lack_what_their_design_lacks() -> None:
    of = system().settled
    assert of({"design": "none", "proxies": 2, "workers": 8, "sharded": True, "clients": 4}, "x") == {
        "design": "none", "servers": 1, "proxies": 0, "workers": 0, "workload": "get", "sharded": False, "clients": 4,
        "value_bytes": 1024,
    }  # fmt: skip
    direct = of({"design": "direct", "workers": 8, "clients": 1, "proxies": 2}, "x")
    assert (direct["workers"], direct["proxies"], direct["clients"]) == (0, 2, 2), "a client at least for each target"
    assert of(direct, "x") == direct
    assert of({"design": "none", "servers": 3}, "x")["clients"] == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"workload": "got"}, "use set, get, mixed, multi-KEYS or mixed-KEYS"),
        ({"design": "threaded"}, "give one of none, direct, staged"),
        ({"workers": 0}, 'give at least one, or design = "direct"'),
        ({"proxies": 0}, 'give at least one, or design = "none"'),
        ({"servers": 4}, r"give a value in \[1.0, 3.0\]"),
        ({"value_bytes": 1 << 15}, r"give a value in \[1.0, 16384"),
        ({"client": 4}, "did you mean clients\\? \\(use one of design, servers"),
    ],
)
def test_mistakes_in_factors_are_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        system().settled(given, "x")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"server_cores": 0.25}, "set hosts = 'namespaces'"),
        ({"hosts": "vm"}, "system.hosts"),
        ({"hosts": "namespaces", "server_rate_bit_per_s": 1e3}, "system.server_rate_bit_per_s"),
        ({"hosts": "namespaces", "server_cores": 0}, "system.server_cores"),
        ({"hosts": "namespaces", "server_core": 0.25}, "system.server_core"),
    ],
)
def test_mistakes_in_options_are_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as found:
        checked(KvOptions, given, Path("study.toml"), "system.")
    assert message in str(found.value)


def test_without_root_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(PermissionLacking, match="run as root, or set hosts = 'loopback'"), open_hosts(
        HostOptions(hosts="namespaces"), 1, 0
    ):  # fmt: skip
        pass
    with open_hosts(HostOptions(), 1, 0) as found:
        assert found.address("server1") == "127.0.0.1" and found.path("client") is None
        assert "share this machine's loopback" in found.describe()["not shown"][0]


def test_bytes_sent_are_those_of_the_namespace_of_a_process(tmp_path: Path) -> None:
    (tmp_path / "7/net").mkdir(parents=True)
    (tmp_path / "7/net/dev").write_text(NET_DEV)
    assert sent_bytes(7, "nic0", tmp_path) == 98765432
    for pid, interface in ((7, "nic1"), (8, "nic0")):
        value = sent_bytes(pid, interface, tmp_path)
        assert value != value


def test_counters_of_hosts_stand_with_the_host_samples(tmp_path: Path) -> None:
    """A meter that tells the time grows by one second a second; what is unknown is left out."""
    import polars as pl

    folder = RunFolder.create(tmp_path / "run", {})
    empty = {"t_s": [], "source": [], "key": [], "item": [], "value": []}
    kinds = {"t_s": pl.Float64, "source": pl.String, "key": pl.String, "item": pl.String, "value": pl.Float64}
    pl.DataFrame(empty, schema=kinds).write_parquet(folder.path / "host.parquet")
    meters = {("server1", "time"): time.monotonic, ("server1", "unknown"): lambda: float("nan")}
    start = time.monotonic()
    with HostCounterSampler(meters, 0.02) as counting:
        time.sleep(0.15)
    counting.keep(folder)
    folder.manifest["window_s"] = [start, time.monotonic()]
    found, seconds = grown(folder)
    assert list(found) == [("server1", "time")]
    assert found["server1", "time"] == pytest.approx(seconds, rel=0.05)


def test_what_limits_comes_from_the_busiest_server() -> None:
    options = HostOptions(hosts="namespaces", server_rate_bit_per_s=1e8, server_cores=0.25)
    shares = {f"server{k}": CpuShareCgroup(Path("/nowhere"), 0.25) for k in (1, 2)}
    grown = {
        ("server1", "sent_bytes"): 5e6, ("server2", "sent_bytes"): 10e6, ("client", "sent_bytes"): 99e6,
        ("server1", "nr_periods"): 100.0, ("server1", "nr_throttled"): 95.0, ("server2", "nr_periods"): 0.0,
    }  # fmt: skip
    assert Hosts(options, None, shares).limits(grown, 2.0) == {
        "server_sent_bit_per_s": 10e6 * 8 / 2, "server_rate_bit_per_s": 1e8, "server_cores": 0.25, "server_throttled": 0.95,
        "client_sent_bit_per_s": 99e6 * 8 / 2, "pinned": True,
    }  # fmt: skip


def test_a_simulated_run_has_the_rows_of_a_measured_one(tmp_path: Path) -> None:
    known = KnownTimes(network_s=4e-3, net_s=1e-4, held_s=1e-3, server_s=3e-4)
    of = SimulatedKv(known, SimulatedLoad.model_validate({"for": "20s"}), tmp_path)
    point = Point("alone", of.settled({"servers": 2, "workers": 8, "clients": 1}, "x"), 2)
    with of.place() as place, of.open(place) as session:
        (row,) = frame([session.run(point, tmp_path / point.name, 1)]).to_dicts()
    assert name_of(row) == "staged, 2 servers, 1 proxy, 8 workers, get"
    assert (row["clients"], row["repetition"], row["section"], row["valid"]) == (1, 2, "alone", True)
    assert row["response_s"] == pytest.approx(5.4e-3, rel=0.03), "one client waits for nobody"
    assert row["response_s"] - row["mw_response_s"] == pytest.approx(4e-3, rel=0.05)
    assert row["service_s"] == pytest.approx(1.3e-3, rel=0.05)
    assert (row["net_s"], row["server_cpu_s"]) == pytest.approx((1e-4, 3e-4), rel=0.05)
    assert row["queue_s"] == pytest.approx(0.0, abs=1e-9)
    assert row["throughput_per_s"] * row["response_s"] == pytest.approx(1.0, rel=0.01)
    assert row["p99_s"] is None and row["worker_cpu_s"] is None
    with pytest.raises(InputError, match="give one of staged"):
        of.settled({"design": "direct"}, "x")


def test_runs_from_before_values_had_sizes_are_read(tmp_path: Path) -> None:
    """The size was that of the load."""
    factors = {
        "design": "none",
        "servers": 1,
        "proxies": 0,
        "workers": 0,
        "workload": "get",
        "sharded": False,
        "clients": 2,
    }
    said = {"section": "s", "factors": factors, "valid": True, "checks": {}, "reasons": [], "kv": {}}
    old = RunFolder.create(tmp_path / "old", said | {"conditions": {"load": {"value_bytes": 100}}})
    bare = RunFolder.create(tmp_path / "bare", said)
    (first, second) = frame([old, bare]).to_dicts()
    assert (first["value_bytes"], second["value_bytes"]) == (100, 1024)
    assert (name_of(first), name_of(second)) == ("none, 1 server, get, 100 bytes", "none, 1 server, get")


def test_clients_are_dealt_out_to_hosts_where_there_may_be_several() -> None:
    several = KvSystem(KvOptions(client_hosts=3), KvLoad(), Path())
    assert several.settled({}, "x")["client_hosts"] == 1
    assert several.settled({"client_hosts": 3, "proxies": 2, "clients": 1}, "x")["clients"] == 6, (
        "one for each target and host"
    )
    with pytest.raises(InputError, match=r"give a value in \[1.0, 3"):
        several.settled({"client_hosts": 4}, "x")
    assert "client_hosts" not in KvSystem(KvOptions(), KvLoad(), Path()).factors


def test_a_client_is_limited_by_its_own_network() -> None:
    """25 Mbit/s are 2 793 sets of 1 119 bytes."""
    options = HostOptions(hosts="namespaces", client_rate_bit_per_s=25e6)
    grown = {("client", "sent_bytes"): 6.2e6, ("client2", "sent_bytes"): 6.0e6, ("server1", "sent_bytes"): 4e5}
    said = Hosts(options).limits(grown, 2.0)
    assert said["client_sent_bit_per_s"] == 6.2e6 * 8 / 2 and said["client_rate_bit_per_s"] == 25e6
