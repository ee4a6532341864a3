"""Cores and interrupt steering of a running process: set, read back, and put back within the lease, whoever is killed."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sojourn.lab.cleanup_registry import CleanupRegistry
from sojourn.lab.namespaces import ip, make_namespace, pair, path_of
from sojourn.lab.process_tree import alive
from sojourn.lab.service_placement import ServicePlacement, own_cpuset
from sojourn.live_service.control_socket import RefusedError, UnansweredError, asked
from sojourn.live_service.leased_actuator import LeasedActuator
from sojourn.live_service.leased_settings import address

pytestmark = pytest.mark.live
CORES = sorted(os.sched_getaffinity(0))
LEASE_S, LONG_S = 1.0, 30.0
TWO_THREADS = (
    "import os, threading, time\n"
    "own = threading.Thread(target=lambda: time.sleep(1000), daemon=True); own.start()\n"
    f"os.sched_setaffinity(own.native_id, {{{CORES[-1]}}})\n"
    "print('there', flush=True); time.sleep(1000)"
)
needs_two_cores = pytest.mark.skipif(len(CORES) < 2, reason="needs two cores")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: control groups, network namespaces")


def begun(*before: str) -> subprocess.Popen[str]:
    process = subprocess.Popen([*before, sys.executable, "-c", TWO_THREADS], text=True, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == "there\n"
    return process


def ended(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.fixture
def service() -> Iterator[subprocess.Popen[str]]:
    """A process of two threads, the second on the last core alone."""
    process = begun()
    yield process
    ended(process)


def masks(pid: int) -> list[list[int]]:
    return sorted(sorted(os.sched_getaffinity(int(task.name))) for task in Path(f"/proc/{pid}/task").iterdir())


def until(holds: Callable[[], object]) -> float:
    """Waits until it holds; how long that took, s."""
    begin = time.monotonic()
    while not holds():
        assert time.monotonic() - begin < LONG_S
        time.sleep(0.02)
    return time.monotonic() - begin


def no_keeper(placement: ServicePlacement) -> bool:
    try:
        asked(address(placement.key()), {"do": "read"}, 1.0)
    except UnansweredError:
        return True
    return False


@needs_two_cores
def test_cores_are_set_read_back_and_put_back(service: subprocess.Popen[str]) -> None:
    placement, before = ServicePlacement(service.pid), masks(service.pid)
    actuator = LeasedActuator(placement, "one", LONG_S)
    assert actuator.read()["cores"] == len(CORES)
    assert actuator.set({"cores": 1})["cores"] == 1
    assert masks(service.pid) == [[placement.order[0]]] * 2
    other = LeasedActuator(placement, "another", LONG_S)
    assert other.held_by() == "one"
    with pytest.raises(RefusedError, match="held by one"):
        other.set({"cores": 2})
    with pytest.raises(RefusedError, match="held by one"):
        other.revert()
    with pytest.raises(RefusedError, match=f"give 1 to {len(placement.order)}"):
        actuator.set({"cores": 10_000})
    assert actuator.revert()["cores"] == len(CORES)
    assert masks(service.pid) == before, "each thread where it was"
    assert no_keeper(placement)


CONTROLLER = """
import os, signal, sys, time
from pathlib import Path
from sojourn.live_service.leased_actuator import LeasedActuator
from sojourn.lab.service_placement import ServicePlacement
actuator = LeasedActuator(ServicePlacement(int(sys.argv[1])), "killed", float(sys.argv[2]), Path(sys.argv[3]))
print(actuator.set({"cores": 1})["cores"], flush=True)
time.sleep(1000)
"""


@needs_two_cores
def test_kill_9_of_the_controller(service: subprocess.Popen[str], tmp_path: Path) -> None:
    before, log = masks(service.pid), tmp_path / "decisions.ndjson"
    words = [sys.executable, "-c", CONTROLLER, str(service.pid), str(LEASE_S), str(log)]
    controller = subprocess.Popen(words, text=True, stdout=subprocess.PIPE)
    assert controller.stdout is not None and controller.stdout.readline() == "1\n"
    controller.kill()
    controller.communicate()
    until(lambda: masks(service.pid) == before)
    until(lambda: no_keeper(ServicePlacement(service.pid)))
    told = json.loads(log.read_text())
    assert (told["event"], told["why"], told["put_back"]) == ("keeper", "the lease ran out", True)


@needs_two_cores
def test_kill_9_of_the_keeper(service: subprocess.Popen[str]) -> None:
    """A new one takes the lease at the next setting and knows what is safe; without one the controller puts it back itself."""
    before, actuator = masks(service.pid), LeasedActuator(ServicePlacement(service.pid), "one", LONG_S)
    for again in (True, False):
        actuator.set({"cores": 1})
        keeper = actuator._keepers[-1]
        keeper.kill()
        until(lambda keeper=keeper: not alive(keeper.pid))
        assert masks(service.pid) != before
        if again:
            assert actuator.set({"cores": 1})["cores"] == 1
            actuator._keepers[-1].send_signal(signal.SIGTERM)
            until(lambda: masks(service.pid) == before)
    actuator.revert()
    assert masks(service.pid) == before


@needs_two_cores
def test_the_service_ends_under_a_lease(service: subprocess.Popen[str]) -> None:
    placement = ServicePlacement(service.pid)
    actuator = LeasedActuator(placement, "one", LONG_S)
    actuator.set({"cores": 1})
    ended(service)
    with pytest.raises(RefusedError, match=f"process {service.pid} has ended"):
        actuator.read()
    with pytest.raises(RefusedError, match="has ended"):
        actuator.revert()
    assert no_keeper(placement)


@needs_root
@needs_two_cores
def test_a_group_of_its_own(tmp_path: Path) -> None:
    root = Path("/sys/fs/cgroup/cpuset") if Path("/sys/fs/cgroup/cpuset").is_dir() else Path("/sys/fs/cgroup")
    if not (root / "cgroup.procs").exists():
        pytest.skip("no cpuset controller")
    group = root / f"placement-test-{secrets.token_hex(3)}"
    group.mkdir()
    process = None
    try:
        if not (group / "cpuset.cpus").exists():
            pytest.skip("no cpuset controller in the groups here")
        (group / "cpuset.cpus").write_text(",".join(map(str, CORES)))
        with suppress(OSError):
            (group / "cpuset.mems").write_text("0")
        process = begun("sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs"))
        assert own_cpuset(process.pid) == group / "cpuset.cpus"
        placement, before = ServicePlacement(process.pid), masks(process.pid)
        actuator = LeasedActuator(placement, "one", LONG_S)
        actuator.set({"cores": 1})
        assert (group / "cpuset.cpus").read_text().strip() == str(placement.order[0])
        actuator.revert()
        assert (group / "cpuset.cpus").read_text().strip() in (f"{CORES[0]}-{CORES[-1]}", ",".join(map(str, CORES)))
        assert masks(process.pid) == before
    finally:
        if process is not None:
            ended(process)
        until(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()


@pytest.fixture
def two_nics() -> Iterator[dict[str, Any]]:
    """A process on a host of two NICs, which are steered to the first core."""
    token = secrets.token_hex(3)
    registry, host, other = CleanupRegistry(token), f"sojourn-{token}-server", f"sojourn-{token}-client"
    process = None
    try:
        for name in (host, other):
            make_namespace(registry, name)
        for nic in ("nic0", "nic1"):
            pair(host, nic, other, nic)
        process = begun("nsenter", f"--net={path_of(host)}")
        yield {"process": process, "nics": lambda: ip("-n", host, "-o", "link", what="links")}
    finally:
        if process is not None:
            ended(process)
        registry.close()
    assert not [name for name in (host, other) if Path(path_of(name)).exists()], "nothing is left behind"


@needs_root
@needs_two_cores
def test_steering_of_a_host_of_its_own(two_nics: dict[str, Any]) -> None:
    placement = ServicePlacement(two_nics["process"].pid)
    found = placement.state().queues
    assert sorted(found) == ["nic0/rx-0", "nic1/rx-0"]
    actuator = LeasedActuator(placement, "one", LONG_S)
    assert "packet_steering" not in actuator.read(), "no steering at all has no name here"
    assert actuator.set({"packet_steering": "one core"})["packet_steering"] == "one core"
    assert {int(mask, 16) for mask in placement.state().queues.values()} == {1 << placement.own[0]}
    assert actuator.set({"packet_steering": "spread"})["packet_steering"] == "spread"
    masks_now = [int(mask, 16) for mask in placement.state().queues.values()]
    assert masks_now == [1 << core for core in placement.own[:2]]
    actuator.revert()
    assert placement.state().queues == found
