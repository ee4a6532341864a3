"""Hosts with limits of their own: what a study file may say, what is counted, and what is then said to limit."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sojourn.errors import PermissionLacking, StudyError
from sojourn.lab.groups import CoreShare
from sojourn.report import Document, Table, render_html
from sojourn.study.kv.analysis import limited_by, marked, too_small, uses
from sojourn.study.kv.cpu import Sampler, sent_bytes, used_s
from sojourn.study.kv.models import Limits, Prediction, Times, limits_of
from sojourn.study.kv.models.limits import CPU, NETWORK
from sojourn.study.kv.models.times import Estimate
from sojourn.study.kv.place import Lab, Place, place
from sojourn.study.kv.plan import read_kv_plan
from sojourn.study.kv.sections.limits import limits_section
from sojourn.study.kv.seen import Seen, frame

ROOT = Path(__file__).parents[2]
SMALL = """
name = "kv"
title = "small"
testbed = "kv"
[lab]
hosts = "namespaces"
server_rate_bit_per_s = 1e8
server_cores = 0.25
[[section]]
name = "baseline"
design = ["none"]
servers = [1, 2]
clients = [2, 8]
[[section]]
name = "proxy"
proxies = [1, 2]
clients = [2, 8]
"""
NET_DEV = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
  nic0: 1234567    1000    0    0    0     0          0         0 98765432   70000    0    0    0     0       0          0
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(SMALL)
    return path


def test_a_lab_is_read_and_part_of_what_a_study_is(file: Path) -> None:
    plan = read_kv_plan(file)
    assert plan.study.lab == Lab(hosts="namespaces", server_rate_bit_per_s=1e8, server_cores=0.25)
    assert plan.hosts() == (2, 2)
    assert read_kv_plan(file, only=("baseline",)).hosts() == (2, 0)
    file.write_text(SMALL.replace("0.25", "0.5"))
    assert read_kv_plan(file).fingerprint != plan.fingerprint
    assert read_kv_plan(ROOT / "studies/kv").study.lab.hosts == "loopback"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"namespaces"', '"loopback"'), "set hosts = 'namespaces'"),
        (('"namespaces"', '"vm"'), "lab.hosts"),
        (("1e8", "1e3"), "lab.server_rate_bit_per_s"),
        (("0.25", "0"), "lab.server_cores"),
        (("server_cores", "server_core"), "lab.server_core"),
    ],
)
def test_mistakes_are_named(file: Path, change: tuple[str, str], message: str) -> None:
    file.write_text(SMALL.replace(*change, 1))
    with pytest.raises(StudyError) as found:
        read_kv_plan(file)
    assert message in str(found.value)


def test_without_root_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(PermissionLacking, match="run as root, or set lab.hosts = 'loopback'"), place(
        Lab(hosts="namespaces"), 1, 0
    ):  # fmt: skip
        pass
    with place(Lab(), 1, 0) as found:
        assert found.address("server1") == "127.0.0.1" and found.path("client") is None
        assert "share this machine's loopback" in found.describe()["not shown"][0]


def test_bytes_sent_are_those_of_the_namespace_of_a_process(tmp_path: Path) -> None:
    (tmp_path / "7/net").mkdir(parents=True)
    (tmp_path / "7/net/dev").write_text(NET_DEV)
    assert sent_bytes(7, "nic0", tmp_path) == 98765432
    for pid, interface in ((7, "nic1"), (8, "nic0")):
        value = sent_bytes(pid, interface, tmp_path)
        assert value != value


def test_counters_between_two_times() -> None:
    """A meter that tells the time grows by one second a second, also after the last full period."""
    with Sampler({"time": time.monotonic, "unknown": lambda: float("nan")}) as sampler:
        start = time.monotonic()
        time.sleep(0.13)  # between two samples
        end = time.monotonic()
    found = sampler.between(start, end)
    assert found["time"] == pytest.approx(end - start, rel=0.1)
    assert found["unknown"] != found["unknown"]


def test_cpu_time_is_that_of_the_process_and_its_children_have_their_own() -> None:
    before = used_s(os.getpid()), time.process_time()
    while time.process_time() < before[1] + 0.03:
        pass
    after = used_s(os.getpid()), time.process_time()
    assert after[0] - before[0] == pytest.approx(after[1] - before[1], rel=0.05)
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert used_s(child.pid) > 0, "it has ended, and nobody has waited for it"
    child.wait()
    gone = used_s(child.pid)
    assert gone != gone


def test_what_limits_comes_from_the_busiest_server() -> None:
    lab = Lab(hosts="namespaces", server_rate_bit_per_s=1e8, server_cores=0.25)
    shares = {f"server{k}": CoreShare(Path("/nowhere"), 0.25) for k in (1, 2)}
    used = {
        "sent server1": 5e6, "sent server2": 10e6, "sent client": 99e6,
        "periods server1": 100.0, "used up server1": 95.0, "periods server2": 0.0, "used up server2": 0.0,
    }  # fmt: skip
    found = Place(lab, None, shares).limits(used, 2.0)
    assert found == {
        "server_sent_bit_per_s": 10e6 * 8 / 2, "server_rate_bit_per_s": 1e8, "server_cores": 0.25, "server_throttled": 0.95,
        "pinned": True,
    }  # fmt: skip


def row(x: float, servers: int = 1, **more: float) -> Seen:
    return Seen("s", "staged", servers, 1, 8, "get", False, 16, 1, 1.0, x, 16 / x, **more)  # type: ignore[arg-type]


# Answers of 1123 bytes with their headers: 1e8/8/1123 = 11 131/s is all that 100 Mbit/s carry.
# 10 µs of CPU an operation: a quarter of a core works 25 000/s, two of them 50 000/s.
@pytest.mark.parametrize(
    ("seen", "limit"),
    [
        (row(11_000, server_sent_bit_per_s=11_000 * 1123 * 8, server_rate_bit_per_s=1e8), "network of a server"),
        (row(9_000, server_sent_bit_per_s=9_000 * 1123 * 8, server_rate_bit_per_s=1e8), "round trip"),
        (row(11_000, server_sent_bit_per_s=11_000 * 1123 * 8), "round trip"),
        (row(11_000, proxy_sent_bit_per_s=11_000 * 1123 * 8, proxy_rate_bit_per_s=1e8), "network of a middleware"),
        (row(24_000, server_cpu_s=10e-6, server_cores=0.25), "server CPU"),
        (row(24_000, server_cpu_s=10e-6), "round trip"),
        (row(24_000, 2, server_cpu_s=10e-6, server_cores=0.25), "round trip"),
        (row(48_000, 2, server_cpu_s=10e-6, server_cores=0.25), "server CPU"),
        (row(20_000, server_cpu_s=10e-6, server_cores=0.25, server_throttled=0.95), "server CPU"),
        (
            row(11_000, client_share=0.95, server_sent_bit_per_s=0.99e8, server_rate_bit_per_s=1e8),
            "network of a server",
        ),
        (row(11_000, client_share=0.99, server_sent_bit_per_s=0.91e8, server_rate_bit_per_s=1e8), "client"),
    ],
)
def test_a_rate_or_a_share_that_is_used_up_limits(seen: Seen, limit: str) -> None:
    (given,) = frame([seen]).to_dicts()
    assert limited_by(given, 4) == limit
    assert too_small(given, 4) == (limit == "client")


def test_points_are_marked_by_the_rule_and_none_is_left_out() -> None:
    seen = frame([row(1000, client_share=0.95), row(1000, others_cores=1.95), row(1000, client_share=0.5)])
    found = marked(seen, 2)
    assert found["too_small"].to_list() == [True, True, False]
    assert found["limited_by"].to_list() == ["client", "the machine's cores", "round trip"]
    assert marked(frame([]), 2).height == 0


def test_uses_are_shares_of_what_there_is() -> None:
    (given,) = frame(
        [row(10_000, 2, server_cpu_s=20e-6, client_cpu_s=30e-6, service_s=4e-4, others_cores=0.2)]
    ).to_dicts()
    found = uses(given, 2)
    assert found["server CPU"] == pytest.approx(0.1)  # 0.2 cores over two servers
    assert found["the machine's cores"] == pytest.approx((0.2 + 0.3 + 0.2) / 2)
    assert found["workers"] == pytest.approx(4 / 8)  # 10 000/s hold one each 0.4 ms: 4 of 8
    assert found["network of a server"] == 0.0


ANSWER_BIT = 1124 * 8


def test_known_limits_bound_a_prediction() -> None:
    """25 Mbit/s carry 2780 answers of 1124 bytes a second from each server; a tenth of a core works 5000 of 20 µs."""
    free = Prediction(20, 10_000.0, 20 / 10_000 - 1e-4, {"net": 0.5})  # 0.1 ms at the client itself
    times = Times(*[Estimate(1e-3, 1e-3, 1e-3)] * 2, {}, {"server_cpu_s": ((0.0,), (20e-6,))})
    for servers, cores, most, by in ((1, None, 25e6 / ANSWER_BIT, NETWORK), (3, 0.1, 3 * 25e6 / ANSWER_BIT, NETWORK),
                                     (1, 0.05, 2500.0, CPU), (4, None, 10_000.0, "net")):  # fmt: skip
        found = Limits(servers, 25e6, ANSWER_BIT, cores).on(free, times)
        assert found.throughput_per_s == pytest.approx(most)
        assert found.response_s == pytest.approx(20 / most - 1e-4), "Little's law: all clients are somewhere"
        assert found.utilisation["net"] == pytest.approx(0.5 * most / 10_000)
        assert found.bottleneck == by or most == 10_000.0
    assert Limits().on(free, times) == free


def test_limits_are_fitted_from_bits_of_an_operation() -> None:
    """Two servers answer 5000 and 6000 operations a second, of 9000 bit each, half of it by each."""
    sent = {"server_rate_bit_per_s": 1e8, "server_cores": 0.25}
    rows = frame(row(x, 2, server_sent_bit_per_s=x * 9000 / 2, **sent) for x in (5000.0, 6000.0))
    assert limits_of(rows) == Limits(2, 1e8, pytest.approx(9000.0), 0.25)
    assert limits_of(frame([row(5000.0)])) == Limits(1)


def test_what_others_took_is_not_held_against_the_machine() -> None:
    """All cores are used in both: by the system itself, or by others."""
    own = row(10_000, client_share=0.8, client_cpu_s=8e-5, server_cpu_s=8e-5, net_cpu_s=4e-5)  # two cores together
    others = row(1000, others_cores=1.95)
    for seen, small, disturbed in ((own, "16", "no"), (others, "no", "16")):
        (table, _) = limits_section(frame([seen]), 2, {}).blocks
        assert isinstance(table, Table)
        assert table.rows[0][1:] == ("the machine's cores at 16", small, disturbed)


def test_the_report_says_the_limits_and_what_is_not_shown() -> None:
    seen = frame([row(11_000, server_sent_bit_per_s=0.988e8, server_rate_bit_per_s=1e8)])
    lab = {**Lab(hosts="namespaces", server_rate_bit_per_s=1e8).model_dump(), "refused": [], "not shown": []}
    page = render_html(Document("x", "", ["x"], "ok", (limits_section(seen, 2, lab),), {}))
    for words in ("a server sends at most 100 Mbit/s", "network of a server at 16", "99%"):
        assert words in page
    page = render_html(Document("x", "", ["x"], "ok", (limits_section(seen, 2, Place().describe()),), {}))
    assert "Not shown: a network or a share of the cores that limits" in page
