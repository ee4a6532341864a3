"""The lab does what it says: interrupts on the core they were steered to, of the length asked for, at no cost to others."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sojourn.lab.backends import NamespaceBackend, environment
from sojourn.lab.cleanup_registry import only_one
from sojourn.lab.cpu_topology import cores, place
from sojourn.lab.emulated_hosts import EmulatedHosts
from sojourn.measure.execute_run import RunEnvironment, execute
from sojourn.runs.host_samples import core_shares
from sojourn.runs.run_folder import RunFolder
from sojourn_cases.web.web_service import KnownDemand, WebOptions, WebTestbed

pytestmark = [pytest.mark.live, pytest.mark.alone, pytest.mark.lab]
INTERRUPT_S = 1e-3
RATE_PER_S = 300.0
LENGTH_S = 3.0
COUNT = min(len(cores()), 2)

# include/uapi/linux/ethtool.h, the getters: an answer of 0 means off
ASK = """
import array, fcntl, json, socket, struct
commands = {"receive checksum": 0x14, "transmit checksum": 0x16, "scatter-gather": 0x18, "TCP segmentation": 0x1E,
            "generic segmentation": 0x23, "generic receive": 0x2B}
control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
on = []
for name, command in commands.items():
    value = array.array("B", struct.pack("II", command, 9))
    fcntl.ioctl(control, 0x8946, struct.pack("16sP8x", b"nic0", value.buffer_info()[0]))
    if struct.unpack("II", value)[1]:
        on.append(name)
print(json.dumps(on))
"""

# The share of a core that its spinner takes from a process of another session: the spinner's own run time, so that
# nothing else that runs here counts; the least of several, since a tick owed from before is paid at once.
TAKEN = """
import os, time
os.sched_setaffinity(0, {CORE})
def run_s():
    return int(open("/proc/THREAD/schedstat").read().split()[0]) / 1e9
def taken():
    wall, run = time.monotonic(), run_s()
    while time.monotonic() - wall < 0.2:
        pass
    return (run_s() - run) / (time.monotonic() - wall)
print(min(taken() for _ in range(8)))
"""


@pytest.fixture(scope="module")
def lab() -> Iterator[NamespaceBackend]:
    with only_one("the lab's tests"), environment("namespaces") as found:
        assert isinstance(found, NamespaceBackend)
        yield found


def processed() -> dict[int, int]:
    """Packets taken from the network by each core's soft interrupts, on all of this machine."""
    lines = Path("/proc/net/softnet_stat").read_text().splitlines()
    rows = [[int(field, 16) for field in line.split()] for line in lines]
    return {row[12] if len(row) > 12 else core: row[0] for core, row in enumerate(rows)}


@contextmanager
def counted(into: dict[int, int]) -> Iterator[None]:
    before = processed()
    yield
    into.update({core: count - before[core] for core, count in processed().items()})


def loaded(lab: NamespaceBackend, out: Path, nics: int) -> tuple[RunFolder, dict[int, int]]:
    """A run with a known interrupt and a page that costs nothing; packets a core."""
    placement = lab.arrange(COUNT, nics)
    options = WebOptions(port=18182, path="/item/7", page_bytes=1024, pinned=True, threads_per_core=1)
    demand = KnownDemand(interrupt_s=INTERRUPT_S, page_s=0.0, interrupt="deterministic", page="exponential")
    service = WebTestbed.start(lab, placement, options, demand, 1, None)
    lanes = [
        {"targets": [{"url": url}], "arrivals": {"kind": "poisson", "rate_per_s": RATE_PER_S / nics}, "cpu": core}
        for url, core in zip(service.urls, placement.client, strict=True)
    ]
    load = {"lanes": lanes, "duration_s": LENGTH_S, "seed": 1, "realtime": True}
    around = RunEnvironment(lab.client_network, lab.server_network, lab.pids, placement.observer)
    packets: dict[int, int] = {}
    try:
        with counted(packets):
            what: dict[str, Any] = {"name": "lab", "placement": vars(placement)}
            folder = execute(out / "run", load, what=what, around=around, service=service)
    finally:
        service.stop()
    return folder, packets


def softirq(folder: RunFolder) -> dict[int, float]:
    host = folder.frame("host")
    assert host is not None
    start, end = folder.manifest["window_s"]
    return {core: share["softirq"] for core, share in core_shares(host, start, end).items()}


def test_interrupts_happen_on_the_core_they_are_steered_to(lab: NamespaceBackend, tmp_path: Path) -> None:
    folder, packets = loaded(lab, tmp_path, nics=1)
    first, *others = place(COUNT, 1).server
    requests = folder.manifest["generator"]["ok"]
    assert requests == folder.manifest["generator"]["requested"]
    assert packets[first] > requests
    busy, expected = softirq(folder), RATE_PER_S * INTERRUPT_S
    assert busy[first] == pytest.approx(expected, rel=0.25), "utilisation law, and the network's own work on top"
    for core in others:
        assert packets[core] < 0.2 * packets[first]
        assert busy[core] < 0.1 * expected
    work = folder.manifest["service"]["interrupt work"]
    assert work["packets"] == requests, "once for each request packet, and for no other"
    assert work["seconds"] / work["packets"] == pytest.approx(INTERRUPT_S, rel=0.03)


@pytest.mark.skipif(COUNT < 2, reason="spreading needs two cores")
def test_two_nics_share_the_interrupts(lab: NamespaceBackend, tmp_path: Path) -> None:
    folder, packets = loaded(lab, tmp_path, nics=2)
    half = RATE_PER_S * INTERRUPT_S / 2
    busy = softirq(folder)
    for core in place(COUNT, 2).interrupts:
        assert packets[core] > 0.3 * sum(packets.values())
        assert busy[core] == pytest.approx(half, rel=0.35)


def test_offloads_are_off(lab: NamespaceBackend) -> None:
    lab.arrange(1, 1)
    refused = {text.partition(": ")[2].partition(" offload")[0] for text in lab.hosts.refused}
    for host in (lab.hosts.server, lab.hosts.client):
        asked = ["ip", "netns", "exec", host, sys.executable, "-I", "-c", ASK]
        on = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
        assert set(on) <= refused, f"on, and not said so: {on}"


def test_addresses_exist_only_inside(lab: NamespaceBackend) -> None:
    lab.arrange(1, 1)
    routes = subprocess.run(["ip", "-4", "address"], capture_output=True, text=True, check=True).stdout
    assert EmulatedHosts.server_address(0) not in routes


def test_spinners_take_nothing_from_others(lab: NamespaceBackend) -> None:
    cost = lab.describe()["spinner cost"]
    assert cost is not None and set(map(int, cost)) == {core.number for core in cores()}
    assert max(cost.values()) < 0.01
    names = {
        path.read_text().strip(): path.parent.name for path in Path(f"/proc/{lab.pids['spinners']}/task").glob("*/comm")
    }
    for core in cores()[:2]:
        script = TAKEN.replace("CORE", str(core.number)).replace("THREAD", names[f"spin-{core.number}"])
        told = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, start_new_session=True
        )
        assert float(told.stdout) < 0.02, "a process in another session keeps its core"
