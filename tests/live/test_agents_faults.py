"""An agent killed or frozen in mid-run, its generator killed, the scheduler gone, the command killed: one error in bounded time, and
nothing goes on or stays."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dask_cluster import DaskCluster, generators_below
from machine import Command
from recording import Recording, recording

from sojourn.runs.run_folder import RunFolder

pytestmark = pytest.mark.live
LIMIT_S = 120.0


@pytest.fixture
def shop() -> Iterator[Recording]:
    with recording() as service:
        yield service


def started(folder: Path) -> DaskCluster:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = DaskCluster(folder, [(), ()], port=port)
    try:
        made.wait()
    except BaseException:
        made.end()
        raise
    return made


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """One whose processes stay as they are."""
    made = started(tmp_path_factory.mktemp("cluster"))
    yield made
    made.end()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskCluster]:
    """One that a test may do anything to."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = started(folder)
    yield made
    made.end()


def loaded(tmp_path: Path, shop: Recording, agents: str) -> Command:
    """A load of ten minutes, in its middle."""
    words = ("--rate", "40", "--duration", "600s", "--agents", agents, "--out", "a/run")
    command = Command(tmp_path, "load", shop.url, *words)
    command.wait_for(lambda: len(shop.heard) > 20, LIMIT_S)
    return command


def soon(seen: Callable[[], object]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def one_error(command: Command, code: int, *parts: str) -> None:
    """It ended with `code` and said one line with all `parts`, and nothing of it is there any more."""
    assert command.end(LIMIT_S) == code, command.said()
    assert len(command.said().splitlines()) == 1 and all(part in command.said() for part in parts), command.said()
    soon(lambda: command.left() == [])


def workers_of(command: Command) -> list[int]:
    """The processes of `local:N`: those that have a generator below them."""
    children = Path(f"/proc/{command.process.pid}/task/{command.process.pid}/children").read_text().split()
    found = [int(child) for child in children if generators_below(int(child))]
    assert len(found) == 2
    return found


def quiet(shop: Recording) -> bool:
    """Nobody asks any more."""
    before = len(shop.heard)
    time.sleep(1.0)
    return len(shop.heard) == before


def test_a_local_agent_killed(tmp_path: Path, shop: Recording) -> None:
    command = loaded(tmp_path, shop, "local:2")
    os.kill(workers_of(command)[1], signal.SIGKILL)
    one_error(command, 4, "--agents local:2", "worker ", "of 2 ended before its task did")
    assert not (tmp_path / "a").exists() and quiet(shop)


def test_a_local_agent_frozen(tmp_path: Path, shop: Recording) -> None:
    command = loaded(tmp_path, shop, "local:2")
    os.kill(workers_of(command)[0], signal.SIGSTOP)
    one_error(command, 4, "--agents", "of 2 does not respond")
    assert not (tmp_path / "a").exists() and quiet(shop)


def test_the_generator_of_an_agent_killed(tmp_path: Path, shop: Recording) -> None:
    command = loaded(tmp_path, shop, "local:2")
    for generator in generators_below(workers_of(command)[0]):
        os.kill(generator, signal.SIGKILL)
    one_error(command, 4, "agent ", "of 2 (process ", "load ended with -9")
    assert not (tmp_path / "a").exists() and quiet(shop)


def cut_off(tmp_path: Path, command: Command, shop: Recording) -> None:
    """Ctrl-C ends the run of two agents, and what was recorded is kept, marked, and what the service has seen."""
    command.process.send_signal(signal.SIGINT)
    assert command.end(LIMIT_S) == 130, command.said()
    kept = RunFolder.open(tmp_path / "a/run")
    assert kept.manifest["status"] == "cut off" and not kept.manifest["valid"]
    assert "the run was cut off: interrupted" in kept.manifest["reasons"]  # a busy machine adds others
    own = [one["generator"] for one in kept.manifest["agents"]]
    assert len(own) == 2 and all(one["interrupted"] for one in own)
    # what was under way then may have been heard and not answered
    assert 0 < sum(one["ok"] for one in own) == kept.manifest["generator"]["ok"] <= len(shop.heard)
    records = kept.frame("requests")
    assert records is not None and set(records["agent"]) == {1, 2}
    assert [records.filter(agent=k).height for k in (1, 2)] == [one["recorded"] for one in own]
    assert "agent 2" in command.answered() and quiet(shop)


def test_ctrl_c_keeps_what_local_agents_recorded(tmp_path: Path, shop: Recording) -> None:
    command = loaded(tmp_path, shop, "local:2")
    cut_off(tmp_path, command, shop)
    soon(lambda: command.left() == [])


def test_ctrl_c_keeps_what_dasks_agents_recorded(tmp_path: Path, shop: Recording, kept: DaskCluster) -> None:
    cut_off(tmp_path, loaded(tmp_path, shop, kept.address), shop)
    soon(lambda: not any(generators_below(worker.pid) for worker in kept.workers))
    soon(lambda: kept.left() == [])


def test_the_command_killed_ends_dasks_agents(tmp_path: Path, shop: Recording, kept: DaskCluster) -> None:
    command = loaded(tmp_path, shop, kept.address)
    command.process.kill()
    command.process.wait()
    soon(lambda: not any(generators_below(worker.pid) for worker in kept.workers))
    soon(lambda: kept.left() == [])
    assert quiet(shop)


def test_the_command_killed_ends_its_agents(tmp_path: Path, shop: Recording) -> None:
    command = loaded(tmp_path, shop, "local:2")
    command.process.kill()
    command.process.wait()
    soon(lambda: command.processes() == [])
    assert quiet(shop)


def test_a_dask_agent_killed_ends_the_other_and_the_next_load_removes_what_it_left(
    tmp_path: Path, shop: Recording, cluster: DaskCluster
) -> None:
    command = loaded(tmp_path, shop, cluster.address)
    cluster.workers[1].kill()
    cluster.workers[1].wait()
    one_error(command, 4, "--agents")
    assert not (tmp_path / "a").exists()
    soon(lambda: generators_below(cluster.workers[0].pid) == [])
    assert quiet(shop)
    again = Command(tmp_path, "load", shop.url, "--rate", "40", "--duration", "1s", "--agents", cluster.address)
    assert again.end() in (0, 3), again.said()
    assert cluster.left() == [] and not list(tmp_path.glob("dask*"))


def test_a_dask_agent_frozen(tmp_path: Path, shop: Recording, cluster: DaskCluster) -> None:
    command = loaded(tmp_path, shop, cluster.address)
    os.kill(cluster.workers[0].pid, signal.SIGSTOP)
    one_error(command, 4, "--agents", "tcp://127.0.0.1:", "does not respond")
    assert not (tmp_path / "a").exists()
    os.kill(cluster.workers[0].pid, signal.SIGCONT)
    soon(lambda: not any(generators_below(worker.pid) for worker in cluster.workers))
    soon(lambda: cluster.left() == [])
    assert quiet(shop)


def test_the_scheduler_gone(tmp_path: Path, shop: Recording, cluster: DaskCluster) -> None:
    command = loaded(tmp_path, shop, cluster.address)
    cluster.scheduler.kill()
    one_error(command, 4, "--agents", "scheduler")
    assert not (tmp_path / "a").exists()
    soon(lambda: not any(generators_below(worker.pid) for worker in cluster.workers))
    soon(lambda: cluster.left() == [])
    assert quiet(shop)
