"""Ctrl-C and kill in each phase: the exit code, what is kept, what is removed, and that the next start goes on."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from machine import Command, made_by_labs, tiny_study

from sojourn.runs.run_folder import RunFolder

pytestmark = pytest.mark.live


def loading(runs: Path, name: str) -> Callable[[], object]:
    """Whether a run of that name has its load going."""
    return lambda: list(runs.glob(f"{name}/requests.rec"))


def cut_off(path: Path) -> dict[str, object]:
    """The manifest of a run that was interrupted, and what was written until then."""
    manifest: dict[str, object] = json.loads((path / "manifest.json").read_text())
    assert manifest["status"] == "cut off" and manifest["valid"] is False
    assert manifest["reasons"] == ["the run was cut off: interrupted"]
    assert RunFolder.open(path).frame("requests") is not None
    return manifest


@pytest.mark.parametrize("verb", ["load", "measure"])
def test_an_interrupted_run_is_kept_and_marked(tmp_path: Path, service: str, verb: str) -> None:
    length = ("--duration", "20s") if verb == "load" else ("--for", "20s")
    out = tmp_path / "run" if verb == "load" else tmp_path / "run/rate-100"
    command = Command(tmp_path, verb, f"{service}/ok", "--rate", "100", *length, "--out", "run")
    command.wait_for(lambda: (out / "requests.rec").exists())
    time.sleep(0.5)
    assert command.interrupt() == 130
    assert "interrupted; measured data is kept" in command.said() and "Traceback" not in command.said()
    assert cut_off(out)["generator"] is not None
    assert command.left() == []


def test_an_interrupted_load_tells_what_it_saw(tmp_path: Path, service: str) -> None:
    command = Command(tmp_path, "load", f"{service}/ok", "--rate", "100", "--duration", "20s", "--json")
    command.wait_for(lambda: list(command.temporary.rglob("requests.rec")))
    time.sleep(1.0)
    assert command.interrupt() == 130
    summary = json.loads(command.answered())
    assert summary["interrupted"] and summary["ok"] > 0 and summary["status"] == "cut off"
    assert command.left() == []


def test_sigterm_ends_a_service_in_good_order(tmp_path: Path) -> None:
    command = Command(tmp_path, "serve", "web", "--port", "18181")
    command.wait_for(lambda: "Ctrl-C ends it" in command.answered())
    command.process.terminate()
    assert command.end() == 0
    assert "served 0 requests" in command.answered() and command.left() == []


def test_sigterm_while_a_service_starts(tmp_path: Path) -> None:
    command = Command(tmp_path, "serve", "messages", "--listen", "127.0.0.1:0")
    command.wait_for(lambda: list(command.temporary.glob("sojourn-messages-*/owner.json")))
    command.process.terminate()
    assert command.end() == 0
    assert "stopped before it served" in command.said() and "measured" not in command.said()
    assert command.left() == []


@pytest.mark.lab
# spinners begin where nobody else runs
@pytest.mark.parametrize("moment", ["namespace", pytest.param("spinners", marks=pytest.mark.alone)])
def test_a_study_interrupted_while_its_lab_is_made(tmp_path: Path, moment: str) -> None:
    command = Command(tmp_path, "study", tiny_study(tmp_path, spinners=True), "--out", "out")
    part = "netns" if moment == "namespace" else "cgroup"
    command.wait_for(lambda: any(part in path for path in command.made()))
    assert command.interrupt() == 130, command.said()
    assert command.left() == []


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that the following tests interrupt one phase after the other."""
    return tiny_study(tmp_path_factory.mktemp("study"))


def finished(runs: Path) -> dict[str, float]:
    """The complete runs and when they were written."""
    found = {path.parent.name: path for path in runs.glob("[!.]*/manifest.json")}
    return {
        name: path.stat().st_mtime
        for name, path in found.items()
        if json.loads(path.read_text())["status"] == "complete"
    }


@pytest.mark.lab
@pytest.mark.parametrize(
    ("phase", "times"),
    [("saturation-*", 2), ("on_core_0-*", 1), ("spread-*", 1)],
    ids=["saturation, twice", "ramp", "predicted run"],
)
@pytest.mark.alone
def test_a_study_interrupted_goes_on_where_it_was(study: Path, phase: str, times: int) -> None:
    """In this order: each phase is reached because the ones before it were kept."""
    runs = study.parent / "out/runs"
    before = finished(runs)
    command = Command(study.parent, "study", study, "--out", "out")
    command.wait_for(loading(runs, phase))
    for _ in range(times):
        command.process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    assert command.end() == 130, command.said()
    assert "Traceback" not in command.said()
    assert command.left() == []
    running = [path for path in runs.glob(phase) if path.name not in finished(runs)]
    assert len(running) == 1
    cut_off(running[0])
    assert before.items() <= finished(runs).items(), "what was complete was not run again"
    assert not list(runs.glob(".[!.]*[!0-9]")), "the service's records were moved into the run folder"


def owner_of(runs: Path) -> int:
    """Which process the run in the closed loop is of."""
    found = next(runs.glob("saturation-*/manifest.json"), None)
    return int(json.loads(found.read_text())["pid"]) if found else 0


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[Command]:
    """A study in its lab whose process was killed while a load was going."""
    command = Command(tmp_path, "study", tiny_study(tmp_path, spinners=True), "--out", "out")
    command.wait_for(loading(tmp_path / "out/runs", "saturation-*"))
    assert len(command.processes()) >= 5, "itself, spinners, service, generator, collector"
    command.process.send_signal(signal.SIGKILL)
    assert command.end() == -signal.SIGKILL
    yield command


@pytest.mark.lab
@pytest.mark.alone
def test_kill_9_ends_the_workers_and_the_next_start_cleans_up(tmp_path: Path, killed: Command) -> None:
    deadline = time.monotonic() + 5
    while killed.processes() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert killed.processes() == []
    left = killed.made()
    assert {Path(path).name.rpartition("-")[2] for path in left if "netns" in path} == {"client", "server"}
    assert any("cgroup" in path for path in left) and any(path.endswith(".json") for path in left)
    stranger = Path("/run/netns/sojourner")
    stranger.touch()
    try:
        again = Command(tmp_path, "study", tmp_path / "study.toml", "--out", "out")
        again.wait_for(lambda: (owner := owner_of(tmp_path / "out/runs")) and owner != killed.process.pid)
        again.wait_for(loading(tmp_path / "out/runs", "saturation-*"))
        assert not set(left) & set(made_by_labs()), "the registries of the dead were worked off"
        assert stranger.exists(), "and nothing else was touched"
        assert again.interrupt() == 130
        assert again.left() == []
    finally:
        stranger.unlink()
    assert list(Path(killed.temporary).iterdir()) == []
