"""`sojourn control live POLICY FILE` on a service that knows nothing of sojourn: metrics of its own names, settings by commands."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controlled import lines, until_told
from machine import command_words, wait_for
from services import resizable_pool as service

from sojourn.live_service.command_settings import CommandSettings
from sojourn.live_service.service_file import ServiceFile

pytestmark = pytest.mark.live

SAFE = 2
POOL = Path(service.__file__)
POLICY = """
policy = "{policy}"
objective = "p99 < 300ms"
[options]
{options}
[rails]
most = 20
"""
TARGET = "period_s = 0.3\ntarget = 0.5\ndown = {{ stabilisation_s = 0 }}"


class ResizableService:
    """The service in `folder`, of `SAFE` workers, and its file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, folder / "port"
        self.process = subprocess.Popen([sys.executable, str(POOL), "serve", str(self.port), str(SAFE)])
        wait_for(self.port.exists)
        self.url = f"http://127.0.0.1:{self.port.read_text()}"
        self.file = folder / "service.toml"
        command = [sys.executable, str(POOL)]
        self.text = f"""
metrics = "{self.url}/metrics"
timeout_s = 5
[series]
departures = 'shop_request_seconds_count{{code="200"}}'
response_seconds = "shop_request_seconds_sum"
in_system = "shop_in_progress"
busy_seconds = "shop_busy_seconds_total"
workers = "shop_pool_workers"
[workers]
read = {json.dumps([*command, "size", "port"])}
set = {json.dumps([*command, "resize", "port", "{value}"])}
"""
        self.file.write_text(self.text)

    def size(self) -> int:
        return int(service.ask(self.port, "/size"))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[ResizableService]:
    pool = ResizableService(tmp_path)
    yield pool
    pool.close()


def policy(own: ResizableService, options: str = "workers = 9\nperiod_s = 0.3", name: str = "fixed") -> Path:
    path = own.folder / f"{name}.toml"
    path.write_text(POLICY.format(policy=name, options=options))
    return path


def controller(own: ResizableService, file: Path, *more: str) -> subprocess.Popen[str]:
    words = ["control", "live", str(file), str(own.file), "--out", str(own.folder / "log"), *more]
    return subprocess.Popen(
        [sys.executable, "-m", "sojourn", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def test_it_is_set_by_its_command_read_back_and_put_back(own: ResizableService) -> None:
    process = controller(own, policy(own), "--act", "--skip-simulated-check", "--lease", "60s")
    wait_for(lambda: own.size() == 9)
    until_told(own.folder / "log", lambda told: any(line.get("event") == "set" for line in told))
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert "safe settings are back: workers 2" in said, said
    assert own.size() == SAFE


def test_the_lease_outlives_a_controller_that_is_killed(own: ResizableService) -> None:
    process = controller(own, policy(own), "--act", "--skip-simulated-check", "--lease", "2s")
    wait_for(lambda: own.size() == 9)
    process.kill()
    process.wait()
    wait_for(lambda: own.size() == SAFE)
    until_told(own.folder / "log", lambda told: told[-1].get("event") == "keeper")
    assert lines(own.folder / "log")[-1]["put_back"] is True


def test_a_dry_run_sees_the_load_and_sets_nothing(own: ResizableService) -> None:
    """20 requests in turn by each of 2 clients, 20 ms of work each: no more than 100/s, and the mean response time is that at least."""
    process = controller(own, policy(own))
    stop = threading.Event()

    def client() -> None:
        while not stop.is_set():
            service.ask(own.port, "/work")

    clients = [threading.Thread(target=client) for _ in range(2)]
    for each in clients:
        each.start()

    def sees(told: list[dict[str, Any]]) -> bool:
        return any((line.get("observed") or {}).get("throughput_per_s", 0) > 20 for line in told)

    try:
        until_told(own.folder / "log", sees)
    finally:
        stop.set()
        for each in clients:
            each.join()
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert "nothing was set" in said
    assert own.size() == SAFE
    seen = next(line["observed"] for line in lines(own.folder / "log") if sees([line]))
    assert seen["workers"] == seen["ready_workers"] == SAFE
    assert 20 < seen["throughput_per_s"] <= 110
    assert seen["response_s"] >= service.SERVICE_S
    assert 0.1 < seen["utilisation"] <= 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('"resize"', '"resise"'), "refused: "),  # it sets something else, or nothing: told, not taken for a success
        (("shop_in_progress", "shop_in_progres"), "in_system is missing: the page has no shop_in_progres"),
    ],
)
def test_what_is_wrong_is_told_while_it_runs(own: ResizableService, change: tuple[str, str], told: str) -> None:
    own.file.write_text(own.text.replace(*change))
    if told == "refused: ":
        own.file.write_text(own.text.replace('"{value}"]', '"no {value}"]'))
    process = controller(own, policy(own), "--act", "--skip-simulated-check", "--stop-after", "3s")
    said, _ = process.communicate(timeout=60)
    assert told in said, said
    assert own.size() == SAFE


def test_two_controllers(own: ResizableService) -> None:
    first = controller(own, policy(own), "--act", "--skip-simulated-check", "--lease", "60s")
    wait_for(lambda: own.size() == 9)
    second = controller(own, policy(own), "--act", "--skip-simulated-check")
    said, _ = second.communicate(timeout=60)
    assert second.returncode == 4
    assert "only one controller per target" in said
    assert own.size() == 9
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=60)
    assert own.size() == SAFE


def test_nothing_is_left(own: ResizableService) -> None:
    """The keeper ends with the controller."""
    process = controller(own, policy(own), "--act", "--skip-simulated-check", "--lease", "60s")
    wait_for(lambda: own.size() == 9)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    key = CommandSettings(ServiceFile(own.file)).key()
    wait_for(lambda: not [one for one in Path("/proc").glob("[0-9]*") if key in command_words(one)])
