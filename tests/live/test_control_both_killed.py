"""Controller and keeper killed together: systemd holds the lease where it runs; else the next start finds and puts back what was set."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine import wait_for
from test_control_commands import SAFE, ResizableService, controller, policy
from test_control_placement import begun, ended, masks, needs_two_cores

from sojourn.lab.process_tree import alive, children
from sojourn.lab.service_placement import ServicePlacement
from sojourn.live_service import systemd_unit
from sojourn.live_service.leased_actuator import LeasedActuator
from sojourn.live_service.restore_plan import left, plan_of

pytestmark = pytest.mark.live
START_S = 120.0  # of a command, beside other tests
# What systemd.service(5) says of Restart=on-failure and RestartPreventExitStatus=2 3, for one unit.
SYSTEMD_RUN = """#!/bin/sh
printf '%s\\n' "$@" >> "$SEEN"
while [ "$1" != "--" ]; do shift; done
shift
(
  while :; do
    "$@" > /dev/null 2>&1 < /dev/null &
    echo $! > "$SEEN.pid"
    wait $!
    case $? in 0|2|3) exit ;; esac
    sleep 0.1
  done
) > /dev/null 2>&1 < /dev/null &
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[ResizableService]:
    pool = ResizableService(tmp_path)
    yield pool
    pool.close()


@pytest.fixture
def service() -> Iterator[subprocess.Popen[str]]:
    process = begun()
    yield process
    ended(process)


def restored() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sojourn", "lab", "restore"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


CONTROLLER = """
import os, sys, time
from sojourn.live_service.leased_actuator import LeasedActuator
from sojourn.lab.service_placement import ServicePlacement
actuator = LeasedActuator(ServicePlacement(int(sys.argv[1])), "killed", float(sys.argv[2]))
print(actuator.begin(), flush=True)
print(actuator.set({"cores": 1})["cores"], flush=True)
time.sleep(1000)
"""


class ControllerProcess:
    """A process that has set one core; `told`: what it said of its lease."""

    def __init__(self, service: int, lease_s: float, **environment: str) -> None:
        words = [sys.executable, "-c", CONTROLLER, str(service), str(lease_s)]
        self.process = subprocess.Popen(
            words, text=True, stdout=subprocess.PIPE, env={**os.environ, **environment}, start_new_session=True
        )
        assert self.process.stdout is not None
        self.told = self.process.stdout.readline()
        assert self.process.stdout.readline() == "1\n"

    def kill(self) -> None:
        """Its whole process group, as a closed terminal or a shell's `kill -9 -PGID` would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


@needs_two_cores
def test_without_systemd_it_is_said_before_and_put_back_by_the_next_start(service: subprocess.Popen[str]) -> None:
    before, key = masks(service.pid), ServicePlacement(service.pid).key()
    controlling = ControllerProcess(service.pid, 600.0, PATH="/nowhere")
    assert "no systemd runs here" in controlling.told and "`sojourn lab restore`" in controlling.told
    (keeper,) = children(controlling.process.pid)
    assert str(keeper) in controlling.told
    assert masks(service.pid) != before and not [plan for plan in left() if plan.key == key], "it is kept"
    os.kill(keeper, signal.SIGKILL)
    controlling.kill()
    wait_for(lambda: not alive(keeper))
    plan = plan_of(key)
    assert plan is None or (plan.holder == "killed" and not plan.kept())
    restored()
    assert masks(service.pid) == before, "each thread where it was"
    assert plan_of(key) is None


@needs_two_cores
def test_a_service_that_ended_meanwhile_is_no_error(service: subprocess.Popen[str]) -> None:
    key = ServicePlacement(service.pid).key()
    controlling = ControllerProcess(service.pid, 600.0, PATH="/nowhere")
    (keeper,) = children(controlling.process.pid)
    os.kill(keeper, signal.SIGKILL)
    controlling.kill()
    wait_for(lambda: not alive(keeper))
    ended(service)
    restored()
    assert plan_of(key) is None


def test_another_controller_puts_it_back_before_it_looks_what_is_safe(own: ResizableService) -> None:
    """Else what was left would be taken for safe."""
    first = controller(own, policy(own), "--act", "--skip-simulated-check", "--lease", "600s")
    keepers: list[int] = []
    try:
        wait_for(lambda: own.size() == 9, START_S)
        keepers = [pid for pid in children(first.pid) if b"lease_keeper" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    finally:
        for pid in (*keepers, first.pid):
            os.kill(pid, signal.SIGKILL)
        first.communicate()
    wait_for(lambda: not any(map(alive, keepers)))
    (own.folder / "log").rename(own.folder / "first")
    second = controller(
        own, policy(own, "workers = 7\nperiod_s = 0.3"), "--act", "--skip-simulated-check", "--lease", "60s"
    )
    try:
        wait_for(lambda: own.size() == 7, START_S)
    finally:
        second.send_signal(signal.SIGINT)
        said, _ = second.communicate(timeout=60)
    assert f"safe settings are back: workers {SAFE}" in said, said
    assert own.size() == SAFE


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for systemd-run: it notes what it was given, and starts a unit again as systemd does."""
    program = tmp_path / "bin/systemd-run"
    program.parent.mkdir()
    program.write_text(SYSTEMD_RUN)
    program.chmod(0o755)
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(systemd_unit, "BOOTED", tmp_path)
    (tmp_path / "run/systemd").mkdir(parents=True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    return tmp_path / "seen"


@needs_two_cores
def test_with_systemd_the_lease_outlives_both(service: subprocess.Popen[str], systemd: Path) -> None:
    before, placement = masks(service.pid), ServicePlacement(service.pid)
    actuator = LeasedActuator(placement, "killed", 4.0)
    told = actuator.begin()
    assert "systemd holds the lease (unit sojourn-keeper-" in told
    words = systemd.read_text().splitlines()
    assert [f"--unit={told.split('unit ')[1].split(')')[0]}", "--property=Restart=on-failure"] == [
        word for word in words if word.startswith(("--unit=", "--property=Restart="))
    ]
    assert words[words.index("--") + 1 :][:3] == [sys.executable, "-m", "sojourn.live_service.lease_keeper"]
    assert actuator.set({"cores": 1})["cores"] == 1
    keeper = int(Path(f"{systemd}.pid").read_text())
    os.kill(keeper, signal.SIGKILL)  # the controller, here this process, does nothing any more
    wait_for(lambda: Path(f"{systemd}.pid").read_text().strip() not in ("", str(keeper)))
    wait_for(lambda: masks(service.pid) == before)
    assert plan_of(placement.key()) is None


@needs_two_cores
def test_a_keeper_that_systemd_started_again_goes_on_with_the_lease(
    service: subprocess.Popen[str], systemd: Path
) -> None:
    before, placement = masks(service.pid), ServicePlacement(service.pid)
    actuator = LeasedActuator(placement, "one", 600.0)
    actuator.begin()
    actuator.set({"cores": 1})
    os.kill(int(Path(f"{systemd}.pid").read_text()), signal.SIGKILL)
    wait_for(lambda: actuator.held_by() == "one")
    assert actuator.set({"cores": 1})["cores"] == 1 and masks(service.pid) != before
    actuator.revert()
    assert masks(service.pid) == before and plan_of(placement.key()) is None


@needs_two_cores
def test_a_systemd_that_refuses_is_said_before(
    service: subprocess.Popen[str], systemd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(systemd.parent / "bin/systemd-run").write_text("#!/bin/sh\necho 'Access denied' >&2; exit 1\n")
    actuator = LeasedActuator(ServicePlacement(service.pid), "one", 600.0)
    told = actuator.begin()
    assert "systemd does not hold the lease (systemd-run: Access denied" in told and "`sojourn lab restore`" in told
    before = masks(service.pid)
    actuator.set({"cores": 1})
    actuator.revert()
    assert masks(service.pid) == before
